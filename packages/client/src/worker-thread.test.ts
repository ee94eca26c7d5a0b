import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { connect } from "./connect.ts";

test("a client works in a worker thread, which exits when it is closed", async () => {
  await using server = await startServer({ port: 0 });
  const thread = new Worker(new URL("./testing/client-thread.ts", import.meta.url), {
    execArgv: ["--conditions=@zooid/source"],
    workerData: server.connectString,
  });
  const ended = once(thread, "exit");
  expect(await once(thread, "message")).toEqual(["from a thread"]);
  expect(await ended).toEqual([0]);
  await using zk = await connect(server.connectString);
  expect(await zk.exists("/a")).toBeNull();
});
