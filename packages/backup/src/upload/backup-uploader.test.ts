import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { composeZxid, counterOf, type Zxid } from "@zooid/model";
import type { LogPosition } from "@zooid/txn-log";
import { ARCHIVE_START, baseOf, fileBehind, otherChainAt, rewriteFooter } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listBackup } from "../contents/backup-listing.ts";
import { verifyBackup } from "../contents/verify-backup.ts";
import type { BackupTarget } from "../targets/backup-target.ts";
import { DirectoryTarget } from "../targets/directory-target.ts";
import { BackupUploader, type PassResult, type UploadEvent } from "./backup-uploader.ts";
import { Pace } from "./pace.ts";

const HOUR_MS = 3_600_000;
let place: TemporaryDirectory;
let target: DirectoryTarget;
let nowMs: number;
let events: UploadEvent[];
beforeEach(() => {
  place = new TemporaryDirectory();
  target = new DirectoryTarget(place.path);
  nowMs = 10 * HOUR_MS;
  events = [];
});
afterEach(() => place[Symbol.dispose]());

/** A server with an archive; the archives of all are copies of one history. */
class Member {
  readonly archive: string;
  readonly uploader: BackupUploader;
  baseCount = 0;
  /** Where its state is. */
  end: LogPosition = ARCHIVE_START;

  constructor(sid: number, through: BackupTarget = target, retainMs = 0) {
    this.archive = join(place.path, `archive-${sid}`);
    this.uploader = new BackupUploader({
      target: through,
      archive: this.archive,
      holder: `server ${sid}`,
      baseEveryMs: HOUR_MS,
      retainMs,
      leaseMs: 60_000,
      pace: new Pace(
        0,
        () => 0,
        async () => {},
      ),
      flush: async () => this.flush(),
      takeBase: async () => {
        this.baseCount++;
        await baseOf(this.archive, this.end, nowMs);
      },
      noted: (event) => events.push(event),
      wallMs: () => nowMs,
      steadyMs: () => nowMs,
    });
  }

  /** Writes the server's history when it is asked for its transactions. */
  flush: () => void = () => {};

  /** Archives transactions in a file. */
  write(count: number, salt = ""): void {
    this.end = fileBehind(
      this.archive,
      this.end,
      Array.from({ length: count }, (_, i) => nowMs + counterOf(this.end.zxid) + i),
      salt,
    );
  }

  pass(isForced = false, ensembleId = ""): Promise<PassResult> {
    return this.uploader.pass({ ensembleId, isForced });
  }
}

const kinds = (): readonly string[] => events.map(({ kind }) => kind);
const files = async () => (await listBackup(target)).files.map(({ after, end }) => [low(after), low(end)]);
const bases = async () => (await listBackup(target)).bases.map(({ zxid }) => low(zxid));
const low = (zxid: number): number => zxid % 2 ** 32;
const at = (counter: number): Zxid => composeZxid(1, counter);
async function problems(): Promise<readonly string[]> {
  return (await verifyBackup(target, join(place.path, "scratch"))).problems;
}

test("the first pass uploads all files and a base, which is read back", async () => {
  const one = new Member(1);
  one.write(2);
  one.write(3);
  const { facts, isHolder } = await one.pass();
  expect(isHolder).toBe(true);
  expect([await files(), await bases(), one.baseCount]).toEqual([
    [
      [0, 2],
      [2, 5],
    ],
    [5],
    1,
  ]);
  expect(facts).toMatchObject({ baseTakenMs: nowMs, verifiedMs: nowMs, passedMs: nowMs, gapCount: 0 });
  expect(kinds()).toEqual(["holder", "base"]);
  expect(await problems()).toEqual([]);
});

test("a later pass uploads what is new, and a base when one is due", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  one.write(1);
  nowMs += HOUR_MS - 1;
  await one.pass();
  expect([await files(), await bases()]).toEqual([
    [
      [0, 2],
      [2, 3],
    ],
    [2],
  ]);
  nowMs += 1;
  await one.pass();
  expect(await bases()).toEqual([2, 3]);
});

