import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { formatsAt, formatZxid, type ReadResult, type Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { findWitnessDamage, readWitness, WitnessFile } from "../directory/witness.ts";
import { CHAIN_NONE } from "../log/chain.ts";
import { LogFile } from "../log/log-file.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { leavesWhatWasCompleted } from "../testing/killed-process.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { promised } from "../testing/promised-log.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { batchOf, RecordingHandler, range, recordsOf, Z, zxidsOf } from "../testing/txn-log-contract.ts";
import { StoreError } from "./store-error.ts";

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

/** A write is answered after everything before it was reported. */
const settle = (store: Store): Promise<void> => promised(store.log).setConfigs({});

/** Reads from the floor, and answers where the log ends. */
async function readToEnd(store: Store): Promise<unknown> {
  let at = store.log.durable.floor;
  for (;;) {
    const run = await promised(store.log).read(at.zxid, 1 << 24);
    if (run.count === 0) return at;
    at = run.last;
  }
}

/** Stores that were made once, by how many entries they have. */
const filled = new Map<number, string>();
const templates = new TemporaryDirectory();
afterAll(() => templates[Symbol.dispose]());

/** Puts a store with entries 1 to `count` of epoch 1 into the directory, closed again. */
async function fill(count: number): Promise<void> {
  const template = filled.get(count) ?? join(templates.path, String(count));
  if (!filled.has(count)) {
    await using store = await open({ directory: template });
    promised(store.log).append(batchOf(range(1, count)));
    await settle(store);
    filled.set(count, template);
  }
  cpSync(template, directory, { recursive: true });
}

/** Changes a file, or the newest segment, as no server of ours would. */
function tamper(file: string | "newest", sql: string): void {
  const database = new Sqlite(join(directory, file === "newest" ? newestSegment(directory) : file));
  database.exec(sql);
  database.close();
}

const refusal = async (options: Partial<StoreOptions> = {}): Promise<StoreError> => {
  try {
    await using _store = await open(options);
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error("the store opened");
};

describe("opening", () => {
  test("directory and files are for their owner alone", async () => {
    await using _store = await open();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(directory))
      expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  test("a second holder gets one clear error that names the first", async () => {
    await using _store = await open();
    const error = await refusal();
    expect(error.detail).toMatchObject({ code: "LOCKED", pid: process.pid });
    expect(error.message).toContain(`process ${process.pid}`);
  });

  test("a directory of Apache's is refused and stays unchanged", async () => {
    mkdirSync(join(directory, "version-2"), { recursive: true });
    for (const file of ["snapshot.0", "snapshot.5f.gz", "log.100000001", "currentEpoch", "acceptedEpoch"]) {
      writeFileSync(join(directory, "version-2", file), "");
      expect((await refusal()).code).toBe("FOREIGN");
      expect(readdirSync(directory)).toEqual(["version-2"]);
      rmSync(join(directory, "version-2", file));
    }
  });

  test("a directory that was made for Apache and holds no file of Apache's is no data of Apache's", async () => {
    mkdirSync(join(directory, "version-2"), { recursive: true });
    writeFileSync(join(directory, "version-2", "README"), "");
    await using store = await open();
    expect(store.log.durable.identity.sid).toBe(1);
  });

  test("another server's directory is refused and its start is not counted", async () => {
    await fill(1);
    expect((await refusal({ sid: 2 })).code).toBe("FOREIGN");
    await using store = await open();
    expect(store.log.durable.identity.bootCount).toBe(2);
  });

  test("another ensemble's directory is refused", async () => {
    await (await open({ ensembleId: "red" }))[Symbol.asyncDispose]();
    expect((await refusal({ ensembleId: "blue" })).code).toBe("FOREIGN");
  });

  test("a newer format is refused", async () => {
    await fill(1);
    const error = { code: "NEWER_FORMAT", known: 3, found: 4 };
    tamper("newest", "UPDATE store SET format = 4; PRAGMA user_version = 4");
    expect((await refusal()).detail).toMatchObject(error);
    tamper("newest", "UPDATE store SET format = 3; PRAGMA user_version = 3");
    tamper("state-1.db", "UPDATE meta SET format = 4; PRAGMA user_version = 4");
    expect((await refusal()).detail).toMatchObject({ ...error, file: join(directory, "state-1.db") });
    tamper("log.db", "UPDATE store SET format = 4; PRAGMA user_version = 4");
    expect((await refusal()).detail).toMatchObject({ ...error, file: join(directory, "log.db") });
  });

  test.each([1, 2].flatMap((format) => ["newest", "state-1.db", "log.db"].map((file) => [format, file] as const)))(
    "format %i of %s, which no released version wrote, is refused",
    async (format, file) => {
      await fill(1);
      const table = file === "state-1.db" ? "meta" : "store";
      tamper(file, `UPDATE ${table} SET format = ${format}; PRAGMA user_version = ${format}`);
      const found = expect.stringContaining(`format ${format},`);
      expect((await refusal()).detail).toMatchObject({ code: "FOREIGN", found });
    },
  );

  test("a new directory has the formats of the lowest feature level", async () => {
    await fill(1);
    const stamp = (file: string) => readFileSync(join(directory, file)).readInt32BE(60);
    expect([stamp("log.db"), stamp("state-1.db")]).toEqual([formatsAt(1).log, formatsAt(1).state]);
  });

  test("a newer format is refused with the feature level that its mark names", async () => {
    await fill(1);
    tamper("log.db", "UPDATE store SET format = 4, level = 2, since = '0.2.0'; PRAGMA user_version = 4");
    const { detail, message } = await refusal();
    expect(detail).toMatchObject({ code: "NEWER_FORMAT", level: 2, since: "0.2.0" });
    expect(message).toBe(
      `${join(directory, "log.db")} has format 4 of feature level 2, which version 0.2.0 and later know, this version knows formats up to 3; nothing was changed`,
    );
  });

  test("a state of a newer format is refused with the feature level of its log, whose format is older", async () => {
    {
      await using store = await open();
      const levelRaise = { level: 2, zxid: Z(1, 1), replaced: 1 };
      promised(store.log).append({ ...batchOf([Z(1, 1)]), marks: { levelRaise } });
      await settle(store);
    }
    tamper("state-1.db", "UPDATE meta SET format = 4; PRAGMA user_version = 4");
    expect((await refusal()).detail).toMatchObject({ code: "UNKNOWN_LEVEL", directory, level: 2 });
  });

  test.each(["ALTER TABLE store DROP COLUMN since", "ALTER TABLE store RENAME COLUMN level TO other"])(
    "a newer format whose mark names no feature level is refused (%s)",
    async (change) => {
      await fill(1);
      tamper("log.db", `UPDATE store SET format = 4; PRAGMA user_version = 4; ${change}`);
      const { message } = await refusal();
      expect(message).toMatch(/log\.db has format 4, this version knows formats up to 3; nothing was changed$/);
    },
  );

  test.each([
    ["newest", "store"],
    ["log.db", "store"],
    ["state-1.db", "meta"],
  ])("a flipped bit in the format's number of %s is damage, and no newer format", async (file, table) => {
    await fill(1);
    const name = file === "newest" ? newestSegment(directory) : file;
    tamper(file, `UPDATE ${table} SET format = format | 8`);
    const error = { code: "DAMAGED", file: join(directory, name), place: `table ${table}, row 1` };
    expect((await refusal()).detail).toMatchObject(error);
    tamper(file, "PRAGMA user_version = 0");
    expect((await refusal()).detail).toMatchObject(error);
  });

  test.each(["newest", "log.db", "state-1.db"])("the header of %s has the number of its format", async (file) => {
    await fill(1);
    const name = file === "newest" ? newestSegment(directory) : file;
    const database = new Sqlite(join(directory, name), { readonly: true });
    expect(database.pragma("user_version", { simple: true })).toBe(3);
    database.close();
  });

  test("a promise that was changed on the disk is found out", async () => {
    await fill(1);
    tamper("newest", "UPDATE store SET promise_epoch = 0, boot_count = 7");
    expect((await refusal()).detail).toMatchObject({ code: "DAMAGED", place: "table store, row 1" });
  });

  test("a file that is no database is damaged, not new", async () => {
    await fill(1);
    for (const file of ["log.db", newestSegment(directory)]) {
      const whole = readFileSync(join(directory, file));
      writeFileSync(join(directory, file), "x".repeat(10_000));
      expect((await refusal()).code).toBe("DAMAGED");
      writeFileSync(join(directory, file), whole);
    }
  });

  test("a directory that cannot be made is unreadable", async () => {
    // Below a regular file nothing can be made, not even by root.
    const file = `${directory}-file`;
    writeFileSync(file, "");
    const refused = await openStore({ directory: join(file, "data"), sid: 1, handler: reports }).catch(
      (error) => error,
    );
    rmSync(file);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.code).toBe("UNREADABLE");
  });

  test("a store whose making was cut short is made again", async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, "log.db"), "");
    await using store = await open();
    expect(store.log.durable.identity.bootCount).toBe(1);
  });

  test("a state file whose making was cut short is made again", async () => {
    await fill(1);
    renameSync(join(directory, "state-1.db"), join(directory, "state-1.db.new"));
    truncateSync(join(directory, "state-1.db.new"), 4096);
    await using store = await open();
    expect(readdirSync(directory)).toContain("state-1.db");
    expect(readdirSync(directory)).not.toContain("state-1.db.new");
    expect(store.log.durable.tail.zxid).toBe(Z(1, 1));
  });

  test("a state file that no log names is removed", async () => {
    await fill(1);
    writeFileSync(join(directory, "state-9.db"), "half a transfer");
    await using _store = await open();
    expect(existsSync(join(directory, "state-9.db"))).toBe(false);
  });
});

