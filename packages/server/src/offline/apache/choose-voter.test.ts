import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApacheType, recordOf, type Written } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { creating, type DirectoryContent, makeApacheDirectory } from "../../testing/apache-directory.ts";
import { type ApacheEnsemble, readEnsemble } from "./choose-voter.ts";

let folder = "";
let warnings: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-voters-"));
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Transactions of an epoch, each of which creates a node. */
function epoch(number: bigint, count: number, from = 1): readonly Written[] {
  return Array.from({ length: count }, (_, i) => {
    const zxid = (number << 32n) + BigInt(from + i);
    return creating(zxid, `/n${zxid.toString(16)}`, { parentCversion: Number(number) * 100 + from + i });
  });
}

const FIVE = epoch(5n, 4);
const EPOCHS = { acceptedEpoch: "5", currentEpoch: "5" } as const;

function read(...contents: readonly DirectoryContent[]): Promise<ApacheEnsemble> {
  const places = contents.map((content, i) => makeApacheDirectory(join(folder, `a${i + 1}`), content));
  return readPlaces(places);
}

function readPlaces(places: readonly string[]): Promise<ApacheEnsemble> {
  return readEnsemble(
    places.map((dataDir) => ({ dataDir })),
    (text) => void warnings.push(text),
  );
}

function takenOf({ taken, state, epochMax }: ApacheEnsemble): readonly [name: string, zxid: string, epochMax: number] {
  return [taken.directories.dataDir.slice(folder.length + 1), state.zxid.toString(16), epochMax];
}

describe("of several directories the one is taken that an election would choose", () => {
  test("by its last transaction", async () => {
    const found = await read(
      { ...EPOCHS, sid: 1, snapshot: 0n, transactions: FIVE.slice(0, 2) },
      { ...EPOCHS, sid: 2, snapshot: 0n, transactions: FIVE },
      { ...EPOCHS, sid: 3, snapshot: 0n, transactions: FIVE.slice(0, 3) },
    );
    expect(takenOf(found)).toEqual(["a2", "500000004", 5]);
    expect(warnings).toEqual([]);
  });

  test("by its current epoch before that: the longer log has what no quorum acknowledged", async () => {
    const found = await read(
      { ...EPOCHS, sid: 1, snapshot: 0n, transactions: FIVE },
      { acceptedEpoch: "6", currentEpoch: "6", sid: 2, snapshot: 0n, transactions: FIVE.slice(0, 3) },
    );
    expect(takenOf(found)).toEqual(["a2", "500000003", 6]);
    expect(warnings).toEqual([]);
  });

  test("while the highest epoch that one of them has accepted counts for the next history", async () => {
    const found = await read(
      { acceptedEpoch: "9", currentEpoch: "5", sid: 1, snapshot: 0n, transactions: FIVE.slice(0, 1) },
      { ...EPOCHS, sid: 2, snapshot: 0n, transactions: FIVE },
    );
    expect(takenOf(found)).toEqual(["a2", "500000004", 9]);
  });

  test("by a snapshot that no log goes as far as", async () => {
    const found = await read(
      { ...EPOCHS, sid: 1, snapshot: 0n, transactions: FIVE.slice(0, 3) },
      { ...EPOCHS, sid: 2, snapshot: 0x5_0000_0004n, transactions: FIVE },
    );
    expect(takenOf(found)).toEqual(["a2", "500000004", 5]);
  });

  test("and where epoch files are missing, by the epoch of the last transaction", async () => {
    const found = await read(
      { snapshot: 0n, transactions: FIVE },
      { snapshot: 0n, transactions: [...FIVE, ...epoch(6n, 1)] },
    );
    expect(takenOf(found)).toEqual(["a2", "600000001", 6]);
    expect(warnings).toEqual([]);
  });
});

test("a snapshot that was being written counts for nothing, as in an election", async () => {
  const [two, three] = [FIVE.slice(0, 2), FIVE.slice(0, 3)];
  const place = makeApacheDirectory(join(folder, "a1"), { ...EPOCHS, sid: 1, snapshot: 0n, transactions: two });
  makeApacheDirectory(place, { snapshot: 0x5_0000_0004n, transactions: FIVE });
  damage(place, "snapshot.500000004");
  const other = makeApacheDirectory(join(folder, "a2"), { ...EPOCHS, sid: 2, snapshot: 0n, transactions: three });
  expect(takenOf(await readPlaces([place, other]))).toEqual(["a2", "500000003", 5]);
});

