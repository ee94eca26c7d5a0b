import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ZXID_NONE, type Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LogFile } from "../log/log-file.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { isLogFile, openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { promised } from "../testing/promised-log.ts";
import { createNodes, settled } from "../testing/state-history.ts";
import { loaded } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

/**
 * A data directory as a member of an ensemble uses it: no epoch of its own, and nothing applied
 * that no leader has spoken of.
 */

let place: TemporaryDirectory;
let directory: string;
let reports: RecordingHandler;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  reports = new RecordingHandler();
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({ directory, sid: 1, handler: reports, ...options });
const NOTHING = { session: () => {}, node: () => {} };

/** The entries that a start would apply. */
function replayed(store: Store, through?: Zxid): Zxid[] {
  const zxids: Zxid[] = [];
  store.replay(store.loadState(NOTHING).applied, (zxid) => zxids.push(zxid), through);
  return zxids;
}

function tamper(sql: string): void {
  const database = new Sqlite(join(directory, newestSegment(directory)));
  database.exec(sql);
  database.close();
}

describe("a start", () => {
  test("in an empty directory is fresh and no amnesia, and takes no epoch", async () => {
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: false, currentEpoch: 0, promise: { epoch: 0 } });
    expect(replayed(store, store.log.durable.commitHint)).toEqual([]);
  });

  test("draws the id of the disk once, and again where the log was taken away", async () => {
    const started = async (): Promise<string> => {
      await using store = await open({ allowAmnesia: true });
      promised(store.log).append(batchOf(range(1, 3)));
      return store.log.durable.identity.diskId;
    };
    const first = await started();
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(await started()).toBe(first);
    rmSync(join(directory, "disk-id"));
    expect(reports.warnings).toEqual([]);
    const second = await started();
    expect([second === first, reports.warnings]).toEqual([false, [expect.stringContaining("disk-id is missing")]]);
    for (const file of readdirSync(directory)) if (file !== "disk-id") rmSync(join(directory, file));
    expect([first, second]).not.toContain(await started());
  });

  test("fetches the id of the disk that a move of the log left behind", async () => {
    const logDirectory = join(directory, "moved");
    const idOf = async (options: object): Promise<string> => {
      await using store = await open({ allowAmnesia: true, ...options });
      promised(store.log).append(batchOf(range(1, 3)));
      return store.log.durable.identity.diskId;
    };
    const diskId = await idOf({});
    mkdirSync(logDirectory);
    for (const file of readdirSync(directory)) {
      if (/^(log|format|witness)/.test(file)) renameSync(join(directory, file), join(logDirectory, file));
    }
    expect([await idOf({ logDirectory }), reports.warnings]).toEqual([diskId, []]);
    expect(readdirSync(directory)).not.toContain("disk-id");
    expect(await idOf({ logDirectory })).toBe(diskId);
  });

  test("replays through the commit hint and leaves the rest unapplied, again and again", async () => {
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(1, 3)));
      promised(store.log).append(batchOf(range(4, 6), { committed: Z(1, 3) }));
      await settled(store);
    }
    for (let i = 0; i < 2; i++) {
      await using store = await open();
      expect(store.log.durable).toMatchObject({ commitHint: Z(1, 3), tail: { zxid: Z(1, 6) } });
      expect(replayed(store, store.log.durable.commitHint)).toEqual(range(1, 3));
      expect(replayed(store, Z(1, 5))).toEqual(range(1, 5));
      expect(replayed(store)).toEqual(range(1, 6));
    }
  });

  test("knows of what is in the state file that it is committed, whatever the log's hint says", async () => {
    {
      await using store = await open();
      await createNodes(store, 1, 10);
      await store.state.flush();
    }
    tamper(`UPDATE log SET committed = ${Z(1, 4)} WHERE committed IS NOT NULL`);
    await using store = await open();
    expect(store.log.durable.commitHint).toBe(Z(1, 10));
    expect(replayed(store, store.log.durable.commitHint)).toEqual([]);
    expect(replayed(store, Z(1, 4))).toEqual([]);
    await expect(promised(store.log, reports).cut(Z(1, 9))).rejects.toThrow("committed");
  });

  test("after all steps of becoming a holder of an epoch finds each of them", async () => {
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(1, 5)));
      await promised(store.log).setPromise({ epoch: 2, sid: 3, incarnation: 4 });
    }
    {
      await using store = await open();
      expect(store.log.durable).toMatchObject({ promise: { epoch: 2, sid: 3, incarnation: 4 }, currentEpoch: 0 });
      await promised(store.log).setCurrentEpoch(2);
      await promised(store.log).cut(Z(1, 3));
      promised(store.log).append(batchOf([Z(2, 1)], { committed: Z(1, 3) }));
      await settled(store);
    }
    await using store = await open();
    expect(store.log.durable).toMatchObject({ currentEpoch: 2, commitHint: Z(1, 3), tail: { zxid: Z(2, 1) } });
    expect(replayed(store, store.log.durable.commitHint)).toEqual(range(1, 3));
  });
});