test("behind a state that took the place of the first base, a base is uploaded that the files continue", async () => {
  const one = new Member(1);
  await baseOf(one.archive, one.end, nowMs);
  await one.pass();
  expect([await files(), await bases()]).toEqual([[], [0]]);
  one.end = { zxid: at(4), chain: 7n as LogPosition["chain"] };
  await baseOf(one.archive, one.end, nowMs);
  one.write(2);
  await one.pass();
  expect([await files(), await bases(), one.baseCount]).toEqual([[[4, 6]], [0, 4], 0]);
});

test("a base of the archive that is recent is uploaded, and none is taken", async () => {
  const one = new Member(1);
  one.write(2);
  await baseOf(one.archive, one.end, nowMs - HOUR_MS / 4);
  await one.pass();
  expect([await bases(), one.baseCount]).toEqual([[2], 0]);
});

test("a new backup reaches back as far as the archive", async () => {
  const one = new Member(1);
  await baseOf(one.archive, one.end, nowMs - 5 * HOUR_MS);
  one.write(2);
  await baseOf(one.archive, one.end, nowMs - 2 * HOUR_MS);
  one.write(2);
  await one.pass();
  expect([await bases(), one.baseCount]).toEqual([[0, 4], 1]);
  expect(await problems()).toEqual([]);
});

test("a base that is asked for is taken, without transactions since the last one too", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  nowMs += 5000;
  const { facts } = await one.pass(true);
  expect([await bases(), facts.baseTakenMs, one.baseCount]).toEqual([[2], nowMs, 2]);
  expect(await problems()).toEqual([]);
});

test("a server without a transaction has a base, and its files follow", async () => {
  const one = new Member(1);
  await one.pass();
  expect([await files(), await bases()]).toEqual([[], [0]]);
  one.write(1);
  await one.pass();
  expect(await files()).toEqual([[0, 1]]);
  expect(await problems()).toEqual([]);
});

test("one of two members uploads, and the other one continues its work, without a gap", async () => {
  const [one, other] = [new Member(1), new Member(2)];
  one.write(2);
  other.write(1);
  other.write(2);
  await one.pass();
  const waiting = await other.pass();
  expect(waiting).toMatchObject({ isHolder: false, holder: "server 1", facts: { gapCount: 0 } });
  expect(await files()).toEqual([[0, 2]]);
  nowMs += 60_000;
  expect((await other.pass()).isHolder).toBe(true);
  expect(await files()).toEqual([
    [0, 2],
    [1, 3],
  ]);
  expect((await one.pass()).holder).toBe("server 2");
  expect(await problems()).toEqual([]);
  expect(kinds()).not.toContain("gap");
});

test("a server that has archived less leaves the work to others", async () => {
  const [one, other] = [new Member(1), new Member(2)];
  one.write(5);
  await one.pass(false, "e1");
  await one.uploader.close();
  other.write(2);
  await other.pass(false, "e1");
  await expect(other.pass(true, "e1")).rejects.toThrow(
    "no base was taken: the backup ends at 0x100000005, and this server's history at 0x100000002",
  );
  expect(other.baseCount).toBe(0);
  expect(await files()).toEqual([[0, 5]]);
  expect((await one.pass(false, "e1")).isHolder).toBe(true);
});

test("a gap is reported, and a base is taken behind it", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  one.write(2);
  one.write(2);
  const [, second = ""] = readdirSync(join(one.archive, "log"));
  rmSync(join(one.archive, "log", second));
  const { facts } = await one.pass();
  expect([await files(), await bases(), facts.gapCount]).toEqual([
    [
      [0, 2],
      [4, 6],
    ],
    [2, 6],
    1,
  ]);
  const [gap] = events.filter(({ kind }) => kind === "gap");
  expect(gap).toMatchObject({ after: 2 ** 32 + 2, end: 2 ** 32 + 4 });
});

test("a base that stands where a gap ends is uploaded, too: states behind it can be made", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  one.write(2);
  await baseOf(one.archive, one.end, nowMs - HOUR_MS / 4);
  one.write(2);
  rmSync(join(one.archive, "log", readdirSync(join(one.archive, "log"))[1] ?? ""));
  await one.pass();
  expect(await bases()).toEqual([2, 4]);
  await one.pass();
  expect(await bases()).toEqual([2, 4]);
});

