import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readStore, walkClosedLog } from "../directory/read-store.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { promised } from "../testing/promised-log.ts";
import { createNodes, settled } from "../testing/state-history.ts";
import { loaded } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

/** A survivor's log that becomes the history of another ensemble. */

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
const CONFIG = Uint8Array.of(7, 8);
const BRANCHING = { ensembleId: "new", sid: 4, epoch: 1003, config: CONFIG };

/**
 * Server 1 of ensemble `old`: nodes 1 to 10 are in the state, entries 11 to 13 are logged and not
 * known to be committed.
 */
async function makeSurvivor(options: Partial<StoreOptions> = {}): Promise<void> {
  await using store = await open({ ensembleId: "old", ...options });
  await createNodes(store, 1, 10);
  await store.state.flush();
  await promised(store.log).setPromise({ epoch: 3, sid: 2, incarnation: 1 });
  promised(store.log).append(batchOf(range(11, 13), { committed: Z(1, 10) }));
  await settled(store);
}

async function branchIt(options: Partial<StoreOptions> = {}): Promise<void> {
  await using store = await open(options);
  await store.branch(BRANCHING);
}

describe("a log that branches", () => {
  test("has all that it logged committed, another identity, a later epoch and one configuration", async () => {
    await makeSurvivor();
    await branchIt();
    await using store = await open({ sid: 4 });
    expect(store.log.durable).toMatchObject({
      identity: { ensembleId: "new", sid: 4 },
      promise: { epoch: 1003, sid: 4 },
      currentEpoch: 1003,
      tail: { zxid: Z(1, 13) },
      commitHint: Z(1, 13),
      committedConfig: CONFIG,
      lastSeenConfig: CONFIG,
      amnesiac: false,
      branches: [{ ensembleId: "old", sid: 1, at: { zxid: Z(1, 13) } }],
    });
    const { applied } = store.loadState({ session: () => {}, node: () => {} });
    expect(store.replay(applied, () => {}, store.log.durable.commitHint).zxid).toBe(Z(1, 13));
  });

  test("is no longer a directory of the server and the ensemble that it was", async () => {
    await makeSurvivor();
    await branchIt();
    await expect(open()).rejects.toMatchObject({ code: "FOREIGN" });
    await expect(open({ sid: 4, ensembleId: "old" })).rejects.toMatchObject({ code: "FOREIGN" });
  });

  test("takes its state along, which learners of the new ensemble accept", async () => {
    await makeSurvivor();
    await branchIt();
    await using store = await open({ sid: 4 });
    expect(loaded(store).nodes.size).toBe(14);
    expect(store.state.applied.ensembleId).toBe("new");
    await using learner = await openStore({
      directory: join(place.path, "learner"),
      sid: 5,
      ensembleId: "new",
      handler: reports,
    });
    await using source = await store.openSnapshot();
    const receiver = await learner.receiveSnapshot(source.position);
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) await receiver.add(chunk);
    expect((await receiver.finish()).position).toEqual(source.position);
  });

  test("counts a log that ends where its newest segment begins as committed, too", async () => {
    await makeSurvivor();
    {
      await using store = await open();
      await promised(store.log).cut(Z(1, 12));
      await store.branch(BRANCHING);
    }
    await using store = await open({ sid: 4 });
    expect(store.log.durable).toMatchObject({ tail: { zxid: Z(1, 12) }, commitHint: Z(1, 12), currentEpoch: 1003 });
    expect(store.log.durable.branches).toMatchObject([{ at: { zxid: Z(1, 12) } }]);
  });

  test("remembers each branch through later segments and later branches", async () => {
    await makeSurvivor();
    await branchIt();
    {
      await using store = await open({ sid: 4, segmentBytes: 64 * 1024 });
      const records = range(1, 200).map(() => new Uint8Array(1000));
      promised(store.log).append(
        batchOf(
          records.map((_, i) => Z(1004, i + 1)),
          { records },
        ),
      );
      await settled(store);
      await expect.poll(() => store.log.stats().segmentCount).toBeGreaterThan(1);
      await store.branch({ ...BRANCHING, ensembleId: "newer", epoch: 3000 });
    }
    await using store = await open({ sid: 4 });
    const found = store.log.durable.branches.map(({ ensembleId, sid, at }) => [ensembleId, sid, at.zxid]);
    expect(found).toEqual([
      ["old", 1, Z(1, 13)],
      ["new", 4, Z(1004, 200)],
    ]);
  });

  test("ends amnesia, since no other server can", async () => {
    await makeSurvivor();
    const database = new Sqlite(join(directory, newestSegment(directory)));
    database.exec(`DELETE FROM log WHERE zxid > ${Z(1, 11)}`);
    database.close();
    await expect(branchIt()).rejects.toMatchObject({ code: "LOG_SHORTENED" });
    await branchIt({ allowAmnesia: true });
    await using store = await open({ sid: 4 });
    expect(store.log.durable).toMatchObject({ amnesiac: false, tail: { zxid: Z(1, 11) }, commitHint: Z(1, 11) });
  });

  test("takes no epoch that it knows, and no id that it has", async () => {
    await makeSurvivor();
    for (const wrong of [{ epoch: 3 }, { ensembleId: "old" }, { ensembleId: "" }]) {
      await using store = await open();
      void store.branch({ ...BRANCHING, ...wrong });
      await expect.poll(() => reports.failures.at(-1)).toMatchObject({ code: "DEFECT" });
      reports.failures.pop();
    }
    await using store = await open();
    expect(store.log.durable).toMatchObject({ identity: { ensembleId: "old" }, branches: [], promise: { epoch: 3 } });
  });

  test("does not lend its state to an identity that it had not", async () => {
    await makeSurvivor();
    await branchIt();
    const database = new Sqlite(join(directory, newestSegment(directory)));
    database.exec("DROP TABLE branches");
    database.close();
    await expect(open({ sid: 4 })).rejects.toMatchObject({ code: "FOREIGN" });
  });

  test("names a damaged branch", async () => {
    await makeSurvivor();
    await branchIt();
    const database = new Sqlite(join(directory, newestSegment(directory)));
    database.exec("UPDATE branches SET zxid = zxid + 1");
    database.close();
    await expect(open({ sid: 4 })).rejects.toMatchObject({
      detail: { code: "DAMAGED", place: "table branches, row 0" },
    });
  });
});

