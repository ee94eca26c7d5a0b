import { describe, expect, test } from "vitest";
import { type Found, faultsIn, type History, longestGapMs, type Read, type Write } from "./ensemble-history.ts";

const BASE: Found = { value: "base", czxid: 1n, mzxid: 2n, version: 0 };

/** A set of /k that was done: sent at, answered at, zxid, version. */
function set(value: string, [sentAt, answeredAt, zxid, version]: readonly [bigint, bigint, bigint, number]): Write {
  return { kind: "set", path: "/k", client: "a", sid: 1, value, sentAt, answeredAt, zxid, version, outcome: "done" };
}

function create(
  value: string,
  [sentAt, answeredAt, zxid]: readonly [bigint, bigint, bigint],
  createdPath: string,
): Write {
  return {
    kind: "create",
    path: "/m/",
    client: "b",
    sid: 1,
    value,
    sentAt,
    answeredAt,
    zxid,
    createdPath,
    outcome: "done",
  };
}

function unanswered(write: Write): Write {
  const { kind, path, client, sid, value, sentAt } = write;
  return { kind, path, client, sid, value, sentAt, outcome: "unknown" };
}

function refused(write: Write): Write {
  return { ...write, outcome: "refused" };
}

/** A read of /k behind a sync, by a client of its own by default. */
function read(
  value: string,
  [sentAt, answeredAt, zxid, mzxid]: readonly [bigint, bigint, bigint, bigint],
  client = "r",
): Read {
  return { client, sid: 2, path: "/k", syncSentAt: sentAt, sentAt, answeredAt, zxid, value, mzxid, version: 0 };
}

function found(value: string, mzxid: bigint, version: number): Found {
  return { value, czxid: 1n, mzxid, version };
}

function made(value: string, czxid: bigint): Found {
  return { value, czxid, mzxid: czxid, version: 0 };
}

function faults(
  { writes = [], reads = [] }: Partial<History>,
  ...trees: readonly (readonly (readonly [path: string, found: Found])[])[]
): readonly string[] {
  const history = { base: new Map([["/k", BASE]]), writes, reads };
  return faultsIn(history, new Map(trees.map((tree, index) => [index + 1, new Map(tree)])));
}

const one = set("one", [10n, 20n, 5n, 1]);
const two = set("two", [30n, 40n, 6n, 2]);

describe("a history that can be", () => {
  test("has no faults", () => {
    const writes = [one, two, create("x", [10n, 50n, 7n], "/m/n-0000000000")];
    const reads = [read("one", [21n, 29n, 5n, 5n]), read("two", [41n, 49n, 6n, 6n])];
    const tree = [["/k", found("two", 6n, 2)] as const, ["/m/n-0000000000", made("x", 7n)] as const];
    expect(faults({ writes, reads }, tree, tree)).toEqual([]);
  });

  test("may show what had no answer, once, or not", () => {
    const writes = [one, unanswered(two), unanswered(create("x", [1n, 1n, 1n], ""))];
    expect(faults({ writes }, [["/k", found("one", 5n, 1)]])).toEqual([]);
    expect(
      faults({ writes }, [
        ["/k", found("two", 9n, 2)],
        ["/m/n-0000000000", made("x", 7n)],
      ]),
    ).toEqual([]);
    // Overwritten by what was answered.
    expect(faults({ writes: [unanswered(two), set("one", [10n, 20n, 5n, 2])] }, [["/k", found("one", 5n, 2)]])).toEqual(
      [],
    );
  });

  test("may show an old value to a read without a sync", () => {
    const stale: Read = { ...read("one", [41n, 49n, 5n, 5n]), syncSentAt: undefined };
    expect(faults({ writes: [one, two], reads: [stale] }, [["/k", found("two", 6n, 2)]])).toEqual([]);
  });
});

const level = [["/k", found("two", 6n, 2)] as const];
const x = create("x", [10n, 50n, 7n], "/m/n-0000000000");
const y = create("y", [10n, 50n, 8n], "/m/n-0000000001");