test("a damaged file of the archive is never uploaded: it is a gap", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  one.write(2);
  const damaged = join(one.archive, "log", readdirSync(join(one.archive, "log"))[1] ?? "");
  rewriteFooter(damaged, ({ entryCount }) => ({ entryCount: entryCount + 1 }));
  one.write(2);
  await one.pass();
  expect(kinds()).toEqual(["holder", "base", "damaged", "gap", "base"]);
  expect(await problems()).toHaveLength(1);
});

test("another history behind a restore gets a base of its own", async () => {
  const one = new Member(1);
  one.write(2);
  one.write(2);
  await one.pass();
  // The state of the first file was restored, and others were written.
  const other = new Member(1);
  rmSync(other.archive, { recursive: true });
  other.write(2);
  rmSync(join(other.archive, "log"), { recursive: true });
  other.write(3, "other-");
  await other.pass();
  expect(kinds()).toContain("other-history");
  expect([await files(), await bases()]).toEqual([
    [
      [0, 2],
      [2, 4],
      [2, 5],
    ],
    [4, 5],
  ]);
});

test("the backup of another ensemble is refused, and nothing is written", async () => {
  const one = new Member(1);
  one.write(2);
  rewriteFooter(join(one.archive, "log", readdirSync(join(one.archive, "log"))[0] ?? ""), () => ({ ensembleId: "e1" }));
  await one.pass(false, "e1");
  await one.uploader.close();
  const before = readdirSync(place.path, { recursive: true });
  const stranger = new Member(2);
  for (const [ensembleId, name] of [
    ["e2", "ensemble e2"],
    ["", "a server alone"],
  ] as const) {
    await expect(stranger.pass(false, ensembleId)).rejects.toMatchObject({
      code: "FOREIGN",
      message: `${place.path} has the backup of ensemble e1, not of ${name}; each ensemble needs a directory or prefix of its own`,
    });
    expect(readdirSync(place.path, { recursive: true })).toEqual(before);
  }
});

test("a file of a server alone is not replaced by another server's file of the same name", async () => {
  const [one, stranger] = [new Member(1), new Member(2)];
  for (const count of [2, 3]) {
    one.write(count);
    stranger.write(count, "another");
  }
  await one.pass();
  await one.uploader.close();
  const log = join(place.path, "log");
  const bytesOf = () => readdirSync(log).map((name) => readFileSync(join(log, name)));
  const before = bytesOf();
  await expect(stranger.pass()).rejects.toMatchObject({ code: "FOREIGN" });
  expect(bytesOf()).toEqual(before);
});

test("a member that is asked for a base writes what it has before it is found to be behind", async () => {
  const one = new Member(1);
  one.write(3);
  await one.pass(false, "e");
  await one.uploader.close();
  const other = new Member(2);
  other.flush = () => {
    if (other.end === ARCHIVE_START) other.write(4);
  };
  const behind = await other.pass(false, "e");
  expect([behind.facts.end, await files()]).toEqual([at(3), [[0, 3]]]);
  await other.pass(true, "e");
  expect(await bases()).toEqual([3, 4]);
});

test("a server alone writes what it has before its history is compared with the backup's", async () => {
  const one = new Member(1);
  one.write(3);
  await one.pass();
  // The same history, restored, has no file yet.
  rmSync(one.archive, { recursive: true });
  const started = new Member(1);
  started.flush = () => {
    started.flush = () => {};
    started.write(3);
    started.write(2);
  };
  await started.pass();
  expect([kinds().includes("other-history"), await files()]).toEqual([
    false,
    [
      [0, 3],
      [3, 5],
    ],
  ]);
  expect(await problems()).toEqual([]);
});

test("the backup of another server alone is refused with both ends, whichever is later", async () => {
  const one = new Member(1);
  one.write(4);
  one.write(2);
  await one.pass();
  await one.uploader.close();
  const before = readdirSync(place.path, { recursive: true }).filter((name) => !`${name}`.startsWith("archive"));
  const stranger = new Member(2);
  events = [];
  for (const end of ["0x0", "0x100000003", "0x100000006", "0x100000009"]) {
    for (const isForced of [false, true]) {
      await expect(stranger.pass(isForced)).rejects.toMatchObject({
        code: "FOREIGN",
        message: `${place.path} has the backup of a history that ends at 0x100000006, not of this server's, which ends at ${end} and does not have that; each ensemble needs a directory or prefix of its own`,
      });
    }
    stranger.write(3, "stranger-");
  }
  expect(kinds()).toEqual([]);
  expect(stranger.baseCount).toBe(0);
  expect(readdirSync(place.path, { recursive: true }).filter((name) => !`${name}`.startsWith("archive"))).toEqual(
    before,
  );
});