describe("a log in a directory of its own", () => {
  const apart = (options: Partial<StoreOptions> = {}): Partial<StoreOptions> => ({
    logDirectory: join(place.path, "log"),
    ...options,
  });
  const names = (of: string): string[] => readdirSync(of).sort();

  async function fillApart(count: number): Promise<void> {
    await using store = await open(apart());
    promised(store.log).append(batchOf(range(1, count)));
    await settle(store);
  }

  test("log and witness lie there, the state does not, and both are found again", async () => {
    await fillApart(3);
    expect(names(directory)).toEqual(["state-1.db", "zooid.lock", "zooid.pid"]);
    const segment = newestSegment(join(place.path, "log"));
    const files = [
      "disk-id",
      segment,
      `${segment}-shm`,
      `${segment}-wal`,
      "log.db",
      "witness",
      "zooid.lock",
      "zooid.pid",
    ];
    expect(names(join(place.path, "log"))).toEqual(files);
    await using store = await open(apart());
    expect(store.log.durable).toMatchObject({ identity: { bootCount: 2 }, tail: { zxid: Z(1, 3) } });
    expect(store.replay(store.state.applied.applied, () => {})).toEqual(store.log.durable.tail);
  });

  test("either directory alone is locked too", async () => {
    await using _store = await open(apart());
    const log = join(place.path, "log");
    expect((await refusal()).detail).toMatchObject({ code: "LOCKED", directory });
    const other = await refusal({ directory: join(place.path, "other"), logDirectory: log });
    expect(other.detail).toMatchObject({ code: "LOCKED", directory: log });
    expect(existsSync(join(place.path, "other"))).toBe(false);
  });

  test("two names of one directory are one directory", async () => {
    mkdirSync(directory);
    symlinkSync(directory, join(place.path, "log"));
    await fillApart(1);
    expect(names(directory)).toContain("log.db");
    expect(names(directory)).toContain("state-1.db");
  });

  test("a log that is looked for in the wrong place is not begun a second time", async () => {
    await fillApart(3);
    expect((await refusal()).code).toBe("LOG_SHORTENED");
    expect(names(directory)).not.toContain("log.db");
    place[Symbol.dispose]();
    await fill(3);
    const error = await refusal(apart());
    expect(error.detail).toMatchObject({ code: "LOG_SHORTENED", found: `none there, but one in ${directory}` });
    expect(existsSync(join(place.path, "log"))).toBe(false);
  });

  test("another server's log is refused, and so is a directory of Apache's in either place", async () => {
    await fillApart(1);
    expect((await refusal(apart({ sid: 2 }))).code).toBe("FOREIGN");
    for (const which of ["log", "data"]) {
      place[Symbol.dispose]();
      mkdirSync(join(place.path, which, "version-2"), { recursive: true });
      writeFileSync(join(place.path, which, "version-2", "log.1"), "");
      expect((await refusal(apart())).code).toBe("FOREIGN");
      expect(names(place.path)).toEqual([which]);
      expect(names(join(place.path, which))).toEqual(["version-2"]);
    }
  });

  test("a state of another log than the one it is opened with is refused", async () => {
    await fillApart(3);
    const other = { directory: join(place.path, "other"), logDirectory: join(place.path, "other-log") };
    {
      await using store = await open(other);
      promised(store.log).append(batchOf(range(1, 3), { records: range(1, 3).map(() => new Uint8Array(7)) }));
      await settle(store);
    }
    const state = new Sqlite(join(other.directory, "state-1.db"));
    state.exec(`UPDATE meta SET applied = ${Z(1, 2)}, chain_low = 77`);
    state.close();
    expect((await refusal(apart({ directory: other.directory }))).code).toBe("DAMAGED");
  });
});