test.each<[string, Partial<History>, readonly (readonly [string, Found])[], RegExp]>([
  ["a lost set", { writes: [one, two] }, [["/k", found("one", 5n, 1)]], /lost set of two/],
  ["a set applied twice", { writes: [one, two] }, [["/k", found("two", 6n, 3)]], /set 3 times, with 2 writes answered/],
  ["a set that went under", { writes: [one, set("two", [30n, 40n, 6n, 1])] }, level, /made version 1, after version 1/],
  ["a value that was never written", { writes: [one] }, [["/k", found("two", 6n, 2)]], /no client can have written/],
  [
    "a refused set that happened",
    { writes: [one, refused(two)] },
    [["/k", found("two", 6n, 2)]],
    /no client can have written/,
  ],
  ["another value at the zxid", { writes: [one] }, [["/k", found("two", 5n, 1)]], /where one was written/],
  ["a lost node that is set", { writes: [] }, [], /\/k is gone/],
  ["a lost create", { writes: [one, two, x] }, level, /n-0000000000 of create of x .* is lost/],
  [
    "a create applied twice",
    { writes: [one, two, x] },
    [...level, ["/m/n-0000000000", made("x", 7n)], ["/m/n-0000000001", made("x", 8n)]],
    /another node holds too/,
  ],
  [
    "a create at another place",
    { writes: [one, two, x] },
    [...level, ["/m/n-0000000004", made("x", 7n)]],
    /was answered/,
  ],
  [
    "a node that no client created",
    { writes: [one, two, x] },
    [...level, ["/m/n-0000000000", made("x", 7n)], ["/m/n-0000000001", made("z", 8n)]],
    /z, which cannot be there/,
  ],
  [
    "numbers against zxids",
    { writes: [one, two, { ...x, createdPath: "/m/n-0000000001" }, { ...y, createdPath: "/m/n-0000000000" }] },
    [...level, ["/m/n-0000000000", made("y", 8n)], ["/m/n-0000000001", made("x", 7n)]],
    /has a lower number/,
  ],
  [
    "a zxid given twice",
    { writes: [one, set("two", [11n, 40n, 5n, 2])] },
    [["/k", found("two", 5n, 2)]],
    /share a zxid/,
  ],
  [
    "zxids against real time",
    { writes: [set("one", [10n, 20n, 7n, 2]), set("two", [30n, 40n, 6n, 1])] },
    [["/k", found("one", 7n, 2)]],
    /answered before set of two .* lower zxid/,
  ],
  [
    "a sync that missed a write",
    { writes: [one, two], reads: [read("one", [41n, 49n, 6n, 5n])] },
    level,
    /behind a sync misses set of two/,
  ],
  [
    "a sync answered from an old state",
    { writes: [one, two, x], reads: [read("two", [51n, 59n, 6n, 6n])] },
    [...level, ["/m/n-0000000000", made("x", 7n)]],
    /behind a sync is of 0x6/,
  ],
  [
    "a read from nowhere",
    { writes: [one, two], reads: [read("three", [41n, 49n, 9n, 9n])] },
    level,
    /shows three, which no client wrote/,
  ],
  [
    "a read from the future",
    { writes: [one, two], reads: [read("two", [21n, 29n, 6n, 6n])] },
    level,
    /before it was sent/,
  ],
  [
    "a read of what was refused",
    { writes: [one, two, refused(set("no", [1n, 2n, 3n, 4]))], reads: [read("no", [41n, 49n, 9n, 9n])] },
    level,
    /which was refused/,
  ],
  [
    "a read with another's zxid",
    { writes: [one, two], reads: [read("two", [41n, 49n, 9n, 9n])] },
    level,
    /shows two with 0x9/,
  ],
  [
    "a client that misses its own write",
    { writes: [one, two], reads: [{ ...read("one", [41n, 49n, 5n, 5n], "a"), syncSentAt: undefined }] },
    level,
    /misses its client's own set of two/,
  ],
  [
    "a client that goes back",
    {
      writes: [one, two],
      reads: [read("two", [31n, 38n, 6n, 6n]), { ...read("one", [39n, 49n, 6n, 5n]), syncSentAt: undefined }],
    },
    level,
    /is older than/,
  ],
])("%s is seen", (_, history, tree, expected) => {
  const seen = faults(history, tree);
  expect(seen.filter((fault) => expected.test(fault))).toHaveLength(1);
});

test("servers that differ are seen", () => {
  const other = [["/k", found("two", 6n, 3)] as const];
  expect(faults({ writes: [one, two] }, level, level, other)).toEqual([
    expect.stringMatching(/servers 1 and 3 differ in 1/),
  ]);
});

test("the longest time without an answered write ends after the moment asked for", () => {
  const at = (answeredMs: number): Write => set("v", [0n, BigInt(answeredMs) * 1_000_000n, 5n, 1]);
  const writes = [at(0), at(900), at(1000), at(1300), at(1310), at(2000)];
  expect(longestGapMs(writes.slice(0, 5), { after: 1_000_000_000n })).toBe(300);
  expect(longestGapMs(writes, { after: 1_000_000_000n })).toBe(690);
  expect(longestGapMs([at(5), { ...at(50), outcome: "refused" }], { after: 1n })).toBe(0);
});
