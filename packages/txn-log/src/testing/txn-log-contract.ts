import { isFloorUncommitted, levelInForce, NO_RAISE, type Zxid } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import type { HistoryInstall, LogHandler, LogPosition, StoreLog } from "../log/txn-log.ts";
import {
  type AppendBatch,
  type BatchParts,
  batchOf,
  RecordingHandler,
  range,
  recordsOf,
  Z,
  zxidsOf,
} from "./append-batches.ts";
import { PromisedLog } from "./promised-log.ts";

/**
 * The environment that the contract needs of an implementation under test: one disk, opened again
 * and again.
 */
export interface TxnLogHarness extends AsyncDisposable {
  open(handler: LogHandler, options: { readonly takeEpoch?: boolean }): Promise<StoreLog>;
  /** Returns when everything handed over so far is durable and reported. */
  settle(log: PromisedLog): Promise<void>;
  /** Puts a state file beside the log, as a transfer does before its install. */
  putState(name: string, applied: LogPosition): Promise<void>;
  /** Ends the log as a killed process would, once all is settled. */
  kill(log: StoreLog): Promise<void>;
}

interface InstallOptions {
  readonly epoch: number;
  readonly records?: readonly Uint8Array[];
  readonly isPromised?: boolean;
  readonly snapshot?: NonNullable<HistoryInstall["snapshot"]>;
}

/**
 * `installs` are the histories that an install leaves, in detail; `core` is everything else,
 * installs among them.
 */
export type TxnLogContractPart = "core" | "installs";

/**
 * Every promise of {@link StoreLog} that can be seen from outside. Run it for each implementation.
 */