describe("amnesia", () => {
  test("a log shorter than its witness is refused, or opened as an amnesiac on demand", async () => {
    await fill(5);
    tamper("newest", `DELETE FROM log WHERE zxid > ${Z(1, 3)}`);
    expect((await refusal()).detail).toMatchObject({ code: "LOG_SHORTENED", expected: "entries up to 0x100000005" });
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: Z(1, 3) } });
  });

  test("amnesia is remembered", async () => {
    await fill(5);
    tamper("newest", `DELETE FROM log WHERE zxid > ${Z(1, 3)}`);
    await (await open({ allowAmnesia: true }))[Symbol.asyncDispose]();
    await using store = await open();
    expect(store.log.durable.amnesiac).toBe(true);
  });

  test("a log that is gone while its witness is there is refused", async () => {
    await fill(1);
    const witness = readFileSync(join(directory, "witness"));
    place[Symbol.dispose]();
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "witness"), witness);
    expect((await refusal()).code).toBe("LOG_SHORTENED");
  });

  test("a log that is gone is refused though its witness is damaged, too", async () => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "witness"), Buffer.alloc(64));
    expect((await refusal()).code).toBe("LOG_SHORTENED");
  });

  test.each([0, 10, 63])(
    "a witness torn to %i bytes is reported, and keeps no log from being opened",
    async (length) => {
      await fill(3);
      const file = join(directory, "witness");
      writeFileSync(file, readFileSync(file).subarray(0, length));
      {
        await using store = await open();
        expect(store.log.durable.tail.zxid).toBe(Z(1, 3));
      }
      expect(reports.warnings).toEqual([expect.stringContaining(file)]);
      await using _again = await open();
      expect(reports.warnings).toHaveLength(1);
    },
  );

  test("a cut lowers the witness, so that it is no amnesia", async () => {
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(1, 5)));
      await promised(store.log).cut(Z(1, 2));
    }
    expect(readWitness(join(directory, "witness"))?.zxid).toBe(Z(1, 2));
    await using store = await open();
    expect(store.log.durable.tail.zxid).toBe(Z(1, 2));
  });

  test("each byte of a witness is covered by its sum", () => {
    mkdirSync(directory);
    const file = join(directory, "witness");
    const witness = new WitnessFile(file);
    const written = {
      zxid: Z(3, 4),
      chain: CHAIN_NONE,
      promise: 5,
      bootCount: 6,
      currentEpoch: 4,
      wal: { salt: 2n ** 63n, frameCount: 7 },
    };
    witness.write(written);
    witness.close();
    expect(readWitness(file)).toEqual(written);
    expect(findWitnessDamage(file)).toBeUndefined();
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      expect(readWitness(file)).toBeUndefined();
      expect(findWitnessDamage(file)?.code).toBe("DAMAGED");
    }
  });
});

