/** A client in a worker thread: posts what it has read, and exits. */
import { parentPort, workerData } from "node:worker_threads";
import { filter, firstValueFrom } from "rxjs";
import { connect } from "../connect.ts";
import { text } from "../operations/codec.ts";

await using zk = await connect(String(workerData));
const seen = firstValueFrom(zk.watchData$("/a", { codec: text }).pipe(filter(({ exists }) => exists)));
await zk.create("/a", "from a thread", { mode: "ephemeral" });
const node = await seen;
parentPort?.postMessage(node.exists ? node.value : "nothing");
