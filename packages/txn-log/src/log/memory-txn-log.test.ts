import { expect, test } from "vitest";
import { promised } from "../testing/promised-log.ts";
import { batchOf, describeTxnLog, RecordingHandler, type TxnLogHarness, Z } from "../testing/txn-log-contract.ts";
import { type MemoryLogImage, MemoryTxnLog } from "./memory-txn-log.ts";
import type { LogHandler, StoreLog } from "./txn-log.ts";

class MemoryHarness implements TxnLogHarness {
  #image: MemoryLogImage | undefined;
  #log: MemoryTxnLog | undefined;

  async open(handler: LogHandler, options: { readonly takeEpoch?: boolean }): Promise<StoreLog> {
    const image = this.#image === undefined ? {} : { image: this.#image };
    this.#log = new MemoryTxnLog({ sid: 3, handler, ...options, ...image });
    return this.#log;
  }
  async settle(): Promise<void> {
    this.#log?.syncAll();
  }
  async putState(): Promise<void> {}
  async kill(): Promise<void> {
    this.#log?.syncAll();
    this.#image = this.#log?.crash();
  }
  async [Symbol.asyncDispose](): Promise<void> {}
}

describeTxnLog("the memory log", async () => new MemoryHarness());

function newLog(image?: MemoryLogImage): { log: MemoryTxnLog; reports: RecordingHandler } {
  const reports = new RecordingHandler();
  return { reports, log: new MemoryTxnLog({ sid: 1, handler: reports, ...(image === undefined ? {} : { image }) }) };
}

test("nothing is durable before the simulator says so", () => {
  const { log, reports } = newLog();
  promised(log).append(batchOf([Z(1, 1)]));
  expect(reports.completions).toEqual([]);
  expect(log.durable.tail.zxid).toBe(0);
  expect(log.syncNext()).toMatchObject({ kind: "append", zxid: Z(1, 1) });
  expect(reports.completions).toHaveLength(1);
});

test.each([0, 1, 2, 3])("a crash may keep %i of three pending writes, as a prefix, unreported", (keep) => {
  const { log, reports } = newLog();
  for (const counter of [1, 2, 3]) promised(log).append(batchOf([Z(1, counter)]));
  const { log: reopened } = newLog(log.crash(keep));
  expect(reopened.durable.tail.zxid).toBe(keep === 0 ? 0 : Z(1, keep));
  expect(reports.completions).toEqual([]);
});

test("a full disk completes nothing until there is room, and then everything in order", async () => {
  const { log, reports } = newLog();
  promised(log).append(batchOf([Z(1, 1)]));
  log.fill();
  const promise = promised(log, reports).setPromise({ epoch: 1, sid: 1, incarnation: 1 });
  promised(log).append(batchOf([Z(1, 2)]));
  log.syncAll();
  expect(reports.completions).toEqual([]);
  expect([log.isFull, log.durable.tail.zxid]).toEqual([true, 0]);
  log.makeRoom();
  log.syncAll();
  await promise;
  expect(reports.completions.map(({ zxid }) => zxid)).toEqual([Z(1, 1), Z(1, 2)]);
  expect(reports.rooms).toEqual(["full", "room"]);
});

test("after a failed sync nothing more is completed", async () => {
  const { log, reports } = newLog();
  const promise = promised(log, reports).setPromise({ epoch: 1, sid: 1, incarnation: 1 });
  log.fail();
  await expect(promise).rejects.toMatchObject({ detail: { code: "WRITE_FAILED" } });
  expect(log.syncNext()).toBeUndefined();
  expect(reports.failures).toHaveLength(1);
});

test("entries are purged up to what the state and the commit point allow, and never what is held", () => {
  const { log } = newLog();
  promised(log).append(batchOf([Z(1, 1), Z(1, 2), Z(1, 3), Z(1, 4)]));
  promised(log).append(batchOf([Z(1, 5)], { committed: Z(1, 4) }));
  log.syncAll();
  using _held = log.hold(Z(1, 2));
  log.allowPurge(Z(1, 5));
  expect(log.durable.floor.zxid).toBe(Z(1, 2));
  expect(log.readNow(Z(1, 2), 1 << 20).count).toBe(3);
});
