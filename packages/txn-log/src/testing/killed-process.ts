import { fork } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { openStore } from "../sqlite.ts";
import { RecordingHandler, Z } from "./txn-log-contract.ts";

/**
 * Kills a process that appends to a store in this directory, and expects that everything reported
 * as durable is there.
 */
export async function leavesWhatWasCompleted(directory: string): Promise<void> {
  const child = fork(join(import.meta.dirname, "append-until-killed.ts"), [directory], {
    execArgv: ["--conditions=@zooid/source"],
  });
  let completed = 0;
  await new Promise<void>((resolve) => {
    child.on("message", (zxid) => {
      completed = Number(zxid);
      if (completed > Z(1, 3000)) child.kill("SIGKILL");
    });
    child.on("exit", () => resolve());
  });
  await using store = await openStore({ directory, sid: 1, handler: new RecordingHandler() });
  expect(store.log.durable.tail.zxid).toBeGreaterThanOrEqual(completed);
  const { applied } = store.loadState({ session: () => {}, node: () => {} });
  expect(store.replay(applied, () => {})).toEqual(store.log.durable.tail);
}
