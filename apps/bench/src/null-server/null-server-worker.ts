import { parentPort, workerData } from "node:worker_threads";
import { NullServer, type NullServerOptions } from "./null-server.ts";

const server = await NullServer.start(workerData as NullServerOptions);
parentPort?.once("message", () => void server[Symbol.asyncDispose]());
parentPort?.postMessage(server.port);