test("files that put an epoch below the last transaction's are warned of, and the transaction counts", async () => {
  const found = await read({ acceptedEpoch: "2", currentEpoch: "3", snapshot: 0n, transactions: FIVE });
  expect(found.epochMax).toBe(5);
  expect(warnings).toEqual([expect.stringMatching(/a1: its accepted epoch is 2, its current epoch 3, and its last/)]);
});

test("where the newest is damaged, another one with the same last transaction is taken", async () => {
  const places = [1, 2].map((sid) =>
    makeApacheDirectory(join(folder, `a${sid}`), { ...EPOCHS, sid, snapshot: 0n, transactions: FIVE }),
  );
  damage(places[0] ?? "", "snapshot.0");
  expect(takenOf(await readPlaces(places))).toEqual(["a2", "500000004", 5]);
  expect(warnings.join()).toMatch(
    /a1\/version-2\/snapshot\.0 is damaged at .*; another directory with the same last transaction/,
  );
});

test("directories without a common transaction are warned of", async () => {
  await read(
    { ...EPOCHS, sid: 1, snapshot: 0n, transactions: FIVE },
    { ...EPOCHS, sid: 2, snapshot: 0x5_0000_0004n, transactions: FIVE },
  );
  expect(warnings).toEqual([expect.stringMatching(/a1 and .*a2 have no transaction in common/)]);
});

const CONFIG = ["server.1=zk1:2888:3888:participant", "server.2=zk2:2888:3888", "server.3=zk3:2888:3888:participant"];

test.each([
  ["one of three voters", [1], /lists 3 voters, but only the directories of 1 are named: those of a majority, 2, have/],
  ["one of three voters beside an observer", [1, 4], /lists 3 voters, but only the directories of 1 are named/],
  ["a majority", [1, 3], undefined],
] as const)("%s", async (_, sids, warning) => {
  const set = recordOf.set("/zookeeper/config", [...CONFIG, "server.4=zk4:2888:3888:observer"].join("\n"), -1);
  const transactions = [{ zxid: 0x5_0000_0001n, type: ApacheType.RECONFIG, record: set }];
  await read(...sids.map((sid) => ({ ...EPOCHS, sid, snapshot: 0n, transactions })));
  expect(warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
});

test.each<[string, (places: readonly [string, string]) => void, RegExp]>([
  [
    "two ensembles",
    ([, other]) => {
      makeApacheDirectory(other, {
        ...EPOCHS,
        snapshot: 0n,
        transactions: FIVE.map((each) => ({ ...each, session: 8n })),
      });
    },
    /a1 and .*a2 have different transactions at 0x500000001: they are of two ensembles; name the directories of one$/,
  ],
  [
    "a server twice",
    ([, other]) => writeFileSync(join(other, "myid"), "1"),
    /a1 and .*a2 are both of server 1, by their myid: name the directory of each server once$/,
  ],
  [
    "a damaged log, which may hide the newest",
    ([, other]) => damage(other, "log.500000001"),
    /a2.*log\.500000001 is damaged at .*; leave its directory out only if the others are those of a majority/,
  ],
  [
    "an epoch that is none",
    ([place]) => writeFileSync(join(place, "version-2/currentEpoch"), "five"),
    /a1\/version-2\/currentEpoch has "five", where a decimal epoch was expected$/,
  ],
  ["a directory without data", ([, other]) => emptied(other), /a2 is no data directory of Apache ZooKeeper/],
  ["a directory that is missing", ([, other]) => rmSync(other, { recursive: true }), /a2 does not exist$/],
  [
    "damage of all that go as far",
    (places) => {
      for (const place of places) damage(place, "snapshot.0");
    },
    /a1\/version-2\/snapshot\.0 is damaged/,
  ],
])("%s is refused in one sentence", async (_, arrange, problem) => {
  const contents = [1, 2].map((sid) => ({ ...EPOCHS, sid, snapshot: 0n, transactions: FIVE }));
  const places = contents.map((content, i) => makeApacheDirectory(join(folder, `a${i + 1}`), content));
  arrange([places[0] ?? "", places[1] ?? ""]);
  const failure = await readPlaces(places).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(problem) });
  expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]+$/) });
});

function damage(place: string, name: string): void {
  const file = join(place, "version-2", name);
  writeFileSync(file, readFileSync(file).fill(1, 60, 61));
}

function emptied(place: string): void {
  for (const name of readdirSync(join(place, "version-2"))) rmSync(join(place, "version-2", name));
}