describe("a directory that is read", () => {
  const places = (): { directory: string; logDirectory: string } => ({ directory, logDirectory: directory });
  const content = (): readonly (readonly [string, number, string])[] =>
    readdirSync(directory)
      .filter((name) => !name.endsWith("-shm") && !name.startsWith("zooid."))
      .map((name) => [name, statSync(join(directory, name)).mtimeMs, readFileSync(join(directory, name), "latin1")]);

  test("says whose it is, where it ends and which epochs it knows, and stays as it is", async () => {
    await makeSurvivor();
    const before = content();
    const { log, applied, shortened, epochMax } = readStore(places());
    expect(log).toMatchObject({
      identity: { ensembleId: "old", sid: 1 },
      tail: { zxid: Z(1, 13) },
      commitHint: Z(1, 10),
    });
    expect([applied?.zxid, shortened, epochMax]).toEqual([Z(1, 10), undefined, 3]);
    const zxids: number[] = [];
    expect(walkClosedLog(places(), Z(1, 10), (zxid) => zxids.push(zxid))).toBe(3);
    expect(zxids).toEqual(range(11, 13));
    expect(content()).toEqual(before);
  });

  test("that is in use is refused, with the process that has it", async () => {
    await using _store = await open();
    expect(() => readStore(places())).toThrow(`in use by process ${process.pid}`);
  });

  test("that is empty, or not there, has no log, and gets no file", () => {
    expect(readStore(places()).log).toBeUndefined();
    expect(readStore({ directory: place.path, logDirectory: place.path }).log).toBeUndefined();
    expect(readdirSync(place.path)).toEqual([]);
  });

  test("has lost what the witness knows of", async () => {
    await makeSurvivor();
    const database = new Sqlite(join(directory, newestSegment(directory)));
    database.exec(`DELETE FROM log WHERE zxid > ${Z(1, 11)}`);
    database.close();
    expect(readStore(places()).shortened).toMatchObject({ code: "LOG_SHORTENED" });
  });
});