describe("damage", () => {
  test("a byte changed in each part of a log row is found by reading and by replay from the entry before it", async () => {
    await fill(9);
    // Each row behind one that is whole.
    const parts = [0, 4, 8, 12].map((at, i) => ({ at, zxid: Z(1, 2 * i + 2), before: Z(1, 2 * i + 1) }));
    for (const { at, zxid } of parts) {
      const entry = `substr(entry, 1, ${at}) || x'ff' || substr(entry, ${at + 2})`;
      tamper("newest", `UPDATE log SET entry = CAST(${entry} AS BLOB) WHERE zxid = ${zxid}`);
    }
    await using store = await open();
    const { applied } = store.loadState({ session: () => {}, node: () => {} });
    expect(() => store.replay(applied, () => {})).toThrow(formatZxid(parts[0]?.zxid as Zxid));
    for (const { zxid, before } of parts) {
      await expect(promised(store.log).read(before, 1 << 20)).rejects.toMatchObject({ code: "damaged" });
      expect(reports.warnings.at(-1)).toContain(`table log, row ${formatZxid(zxid)}`);
      const chain = await promised(store.log).chainAt(before);
      if (chain === undefined) throw new Error(`${formatZxid(before)} is in the log`);
      expect(() => store.replay({ zxid: before, chain }, () => {})).toThrow(formatZxid(zxid));
    }
  });

  test("a row that is lost in the middle is found", async () => {
    await fill(9);
    tamper("newest", `DELETE FROM log WHERE zxid = ${Z(1, 5)}`);
    await using store = await open();
    await expect(promised(store.log).read(Z(0, 0), 1 << 20)).rejects.toMatchObject({ code: "damaged" });
    expect(reports.warnings).toContainEqual(expect.stringContaining("table log, row 0x100000006"));
  });
});