test("what was backed up before an ensemble was founded is continued", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass(false, "");
  one.write(2);
  await one.uploader.close();
  const founded = new Member(1);
  founded.end = one.end;
  await founded.pass(false, "e1");
  expect(await files()).toEqual([
    [0, 2],
    [2, 4],
  ]);
  expect(kinds()).not.toContain("other-history");
});

test("what is older than the retained time goes, when a later base is old enough", async () => {
  const one = new Member(1, target, 3 * HOUR_MS);
  for (let i = 0; i < 8; i++) {
    one.write(2);
    await one.pass();
    nowMs += HOUR_MS;
  }
  // Taken 4, 3, 2 and 1 hours ago.
  expect(await bases()).toEqual([10, 12, 14, 16]);
  expect((await files())[0]).toEqual([10, 12]);
  expect(kinds()).toContain("removed");
  expect(await problems()).toEqual([]);
});

/** A target of which single calls fail, or give something else. */
class FaultyTarget implements BackupTarget {
  readonly name: string = target.name;
  fail: (call: "put" | "get", name: string) => void = () => {};
  change: (name: string, bytes: Uint8Array) => Uint8Array = (_, bytes) => bytes;
  putCount = 0;

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.fail("put", name);
    this.putCount++;
    await target.put(name, this.change(name, bytes));
  }

  get(name: string, bytesMax: number) {
    this.fail("get", name);
    return target.get(name, bytesMax);
  }

  tail = (name: string, bytesMax: number) => target.tail(name, bytesMax);
  list = (prefix: string) => target.list(prefix);
  remove = (name: string) => target.remove(name);
}

test("wherever an upload ends, the next pass completes it, and a base without its manifest is none", async () => {
  for (let stopAt = 0; ; stopAt++) {
    for (const folder of ["log", "base"]) rmSync(join(place.path, folder), { recursive: true, force: true });
    const faulty = new FaultyTarget();
    let count = 0;
    faulty.fail = () => {
      if (count++ === stopAt) throw new Error("the process was killed");
    };
    rmSync(join(place.path, "archive-1"), { recursive: true, force: true });
    const killed = new Member(1, faulty);
    killed.write(2);
    killed.write(2);
    const ended = await killed.pass().then(
      () => true,
      () => false,
    );
    const unfinished = await problems();
    for (const problem of unfinished) expect(problem).toMatch(/manifest\.json is missing|has no base/);
    const again = new Member(1);
    again.end = killed.end;
    await again.pass();
    expect(await problems(), `ended before call ${stopAt}`).toEqual([]);
    expect(await files()).toEqual([
      [0, 2],
      [2, 4],
    ]);
    if (ended) break;
  }
});

test("a base that comes back as something else has no manifest, and is uploaded again", async () => {
  const faulty = new FaultyTarget();
  const one = new Member(1, faulty);
  one.write(2);
  faulty.change = (name, bytes) => (name.endsWith("/0000") ? Buffer.from("other") : bytes);
  await expect(one.pass()).rejects.toMatchObject({ code: "DAMAGED" });
  expect(await bases()).toEqual([]);
  faulty.change = (_, bytes) => bytes;
  const { facts } = await one.pass();
  expect([await bases(), facts.verifiedMs]).toEqual([[2], nowMs]);
  expect(await problems()).toEqual([]);
});

test("a damaged end of the backup is named, and written again", async () => {
  const one = new Member(1);
  one.write(2);
  one.write(2);
  await one.pass();
  const last = join(place.path, "log", readdirSync(join(place.path, "log"))[1] ?? "");
  const whole = readFileSync(last);
  writeFileSync(last, "short");
  const again = new Member(1);
  again.end = otherChainAt(one.end);
  await again.pass();
  expect(kinds()).toContain("damaged");
  expect(readFileSync(last).equals(whole)).toBe(true);
});