export function describeTxnLog(
  name: string,
  newHarness: () => Promise<TxnLogHarness>,
  parts: readonly TxnLogContractPart[] = ["core", "installs"],
): void {
  type AddTest = (name: string, body: () => void | Promise<void>) => void;
  const testOf = (part: TxnLogContractPart): AddTest => (parts.includes(part) ? test : () => {});
  const [core, installs] = [testOf("core"), testOf("installs")];

  describe(`${name} keeps the promises of a log`, () => {
    let harness: TxnLogHarness;
    let log: PromisedLog;
    let reports: RecordingHandler;

    const reopen = async (options: { readonly takeEpoch?: boolean } = {}): Promise<void> => {
      reports = new RecordingHandler();
      log = new PromisedLog(await harness.open(reports, options), reports);
    };
    const restart = async (options: { readonly takeEpoch?: boolean } = {}): Promise<void> => {
      await harness.kill(log.log);
      await reopen(options);
    };
    const append = (...zxids: readonly Zxid[]): void => log.append(batchOf(zxids, { generation: 7 }));
    const settled = async <T>(answer: Promise<T>): Promise<T> => {
      // A rejection is the caller's business; it only must not count as unhandled while the log
      // settles.
      answer.catch(() => {});
      await harness.settle(log);
      return answer;
    };
    const held = async (after: Zxid = Z(0, 0)): Promise<readonly Zxid[]> =>
      zxidsOf((await settled(log.read(after, 1 << 20))).bytes);

    const positionOf = async (zxid: Zxid): Promise<LogPosition> => {
      const chain = await settled(log.chainAt(zxid));
      if (chain === undefined) throw new Error(`the log does not hold ${zxid}`);
      return { zxid, chain };
    };
    const stage = async (...zxids: readonly Zxid[]): Promise<void> => {
      const { bytes, start, end } = batchOf(zxids);
      await settled(log.stage(bytes, start, end));
    };
    /** Promises an epoch, stages a history after a position, and installs it. */
    const installTo = async (after: LogPosition, zxids: readonly Zxid[], options: InstallOptions): Promise<void> => {
      const { epoch, records = [], isPromised = false, snapshot } = options;
      if (!isPromised) await settled(log.setPromise({ epoch, sid: 2, incarnation: 1 }));
      await settled(log.beginStage(after));
      const { bytes, start, end } = batchOf(zxids, { records });
      if (end > start) await settled(log.stage(bytes, start, end));
      const tail = zxids.at(-1) ?? after.zxid;
      await settled(
        log.installHistory({ epoch, tail, committed: Z(0, 0), ...(snapshot === undefined ? {} : { snapshot }) }),
      );
    };

    beforeEach(async () => {
      harness = await newHarness();
      await reopen();
    });
    afterEach(async () => {
      await log[Symbol.asyncDispose]();
      await harness[Symbol.asyncDispose]();
    });

    core("a new log is empty and counts its first start", () => {
      expect(log.durable.identity.bootCount).toBe(1);
      expect(log.durable.tail).toEqual({ zxid: 0, chain: CHAIN_NONE });
      expect(log.durable.epochs).toEqual([]);
    });

    core("every start is counted", async () => {
      await restart();
      await restart();
      expect(log.durable.identity.bootCount).toBe(3);
    });

    core("completions come in order with generation, last zxid and chain", async () => {
      append(Z(1, 1), Z(1, 2));
      append(Z(1, 3));
      await harness.settle(log);
      expect(reports.completions.map(({ generation, zxid }) => ({ generation, zxid }))).toEqual([
        { generation: 7, zxid: Z(1, 2) },
        { generation: 7, zxid: Z(1, 3) },
      ]);
      expect(reports.completions[1]?.chain).toBe(log.durable.tail.chain);
    });

    core("the caller may reuse its bytes as soon as append returns", async () => {
      const batch = batchOf([Z(1, 1)], { generation: 1 });
      const before = batch.bytes.slice();
      log.append(batch);
      batch.bytes.fill(0xee);
      await harness.settle(log);
      expect((await settled(log.read(Z(0, 0), 1 << 20))).bytes).toEqual(before);
    });

    core("what was completed is there after a kill, with the same chain", async () => {
      append(Z(1, 1), Z(1, 2));
      await harness.settle(log);
      const { tail } = log.durable;
      await restart();
      expect(log.durable.tail).toEqual(tail);
      expect(await held()).toEqual([Z(1, 1), Z(1, 2)]);
    });

    core("records come back byte for byte, empty and large ones too", async () => {
      const records = [new Uint8Array(0), new Uint8Array(1).fill(9), new Uint8Array(300_000).map((_, i) => i * 7)];
      log.append(batchOf([Z(1, 1), Z(1, 2), Z(1, 3)], { records }));
      await harness.settle(log);
      await restart();
      expect(recordsOf((await settled(log.read(Z(0, 0), 1 << 20))).bytes)).toEqual(records);
    });

    core("equal histories have equal chains and a changed record changes every chain after it", async () => {
      const chains: string[] = [];
      for (const fill of [1, 1, 2]) {
        await using other = await newHarness();
        const handler = new RecordingHandler();
        const one = new PromisedLog(await other.open(handler, {}), handler);
        one.append(batchOf([Z(1, 1)], { records: [new Uint8Array(10).fill(fill)] }));
        one.append(batchOf([Z(1, 2)]));
        await other.settle(one);
        chains.push(String(one.durable.tail.chain));
        await one[Symbol.asyncDispose]();
      }
      expect(chains[0]).toBe(chains[1]);
      expect(chains[0]).not.toBe(chains[2]);
    });

    core("the chain does not depend on how entries were batched", async () => {
      append(Z(1, 1), Z(1, 2), Z(1, 3));
      await harness.settle(log);
      await using other = await newHarness();
      const one = new PromisedLog(await other.open(new RecordingHandler(), {}));
      for (const zxid of [Z(1, 1), Z(1, 2), Z(1, 3)]) one.append(batchOf([zxid]));
      await other.settle(one);
      expect(one.durable.tail).toEqual(log.durable.tail);
      await one[Symbol.asyncDispose]();
    });

    core("the epoch table has the first and last counter of each epoch, also after a restart", async () => {
      append(Z(1, 1), Z(1, 2), Z(3, 1));
      append(Z(3, 2), Z(4, 1));
      await harness.settle(log);
      const expected = [
        { epoch: 1, first: 1, last: 2 },
        { epoch: 3, first: 1, last: 2 },
        { epoch: 4, first: 1, last: 1 },
      ];
      expect(log.durable.epochs).toEqual(expected);
      await restart();
      expect(log.durable.epochs).toEqual(expected);
    });

    core("the commit hint is written with the batch", async () => {
      log.append(batchOf([Z(1, 1), Z(1, 2)]));
      log.append(batchOf([Z(1, 3)], { committed: Z(1, 2) }));
      await harness.settle(log);
      await restart();
      expect(log.durable.commitHint).toBe(Z(1, 2));
    });

    core("a configuration carried by a batch is durable with it", async () => {
      log.append({ ...batchOf([Z(1, 1)]), marks: { lastSeenConfig: Uint8Array.of(1, 2, 3) } });
      await harness.settle(log);
      await restart();
      expect(log.durable.lastSeenConfig).toEqual(Uint8Array.of(1, 2, 3));
    });

    core(
      "a raise of the feature level that a batch carries is durable with it, and stays behind later ones",
      async () => {
        expect(log.durable.levelRaise).toEqual(NO_RAISE);
        const levelRaise = { level: 2, zxid: Z(1, 1), replaced: 1 };
        log.append({ ...batchOf([Z(1, 1)]), marks: { levelRaise } });
        log.append({ ...batchOf([Z(1, 2)]), marks: { lastSeenConfig: Uint8Array.of(1) } });
        await harness.settle(log);
        await restart();
        expect(log.durable.levelRaise).toEqual(levelRaise);
      },
    );

    core("a cut takes a raise of the feature level with its entry", async () => {
      append(Z(1, 1));
      log.append({ ...batchOf([Z(1, 2)]), marks: { levelRaise: { level: 3, zxid: Z(1, 2), replaced: 2 } } });
      await harness.settle(log);
      await settled(log.cut(Z(1, 1)));
      await restart();
      expect(log.durable.levelRaise).toEqual(levelInForce(2));
    });

    core("an entry that leaves a gap fails the log", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      append(Z(1, 3));
      await harness.settle(log).catch(() => {});
      expect(reports.failures).toHaveLength(1);
      expect(reports.completions.map(({ zxid }) => zxid)).toEqual([Z(1, 1)]);
    });

    core("a failed log rejects what is asked of it afterwards", async () => {
      append(Z(1, 2));
      await harness.settle(log).catch(() => {});
      await expect(settled(log.setPromise({ epoch: 1, sid: 1, incarnation: 1 }))).rejects.toThrow();
      expect(reports.failures).toHaveLength(1);
    });

    core("a promise with its leader survives a kill", async () => {
      await settled(log.setPromise({ epoch: 5, sid: 2, incarnation: 9 }));
      await restart();
      expect(log.durable.promise).toEqual({ epoch: 5, sid: 2, incarnation: 9 });
    });

    core("an epoch is promised only once", async () => {
      await settled(log.setPromise({ epoch: 5, sid: 2, incarnation: 9 }));
      await expect(settled(log.setPromise({ epoch: 5, sid: 3, incarnation: 1 }))).rejects.toThrow("promised");
    });

    core("currentEpoch never exceeds the promise", async () => {
      await settled(log.setPromise({ epoch: 5, sid: 2, incarnation: 9 }));
      await settled(log.setCurrentEpoch(5));
      await restart();
      expect(log.durable.currentEpoch).toBe(5);
      await expect(settled(log.setCurrentEpoch(6))).rejects.toThrow("above the promise");
    });

    core("configurations are kept one by one", async () => {
      await settled(log.setConfigs({ committed: Uint8Array.of(1) }));
      await settled(log.setConfigs({ lastSeen: Uint8Array.of(2) }));
      await restart();
      expect(log.durable.committedConfig).toEqual(Uint8Array.of(1));
      expect(log.durable.lastSeenConfig).toEqual(Uint8Array.of(2));
    });

    core("a standalone start takes the next epoch and calls everything committed", async () => {
      append(Z(1, 1), Z(1, 2));
      await settled(log.setPromise({ epoch: 4, sid: 1, incarnation: 1 }));
      await restart({ takeEpoch: true });
      expect(log.durable.promise).toEqual({ epoch: 5, sid: log.durable.identity.sid, incarnation: 2 });
      expect(log.durable.currentEpoch).toBe(5);
      expect(log.durable.commitHint).toBe(Z(1, 2));
    });

    core("a cut drops the tail, and the log continues from there", async () => {
      append(Z(1, 1), Z(1, 2), Z(2, 1));
      await settled(log.cut(Z(1, 1)));
      expect(log.durable.epochs).toEqual([{ epoch: 1, first: 1, last: 1 }]);
      append(Z(3, 1));
      await harness.settle(log);
      await restart();
      expect(await held()).toEqual([Z(1, 1), Z(3, 1)]);
      expect(log.durable.epochs.map(({ epoch }) => epoch)).toEqual([1, 3]);
    });

    core("a log whose whole content was cut is as new", async () => {
      append(Z(1, 1));
      await settled(log.cut(Z(0, 0)));
      await restart();
      expect(log.durable.tail).toEqual({ zxid: 0, chain: CHAIN_NONE });
      expect(log.durable.epochs).toEqual([]);
    });

    core("what is known to be committed cannot be cut", async () => {
      append(Z(1, 1));
      log.append(batchOf([Z(1, 2)], { committed: Z(1, 1) }));
      await expect(settled(log.cut(Z(0, 0)))).rejects.toThrow("committed");
    });

    core("reading continues from any entry, in pieces of a bounded size", async () => {
      append(...range(1, 50));
      await harness.settle(log);
      const seen: Zxid[] = [];
      for (let after = Z(0, 0); ; ) {
        const run = await settled(log.read(after, 500));
        expect(run.bytes.length).toBeLessThanOrEqual(500);
        if (run.count === 0) break;
        expect(run.after.zxid).toBe(after);
        seen.push(...zxidsOf(run.bytes));
        after = run.last.zxid;
      }
      expect(seen).toEqual(range(1, 50));
    });

    core("an entry larger than the bound is read alone", async () => {
      log.append(batchOf([Z(1, 1), Z(1, 2)], { records: [new Uint8Array(5000), new Uint8Array(5000)] }));
      await harness.settle(log);
      expect((await settled(log.read(Z(0, 0), 100))).count).toBe(1);
    });

    core("a run's chains are those of the log", async () => {
      append(...range(1, 5));
      await harness.settle(log);
      const run = await settled(log.read(Z(1, 2), 1 << 20));
      expect(run.after.chain).toBe(await settled(log.chainAt(Z(1, 2))));
      expect(run.last).toEqual(log.durable.tail);
      expect(await settled(log.chainAt(Z(9, 9)))).toBeUndefined();
    });

    core("an install cuts, adds what was staged and moves the epoch at once", async () => {
      append(Z(1, 1), Z(1, 2), Z(1, 3));
      await settled(log.setPromise({ epoch: 3, sid: 2, incarnation: 1 }));
      const chain = await settled(log.chainAt(Z(1, 2)));
      if (chain === undefined) throw new Error("an entry was lost");
      await settled(log.beginStage({ zxid: Z(1, 2), chain }));
      const staged = batchOf([Z(2, 1), Z(2, 2)]);
      await settled(log.stage(staged.bytes, staged.start, staged.end));
      expect(await held()).toEqual([Z(1, 1), Z(1, 2), Z(1, 3)]);
      const configs = { committedConfig: Uint8Array.of(7), lastSeenConfig: Uint8Array.of(8) };
      const levelRaise = { level: 2, zxid: Z(2, 1), replaced: 1 };
      await settled(log.installHistory({ epoch: 3, tail: Z(2, 2), committed: Z(1, 1), ...configs, levelRaise }));
      await restart();
      expect(await held()).toEqual([Z(1, 1), Z(1, 2), Z(2, 1), Z(2, 2)]);
      expect(log.durable).toMatchObject({ currentEpoch: 3, commitHint: Z(1, 1), ...configs, levelRaise });
      expect(log.durable.epochs.map(({ epoch, last }) => [epoch, last])).toEqual([
        [1, 2],
        [2, 2],
      ]);
    });

    core("a stage that was not installed is gone after a kill", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await settled(log.beginStage(log.durable.tail));
      const staged = batchOf([Z(1, 2)]);
      await settled(log.stage(staged.bytes, staged.start, staged.end));
      await restart();
      expect(await held()).toEqual([Z(1, 1)]);
      append(Z(1, 2));
      await harness.settle(log);
      expect(log.durable.tail.zxid).toBe(Z(1, 2));
    });

    core("an install with a snapshot replaces the log, and what was staged continues the snapshot", async () => {
      append(Z(1, 1), Z(1, 2));
      await settled(log.setPromise({ epoch: 6, sid: 2, incarnation: 1 }));
      const base = { zxid: Z(5, 10), chain: (1234n << 40n) as typeof CHAIN_NONE };
      await settled(log.beginStage(base));
      const staged = batchOf([Z(5, 11)]);
      await settled(log.stage(staged.bytes, staged.start, staged.end));
      const epochs = [
        { epoch: 1, first: 1, last: 9 },
        { epoch: 5, first: 1, last: 10 },
      ];
      await harness.putState("state-2.db", base);
      const snapshot = { stateFile: "state-2.db", epochs };
      await settled(log.installHistory({ epoch: 6, tail: Z(5, 11), committed: Z(5, 10), snapshot }));
      await restart();
      expect(log.durable).toMatchObject({ floor: base, stateFile: "state-2.db", currentEpoch: 6 });
      expect(log.durable.epochs.map(({ epoch, last }) => [epoch, last])).toEqual([
        [1, 9],
        [5, 11],
      ]);
      expect(await held(Z(5, 10))).toEqual([Z(5, 11)]);
      await expect(settled(log.read(Z(1, 1), 1 << 20))).rejects.toMatchObject({ code: "below-floor" });
    });

    core("an install of a state that no quorum is known to have leaves it uncommitted, over restarts too", async () => {
      append(Z(1, 1), Z(1, 2));
      await settled(log.setPromise({ epoch: 6, sid: 2, incarnation: 1 }));
      const base = { zxid: Z(5, 1), chain: (1234n << 40n) as typeof CHAIN_NONE };
      await settled(log.beginStage(base));
      const epochs = [{ epoch: 5, first: 1, last: 1 }];
      await harness.putState("state-2.db", base);
      const snapshot = { stateFile: "state-2.db", epochs, isUncommitted: true };
      await settled(log.installHistory({ epoch: 6, tail: base.zxid, committed: Z(0, 0), snapshot }));
      expect(isFloorUncommitted(log.durable)).toBe(true);
      await restart();
      await restart();
      expect(log.durable).toMatchObject({ floor: base, tail: base, currentEpoch: 6 });
      expect(isFloorUncommitted(log.durable)).toBe(true);
      log.append({ ...batchOf([Z(6, 1)]), committed: base.zxid });
      await harness.settle(log);
      expect(isFloorUncommitted(log.durable)).toBe(false);
      await restart();
      expect(isFloorUncommitted(log.durable)).toBe(false);
    });

    core("an install to another tail than the staged one is a defect", async () => {
      append(Z(1, 1));
      await settled(log.setPromise({ epoch: 3, sid: 2, incarnation: 1 }));
      await settled(log.beginStage(log.durable.tail));
      await expect(settled(log.installHistory({ epoch: 3, tail: Z(1, 2), committed: Z(0, 0) }))).rejects.toThrow(
        "stage ends",
      );
    });

    core("an append after a cut continues where it cut, and its chain is that of its own history", async () => {
      append(Z(1, 1), Z(1, 2), Z(1, 3));
      await harness.settle(log);
      const first = log.durable.tail;
      await settled(log.cut(Z(1, 1)));
      log.append(batchOf([Z(1, 2), Z(1, 3)], { records: [Uint8Array.of(1), Uint8Array.of(2)] }));
      await harness.settle(log);
      expect(log.durable.tail.zxid).toBe(first.zxid);
      expect(log.durable.tail.chain).not.toBe(first.chain);
      const { tail } = log.durable;
      await restart();
      expect(log.durable.tail).toEqual(tail);
      expect(recordsOf((await settled(log.read(Z(1, 1), 1 << 20))).bytes)).toEqual([
        Uint8Array.of(1),
        Uint8Array.of(2),
      ]);
    });

    core("a cut and an append that are asked for together take effect in that order", async () => {
      append(Z(1, 1), Z(1, 2));
      const cut = log.cut(Z(1, 1));
      append(Z(2, 1));
      await settled(cut);
      await harness.settle(log);
      expect(await held()).toEqual([Z(1, 1), Z(2, 1)]);
      expect(reports.failures).toEqual([]);
    });

    core("a commit point beyond the log's end counts as far as the log goes", async () => {
      log.append(batchOf([Z(1, 1), Z(1, 2)], { committed: Z(1, 9) }));
      await harness.settle(log);
      expect(log.durable.commitHint).toBe(Z(1, 2));
      await restart();
      expect(log.durable.commitHint).toBe(Z(1, 2));
      await installTo(await positionOf(Z(1, 2)), [Z(1, 3)], { epoch: 2 });
      expect(log.durable.tail.zxid).toBe(Z(1, 3));
    });

    core("what no leader has spoken of stays above the commit hint, also over restarts", async () => {
      log.append(batchOf([Z(1, 1), Z(1, 2)]));
      log.append(batchOf([Z(1, 3), Z(1, 4)], { committed: Z(1, 2) }));
      await harness.settle(log);
      for (let i = 0; i < 2; i++) await restart();
      expect(log.durable).toMatchObject({ commitHint: Z(1, 2), tail: { zxid: Z(1, 4) } });
    });

    installs("an install replaces a tail that split off by another of the same zxids", async () => {
      append(Z(1, 1), Z(1, 2), Z(1, 3), Z(1, 4));
      await harness.settle(log);
      const split = log.durable.tail;
      await installTo(await positionOf(Z(1, 2)), [Z(1, 3), Z(1, 4)], {
        epoch: 2,
        records: [Uint8Array.of(8), Uint8Array.of(9)],
      });
      expect(log.durable.tail.zxid).toBe(split.zxid);
      expect(log.durable.tail.chain).not.toBe(split.chain);
      const { tail } = log.durable;
      append(Z(2, 1));
      await harness.settle(log);
      await restart();
      expect(await settled(log.chainAt(Z(1, 4)))).toBe(tail.chain);
      expect(await held(Z(1, 4))).toEqual([Z(2, 1)]);
    });

    installs("an install over a tail of another epoch leaves no trace of that epoch", async () => {
      append(Z(1, 1), Z(2, 1), Z(2, 2));
      await harness.settle(log);
      await installTo(await positionOf(Z(1, 1)), [Z(3, 1)], { epoch: 3 });
      await restart();
      expect(log.durable.epochs).toEqual([
        { epoch: 1, first: 1, last: 1 },
        { epoch: 3, first: 1, last: 1 },
      ]);
      expect(await settled(log.chainAt(Z(2, 1)))).toBeUndefined();
    });

    installs("an install without entries only cuts and moves the epoch", async () => {
      append(Z(1, 1), Z(1, 2));
      await harness.settle(log);
      await installTo(await positionOf(Z(1, 1)), [], { epoch: 2 });
      await installTo(await positionOf(Z(1, 1)), [], { epoch: 3 });
      await restart();
      expect(await held()).toEqual([Z(1, 1)]);
      expect(log.durable.currentEpoch).toBe(3);
    });

    installs("one epoch may be installed twice, the second time to a longer history", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await installTo(await positionOf(Z(1, 1)), [Z(1, 2)], { epoch: 4 });
      await installTo(log.durable.tail, [Z(4, 1), Z(4, 2)], { epoch: 4, isPromised: true });
      await restart();
      expect(log.durable.currentEpoch).toBe(4);
      expect(await held()).toEqual([Z(1, 1), Z(1, 2), Z(4, 1), Z(4, 2)]);
    });

    installs("a new stage drops the one before it with all that it held", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await settled(log.beginStage(log.durable.tail));
      await stage(Z(1, 2), Z(1, 3));
      await installTo(log.durable.tail, [Z(2, 1)], { epoch: 3 });
      expect(await held()).toEqual([Z(1, 1), Z(2, 1)]);
    });

    installs("a new stage without entries does not install those of the one before it", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await settled(log.beginStage(log.durable.tail));
      await stage(Z(1, 2), Z(1, 3));
      await installTo(log.durable.tail, [], { epoch: 3 });
      await restart();
      expect(await held()).toEqual([Z(1, 1)]);
    });

    installs("a dropped stage is nothing to install, and leaves nothing to a later one", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await settled(log.beginStage(log.durable.tail));
      await stage(Z(1, 2));
      await settled(log.dropStage());
      await installTo(log.durable.tail, [Z(3, 1)], { epoch: 3 });
      expect(await held()).toEqual([Z(1, 1), Z(3, 1)]);
      await settled(log.dropStage());
      await expect(settled(log.installHistory({ epoch: 3, tail: Z(3, 1), committed: Z(0, 0) }))).rejects.toThrow(
        "without a stage",
      );
    });

    installs("what is staged does not stand in the way of appends, and they not in its", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      const { tail } = log.durable;
      await settled(log.beginStage(tail));
      await stage(Z(1, 2));
      append(Z(1, 2), Z(1, 3));
      await harness.settle(log);
      expect(await held()).toEqual([Z(1, 1), Z(1, 2), Z(1, 3)]);
      await settled(log.setPromise({ epoch: 2, sid: 2, incarnation: 1 }));
      await settled(log.installHistory({ epoch: 2, tail: Z(1, 2), committed: Z(0, 0) }));
      expect(await held()).toEqual([Z(1, 1), Z(1, 2)]);
    });

    installs(
      "after an install with a snapshot the log continues behind it, through restarts and further installs",
      async () => {
        append(Z(1, 1), Z(1, 2));
        await harness.settle(log);
        const base = { zxid: Z(5, 10), chain: (77n << 33n) as typeof CHAIN_NONE };
        await harness.putState("state-2.db", base);
        const snapshot = { stateFile: "state-2.db", epochs: [{ epoch: 5, first: 1, last: 10 }] };
        await installTo(base, [], { epoch: 6, snapshot });
        expect(log.durable).toMatchObject({ tail: base, floor: base, commitHint: base.zxid });
        log.append(batchOf([Z(6, 1), Z(6, 2)], { committed: base.zxid }));
        await harness.settle(log);
        await restart();
        expect(log.durable.epochs).toEqual([
          { epoch: 5, first: 1, last: 10 },
          { epoch: 6, first: 1, last: 2 },
        ]);
        expect(await held(base.zxid)).toEqual([Z(6, 1), Z(6, 2)]);
        await installTo(base, [Z(7, 1)], { epoch: 7 });
        expect(await held(base.zxid)).toEqual([Z(7, 1)]);
        expect(log.durable.stateFile).toBe("state-2.db");
      },
    );

    installs("an install to a history that splits off below what is committed is a defect", async () => {
      append(Z(1, 1));
      log.append(batchOf([Z(1, 2)], { committed: Z(1, 2) }));
      await harness.settle(log);
      await expect(installTo(await positionOf(Z(1, 1)), [Z(2, 1)], { epoch: 2 })).rejects.toThrow("committed");
    });

    installs("an install that continues another history than the log's is a defect", async () => {
      append(Z(1, 1), Z(1, 2));
      await harness.settle(log);
      const { zxid, chain } = await positionOf(Z(1, 1));
      await expect(installTo({ zxid, chain: (chain ^ 1n) as typeof chain }, [], { epoch: 2 })).rejects.toThrow(
        "another history",
      );
    });

    installs("an install to an epoch that was not promised is a defect", async () => {
      append(Z(1, 1));
      await harness.settle(log);
      await expect(installTo(log.durable.tail, [], { epoch: 2, isPromised: true })).rejects.toThrow(
        "above the promise",
      );
    });

    core("an ensemble id may change as long as there is no history, and never again", async () => {
      await settled(log.setEnsembleId("an attempt"));
      await settled(log.setEnsembleId("colony"));
      expect(log.durable.identity.ensembleId).toBe("colony");
      append(Z(1, 1));
      await harness.settle(log);
      await expect(settled(log.setEnsembleId("another"))).rejects.toThrow("belongs");
    });

    core("promises settle after the completions of the appends before them", async () => {
      append(Z(1, 1));
      await settled(log.setPromise({ epoch: 2, sid: 1, incarnation: 1 }).then(() => reports.order.push("promise")));
      expect(reports.order).toEqual(["appended", "promise"]);
    });

    core("pending batches are counted until they are durable", async () => {
      append(Z(1, 1));
      expect(log.stats().pendingBatches).toBe(1);
      await harness.settle(log);
      expect(log.stats()).toMatchObject({ pendingBatches: 0, pendingBytes: 0, batchCount: 1, entryCount: 1 });
    });
  });
}

export { type AppendBatch, type BatchParts, batchOf, PromisedLog, RecordingHandler, range, recordsOf, Z, zxidsOf };