describe("writing", () => {
  test("synchronous FULL and a WAL are what SQLite says it does", () => {
    mkdirSync(directory);
    const file = new LogFile(logFileOptions());
    expect(file.pragma("synchronous")).toBe(2);
    expect(file.pragma("journal_mode")).toBe("wal");
    file.close();
  });

  test("a full disk undoes the batch and leaves the log unchanged", () => {
    mkdirSync(directory);
    const file = new LogFile(logFileOptions());
    add(file, range(1, 3), 100);
    const before = file.log;
    file.limitPages(24);
    expect(() => add(file, range(4, 2000), 1000)).toThrow("full");
    expect(file.undo()).toBe(true);
    expect(file.log).toBe(before);
    file.limitPages(1_000_000);
    add(file, range(4, 5), 100);
    expect(file.log.tail.zxid).toBe(Z(1, 5));
    file.close();
  });

  test("a slow sync is warned about", async () => {
    await using store = await open({ fsyncWarnMs: 0 });
    promised(store.log).append(batchOf(range(1, 1)));
    await settle(store);
    expect(reports.warnings[0]).toMatch(/^fsync-ing the write ahead log in/);
    expect(store.log.stats().slowSyncCount).toBe(1);
  });

  test("batches beyond the ring's room and larger than the ring keep their order", async () => {
    await using store = await open({ ringBytes: 64 * 1024 });
    let next = 1;
    for (const size of [40_000, 500, 200_000, 20_000, 1, 300_000, 20_000, 20_000, 20_000]) {
      const records = [Buffer.alloc(size, next)];
      const batch = batchOf([Z(1, next++)], { records });
      promised(store.log).append({ ...batch, bytes: Buffer.from(batch.bytes.buffer) });
      batch.bytes.fill(0);
    }
    await settle(store);
    expect(reports.completions.map(({ zxid }) => zxid)).toEqual(range(1, 9));
    expect((await promised(store.log).read(Z(0, 0), 10_000_000)).count).toBe(9);
  });

  test("a log under a sustained load continues in segments of their length, and reuses them once they are purged", async () => {
    const segmentBytes = 1024 * 1024;
    await using store = await open({ segmentBytes, logKeepBytes: 2 * segmentBytes });
    const records = new Array(100).fill(Buffer.alloc(1000, 1));
    /** The segment that a WAL belonged to when it was last seen. */
    const segmentOf = new Map<string, string>();
    let reuseCount = 0;
    for (let next = 1; reuseCount < 5; next += 100) {
      promised(store.log).append(batchOf(range(next, next + 99), { records, committed: Z(1, next - 1) }));
      await settle(store);
      store.log.allowPurge(Z(1, next - 1));
      const segment = newestSegment(directory);
      const { ino, birthtimeMs } = statSync(join(directory, `${segment}-wal`));
      // A new file may have the number of one that was removed.
      const wal = `${ino} ${birthtimeMs}`;
      if ((segmentOf.get(wal) ?? segment) !== segment) reuseCount++;
      segmentOf.set(wal, segment);
    }
    const { rollCount, purgedCount } = store.log.stats();
    expect(rollCount).toBeGreaterThanOrEqual(reuseCount);
    expect(purgedCount).toBeGreaterThan(2);
    const bytes = readdirSync(directory)
      .filter((name) => name.startsWith("log-"))
      .reduce((sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0), 0);
    expect(bytes).toBeLessThan(20 * segmentBytes);
    // More of it may go before the read does.
    expect(await readToEnd(store).catch(() => readToEnd(store))).toEqual(store.log.durable.tail);
  });

  test("segments that are purged at once are reused one after another", async () => {
    const segmentBytes = 64 * 1024;
    await using store = await open({ segmentBytes, logKeepBytes: 2 * segmentBytes });
    const records = new Array(20).fill(Buffer.alloc(500));
    let next = 1;
    const rollOn = async (times: number): Promise<void> => {
      const { rollCount } = store.log.stats();
      while (store.log.stats().rollCount < rollCount + times) {
        promised(store.log).append(batchOf(range(next, next + 19), { records, committed: Z(1, next - 1) }));
        next += 20;
        await settle(store);
        // A segment that waited for its spare is longer than others, and is removed instead of
        // reused.
        const isWanted = (): boolean => store.log.stats().walBytes >= segmentBytes / 4;
        const hasSpare = (): boolean => existsSync(join(directory, "spare.db-wal"));
        await expect.poll(() => !isWanted() || hasSpare(), { interval: 5 }).toBe(true);
      }
    };
    // A new file may have the number of one that was removed.
    const walOf = (name: string): string => {
      const { ino, birthtimeMs } = statSync(join(directory, name));
      return `${ino} ${birthtimeMs}`;
    };
    await rollOn(8);
    const wals = new Set(readdirSync(directory).flatMap((name) => (name.endsWith("db-wal") ? [walOf(name)] : [])));
    store.log.allowPurge(Z(1, next - 1));
    // The spare of this roll may be a new one, made before the purge.
    await rollOn(1);
    for (let i = 0; i < 4; i++) {
      await rollOn(1);
      expect(wals).toContain(walOf(`${newestSegment(directory)}-wal`));
    }
    expect(await readToEnd(store)).toEqual(store.log.durable.tail);
    expect(reports.failures).toEqual([]);
  });

  test("without a next segment the newest one grows, one line says so, and another one begins once it can", async () => {
    const segmentBytes = 64 * 1024;
    await using store = await open({ segmentBytes });
    let next = 1;
    const append = async (): Promise<void> => {
      promised(store.log).append(batchOf(range(next, next + 19), { records: new Array(20).fill(Buffer.alloc(500)) }));
      next += 20;
      await settle(store);
    };
    // Something stands where the helper makes it.
    const obstacle = join(directory, "spare.wal");
    mkdirSync(obstacle);
    while (store.log.stats().walBytes < 3 * segmentBytes) await append();
    expect(store.log.stats()).toMatchObject({ rollCount: 0, segmentCount: 1 });
    expect(reports.warnings.filter((text) => text.includes("the newest one grows"))).toHaveLength(1);
    rmdirSync(obstacle);
    while (store.log.stats().rollCount === 0) await append();
    expect(await readToEnd(store)).toEqual(store.log.durable.tail);
    expect(reports.warnings.filter((text) => text.includes("the newest one grows"))).toHaveLength(1);
    expect(reports.failures).toEqual([]);
  });

  test("readers beside a log that purges and reuses its segments see what was written and nothing else", async () => {
    const segmentBytes = 64 * 1024;
    await using store = await open({ segmentBytes, logKeepBytes: 2 * segmentBytes });
    const recordOf = (zxid: Zxid): Buffer => Buffer.alloc(500, `${zxid} `);
    let isOver = false;
    let readCount = 0;
    const readOn = async (): Promise<void> => {
      while (!isOver) {
        for (let at = store.log.durable.floor.zxid; ; ) {
          const from = at;
          const run = await reports.promise<ReadResult>((done) => store.log.read(from, 20_000, done));
          // It was purged before the read began.
          if (run === "below-floor") break;
          if (run === "damaged") throw new Error("what was written is read");
          const zxids = zxidsOf(run.bytes);
          recordsOf(run.bytes).forEach((record, i) => {
            if (!recordOf(zxids[i] as Zxid).equals(record)) throw new Error(`a wrong record at ${zxids[i]}`);
          });
          readCount += zxids.length;
          if (run.count === 0) break;
          at = run.last.zxid;
        }
        store.replay(store.log.durable.tail, () => {});
      }
    };
    const readers = [readOn(), readOn()];
    for (let next = 1; store.log.stats().purgedCount < 20; next += 20) {
      const zxids = range(next, next + 19);
      promised(store.log).append(batchOf(zxids, { records: zxids.map(recordOf), committed: Z(1, next - 1) }));
      await settle(store);
      store.log.allowPurge(Z(1, next - 1));
    }
    isOver = true;
    await Promise.all(readers);
    expect(readCount).toBeGreaterThan(1000);
    expect(reports.failures).toEqual([]);
  });

  test("a log that is closed while the next segment is made writes all that it was given, and ends", async () => {
    const record = Buffer.alloc(1000, 1);
    const records = new Array(500).fill(record);
    await using store = await open({ segmentBytes: 64 * 1024 });
    // More than the ring holds: most of it is still to be written when the log is closed.
    for (let next = 1; next < 10_000; next += 500)
      promised(store.log).append(batchOf(range(next, next + 499), { records }));
    await store[Symbol.asyncDispose]();
    await using again = await open();
    expect(again.log.durable.tail.zxid).toBe(Z(1, 10_000));
  });

  test("what the state holds is purged from the log, apart from what is to be kept", async () => {
    const logKeepBytes = 1024 * 1024;
    await using store = await open({ logKeepBytes });
    const records = new Array(1000).fill(Buffer.alloc(1000, 1));
    for (let first = 1; first < 8000; first += 1000) {
      promised(store.log).append(batchOf(range(first, first + 999), { records, committed: Z(1, first - 1) }));
    }
    await settle(store);
    store.log.allowPurge(Z(1, 5000));
    for (let next = 8001; store.log.durable.floor.zxid === 0; next++) {
      promised(store.log).append(batchOf([Z(1, next)], { committed: Z(1, next - 1) }));
      await settle(store);
    }
    await expect(promised(store.log).read(Z(0, 0), 1)).rejects.toMatchObject({ code: "below-floor" });
    // It goes in slices, and more of them may go before the read does.
    for (;;) {
      const { floor } = store.log.durable;
      expect(floor.zxid).toBeLessThanOrEqual(Z(1, 5000));
      const run = await promised(store.log)
        .read(floor.zxid, 1)
        .catch(() => undefined);
      if (run === undefined) continue;
      expect(run.after).toEqual(floor);
      break;
    }
  });

  function logFileOptions(): ConstructorParameters<typeof LogFile>[0] {
    return {
      directory,
      witnessFile: join(directory, "witness"),
      sid: 1,
      takeEpoch: false,
      amnesiac: false,
      leases: new ReaderLeases().memory,
    };
  }

  function add(file: LogFile, zxids: ReturnType<typeof range>, size: number): void {
    const batch = batchOf(zxids, { records: zxids.map(() => new Uint8Array(size)) });
    file.begin();
    file.add(Buffer.from(batch.bytes.buffer), 0, batch.end, Z(0, 0));
    file.commit();
  }
});

test("a killed process leaves every completed batch and a free directory", () => leavesWhatWasCompleted(directory));