describe("what is checkpointed", () => {
  test("cannot be cut any more, not even before it is checkpointed", async () => {
    await using store = await open({ checkpointMs: 1_000_000 });
    promised(store.log).append(batchOf(range(1, 9)));
    await settled(store);
    const chain = await promised(store.log).chainAt(Z(1, 4));
    if (chain === undefined) throw new Error("an entry was lost");
    store.state.advance({ zxid: Z(1, 5), digestHigh: 0, digestLow: 0, bytes: 1 });
    await promised(store.log).beginStage({ zxid: Z(1, 4), chain });
    await promised(store.log).setPromise({ epoch: 2, sid: 1, incarnation: 1 });
    await expect(
      promised(store.log, reports).installHistory({ epoch: 2, tail: Z(1, 4), committed: ZXID_NONE }),
    ).rejects.toThrow("committed");
    expect(reports.failures).toHaveLength(1);
  });

  test("may be followed by a cut at the mark", async () => {
    await using store = await open();
    await createNodes(store, 1, 5);
    promised(store.log).append(batchOf(range(6, 9)));
    expect((await promised(store.log).cut(Z(1, 5))).zxid).toBe(Z(1, 5));
    expect((await store.state.flush()).applied).toEqual(store.log.durable.tail);
  });

  test("is durable: a mark above the log's end is a defect", async () => {
    await using store = await open({ checkpointMs: 1_000_000 });
    promised(store.log).append(batchOf(range(1, 3)));
    await settled(store);
    store.state.advance({ zxid: Z(1, 4), digestHigh: 0, digestLow: 0, bytes: 1 });
    await expect(promised(store.log, reports).setConfigs({})).rejects.toThrow("above the end");
    expect(reports.failures).toHaveLength(1);
  });
});

describe("an amnesiac", () => {
  test("whose log ends before its state begins again behind the state", async () => {
    {
      await using store = await open();
      await createNodes(store, 1, 10);
      await store.state.flush();
    }
    tamper(`DELETE FROM log WHERE zxid > ${Z(1, 6)}`);
    const before = await open().catch((error) => error);
    expect(before).toMatchObject({ code: "LOG_SHORTENED" });
    let position: Store["log"]["durable"]["tail"];
    {
      await using store = await open({ allowAmnesia: true });
      position = store.state.applied.applied;
      expect(store.log.durable).toMatchObject({
        amnesiac: true,
        tail: position,
        floor: position,
        commitHint: Z(1, 10),
      });
      expect(store.log.durable.epochs).toEqual([{ epoch: 1, first: 1, last: 10 }]);
      expect(replayed(store)).toEqual([]);
      await expect(promised(store.log).read(Z(1, 3), 1)).rejects.toMatchObject({ code: "below-floor" });
    }
    // It is what it was opened as, also without being allowed to again, until a leader does without
    // it.
    await using store = await open();
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: position });
    await promised(store.log).setPromise({ epoch: 2, sid: 2, incarnation: 1 });
    await promised(store.log).beginStage(position);
    await promised(store.log).installHistory({
      epoch: 2,
      tail: position.zxid,
      committed: position.zxid,
      endsAmnesia: true,
    });
    expect(store.log.durable.amnesiac).toBe(false);
    await createNodes(store, 11, 12);
    expect((await store.state.flush()).applied.zxid).toBe(Z(1, 12));
  });

  test("that lost its log begins behind its state, which is whole if the log comes back", async () => {
    const logDirectory = join(place.path, "log");
    const apart = { logDirectory, allowAmnesia: true };
    {
      await using store = await open(apart);
      await promised(store.log).setEnsembleId("an ensemble");
      await createNodes(store, 1, 10);
      await store.state.flush();
      await createNodes(store, 11, 12);
    }
    renameSync(logDirectory, `${logDirectory} unmounted`);
    for (let i = 0; i < 2; i++) {
      await using store = await open(apart);
      const { applied } = store.state.applied;
      expect(applied.zxid).toBe(Z(1, 10));
      const identity = { ensembleId: "an ensemble", sid: 1 };
      expect(store.log.durable).toMatchObject({ amnesiac: true, identity, tail: applied, floor: applied });
      expect(loaded(store).nodes.size).toBe(14);
    }
    rmSync(logDirectory, { recursive: true });
    renameSync(`${logDirectory} unmounted`, logDirectory);
    await using store = await open(apart);
    expect(store.log.durable).toMatchObject({ amnesiac: false, tail: { zxid: Z(1, 12) } });
    expect(replayed(store, Z(1, 12))).toEqual(range(11, 12));
  });

  test("that lost its log and has no state that can be read begins with nothing, and keeps the file", async () => {
    {
      await using store = await open();
      await createNodes(store, 1, 10);
      await store.state.flush();
    }
    for (const file of readdirSync(directory).filter(isLogFile)) rmSync(join(directory, file));
    renameSync(join(directory, "state-1.db"), join(directory, "state-3.db"));
    writeFileSync(join(directory, "state-3.db"), "damaged");
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: 0 } });
    expect(loaded(store).nodes.size).toBe(4);
    const [time = ""] = readdirSync(join(directory, "damaged"));
    expect(readFileSync(join(directory, "damaged", time, "state-3.db"), "utf8")).toBe("damaged");
  });

  test("that lost its log takes a leader's state", async () => {
    {
      await using store = await open();
      await createNodes(store, 1, 10);
      await store.state.flush();
    }
    for (const file of readdirSync(directory).filter(isLogFile)) rmSync(join(directory, file));
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: Z(1, 10) } });

    await using leader = await open({ directory: join(place.path, "leader") });
    await createNodes(leader, 1, 10);
    await using source = await leader.openSnapshot();
    const receiver = await store.receiveSnapshot(source.position);
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) await receiver.add(chunk);
    const snapshot = await receiver.finish();
    await promised(store.log).setPromise({ epoch: 2, sid: 2, incarnation: 1 });
    await promised(store.log).beginStage(source.position);
    const { zxid } = source.position;
    await promised(store.log).installHistory({ epoch: 2, tail: zxid, committed: zxid, snapshot, endsAmnesia: true });
    store.adoptState();
    expect(store.log.durable.amnesiac).toBe(false);
    expect(loaded(store)).toEqual(loaded(leader));
  });
});