test("a purge removes what was written up to a zxid and older bases, and never the newest base", async () => {
  const one = new Member(1);
  one.write(2);
  await one.pass();
  one.write(3);
  await one.pass();
  one.write(4);
  expect(await one.uploader.purge({ ensembleId: "", through: at(3) })).toEqual({ kind: "no-base" });
  await one.pass(true);
  expect([await files(), await bases()]).toEqual([
    [
      [0, 2],
      [2, 5],
      [5, 9],
    ],
    [2, 9],
  ]);
  // A plan counts what goes once a base is taken.
  const plan = (through: Zxid) => one.uploader.purge({ ensembleId: "", through, planned: at(12) });
  expect(await plan(0 as Zxid)).toEqual({ kind: "purged", removedCount: 0 });
  expect(await plan(at(3))).toEqual({ kind: "purged", removedCount: 2 * 2 + 2 });
  expect(await bases()).toEqual([2, 9]);
  expect(await one.uploader.purge({ ensembleId: "", through: at(3) })).toMatchObject({ kind: "purged" });
  expect([await files(), await bases()]).toEqual([[[5, 9]], [9]]);
  expect(await one.uploader.purge({ ensembleId: "", through: at(9) })).toEqual({ kind: "purged", removedCount: 1 });
  expect([await files(), await bases()]).toEqual([[], [9]]);
  one.write(1);
  await one.pass();
  expect([await files(), await bases()]).toEqual([[[9, 10]], [9]]);
  expect(await problems()).toEqual([]);
});

test("after a purge another member uploads no file that begins before", async () => {
  const [one, two] = [new Member(1), new Member(2)];
  one.write(2);
  two.write(2);
  one.write(3);
  two.write(5);
  await one.pass(true);
  expect(await one.uploader.purge({ ensembleId: "", through: at(5) })).toMatchObject({ kind: "purged" });
  expect([await files(), await bases()]).toEqual([[], [5]]);
  nowMs += 60_001;
  await one.uploader.close();
  // Its file behind the second transaction has the fifth.
  await two.pass();
  expect(await files()).toEqual([]);
  two.write(1);
  await two.pass();
  expect([await files(), await bases()]).toEqual([[[7, 8]], [5, 8]]);
  expect(kinds()).toContain("gap");
});

test("a purge is refused by a member that does not have the lease, and where the newest base is damaged", async () => {
  const [one, two] = [new Member(1), new Member(2)];
  one.write(2);
  two.write(2);
  await one.pass();
  one.write(2);
  await one.pass(true);
  expect(await two.uploader.purge({ ensembleId: "", through: at(1) })).toEqual({ kind: "others", holder: "server 1" });
  const [manifest] = (await listBackup(target)).bases.at(-1)?.names ?? [];
  writeFileSync(join(place.path, manifest ?? ""), "{}");
  await expect(one.uploader.purge({ ensembleId: "", through: at(1) })).rejects.toThrow(/damaged/);
  expect([await files(), await bases()]).toEqual([
    [
      [0, 2],
      [2, 4],
    ],
    [2, 4],
  ]);
});

test("a purge ends where another server has taken the lease meanwhile, and the next one does the rest", async () => {
  const [one, two] = [new Member(1), new Member(2)];
  one.write(2);
  two.write(2);
  await one.pass();
  one.write(2);
  await one.pass(true);
  const remove = target.remove.bind(target);
  target.remove = async (name) => {
    await remove(name);
    target.remove = remove;
    nowMs += 60_001;
    writeFileSync(join(place.path, "lease.json"), JSON.stringify({ holder: "server 2", count: 9 }));
  };
  const purge = await one.uploader.purge({ ensembleId: "", through: at(2) });
  expect(purge).toEqual({ kind: "others", holder: "another server" });
  expect(await bases()).toEqual([4]);
  rmSync(join(place.path, "lease.json"));
  expect(await one.uploader.purge({ ensembleId: "", through: at(2) })).toMatchObject({ kind: "purged" });
  expect([await files(), await bases()]).toEqual([[[2, 4]], [4]]);
  await one.pass();
  expect(await problems()).toEqual([]);
});
