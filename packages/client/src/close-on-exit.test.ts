import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { closeOnExit } from "./close-on-exit.ts";
import { connect } from "./connect.ts";

const CLIENT = fileURLToPath(new URL("./testing/exiting-client.ts", import.meta.url));

test.each([
  ["alone", [null, "SIGTERM"]],
  ["listening", [7, null]],
])("a process that gets a signal, %s, closes its client first", async (how, ended) => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const child = spawn(process.execPath, ["--conditions=@zooid/source", CLIENT, server.connectString, how], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    await once(createInterface({ input: child.stdout }), "line");
    expect(await zk.exists("/present", { sync: true })).not.toBeNull();
    child.kill("SIGTERM");
    expect(await exited).toEqual(ended);
    expect(await zk.exists("/present", { sync: true })).toBeNull();
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
});

test("its disposal and the client's end remove the listener", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const before = process.listenerCount("SIGUSR2");
  const signals = ["SIGUSR2"] as const;
  closeOnExit(zk, { signals })[Symbol.dispose]();
  expect(process.listenerCount("SIGUSR2")).toBe(before);
  closeOnExit(zk, { signals });
  expect(process.listenerCount("SIGUSR2")).toBe(before + 1);
  await zk.close();
  await Promise.resolve();
  expect(process.listenerCount("SIGUSR2")).toBe(before);
});