describe("a disk that fails", () => {
  test("in a sync ends the log: nothing more is completed, and a restart holds what was", async () => {
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(1, 3)));
    }
    {
      reports = new RecordingHandler();
      await using store = await open({ testBreak: "sync-fails" });
      promised(store.log).append(batchOf(range(4, 5)));
      promised(store.log).append(batchOf(range(6, 7)));
      const promising = promised(store.log, reports).setPromise({ epoch: 9, sid: 1, incarnation: 1 });
      await expect(promising).rejects.toMatchObject({ code: "WRITE_FAILED" });
      expect(reports.failures).toMatchObject([{ code: "WRITE_FAILED" }]);
      promised(store.log).append(batchOf(range(8, 9)));
      await expect(promised(store.log, reports).setConfigs({})).rejects.toMatchObject({ code: "WRITE_FAILED" });
      expect(reports.completions).toEqual([]);
      expect(store.log.durable.tail.zxid).toBe(Z(1, 3));
    }
    await using store = await open();
    // What the failed sync was for may have come through, as one piece with what shared its
    // transaction; nothing behind it.
    expect([Z(1, 3), Z(1, 5), Z(1, 7)]).toContain(store.log.durable.tail.zxid);
    expect(store.log.durable.promise.epoch).toBe(0);
  });

  test("in the sync of a promise ends the log too, with all that was asked for behind it", async () => {
    await using store = await open({ testBreak: "sync-fails" });
    const promising = promised(store.log, reports).setPromise({ epoch: 9, sid: 1, incarnation: 1 });
    const staged = promised(store.log, reports).beginStage(store.log.durable.tail);
    const installed = promised(store.log, reports).installHistory({ epoch: 9, tail: ZXID_NONE, committed: ZXID_NONE });
    const outcomes = await Promise.allSettled([promising, staged, installed]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(reports.failures).toHaveLength(1);
  });

  test("that has no room for the state continues, and the state is the one before", async () => {
    {
      await using store = await open();
      await createNodes(store, 1, 10);
      await store.state.flush();
    }
    {
      await using store = await open({ testBreak: "state-full" });
      await createNodes(store, 11, 2_000);
      const flushed = expect(store.state.flush()).rejects.toMatchObject({ code: "CLOSED" });
      while (!store.state.stats().isFull) await setImmediate();
      await createNodes(store, 2_001, 2_010);
      expect(store.state.stats().lagBytes).toBeGreaterThan(0);
      expect(reports.failures).toEqual([]);
      await store[Symbol.asyncDispose]();
      await flushed;
    }
    await using store = await open();
    expect(loaded(store).nodes.size).toBe(14);
    expect(replayed(store)).toHaveLength(2_000);
    await createNodes(store, 2_011, 2_011);
    await store.state.flush();
    expect(loaded(store).nodes.size).toBe(14 + 2_001);
  });
});

describe("staging", () => {
  test("touches neither the log nor the disk when there is nothing to stage, and never the log", () => {
    mkdirSync(directory);
    const log = new LogFile({
      directory,
      witnessFile: join(place.path, "witness"),
      sid: 1,
      takeEpoch: false,
      amnesiac: false,
      leases: new ReaderLeases().memory,
    });
    const before = log.walBytes();
    const stageFile = join(directory, "stage.db");
    log.beginStage(log.log.tail);
    log.dropStage();
    log.beginStage(log.log.tail);
    expect(existsSync(stageFile)).toBe(false);
    const { bytes } = batchOf(range(1, 5));
    log.stage(Buffer.from(bytes));
    expect(existsSync(stageFile)).toBe(true);
    expect(log.walBytes()).toBe(before);
    log.dropStage();
    expect(existsSync(stageFile)).toBe(false);
    log.close();
  });
});
