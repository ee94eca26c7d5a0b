import { OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { countNamespace } from "../counters.ts";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, read, setData } from "../testing/requests.ts";

type Body = Parameters<TestReplica["ask"]>[2];
const QUOTA = "/zookeeper/quota/a";

/** A replica in which `/a` has a quota. */
function withLimits(
  limits: string,
  isQuotaEnforced = true,
): { zk: TestReplica; ask: (op: number, body: Body) => string } {
  const zk = new TestReplica({ isQuotaEnforced });
  const client = zk.open();
  const nodes = { "/a": "", [QUOTA]: "", [`${QUOTA}/zookeeper_limits`]: limits, [`${QUOTA}/zookeeper_stats`]: "" };
  for (const [path, data] of Object.entries(nodes)) zk.ask(client, OpCode.CREATE, create(path, data));
  return { zk, ask: (op, body) => zk.ask(client, op, body) };
}

test("a hard quota refuses writes, alone and in a multi, whose parts see what is applied", () => {
  const { ask } = withLimits("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2");
  const both = multi([OpCode.CREATE, create("/a/b")], [OpCode.CREATE, create("/a/c")]);
  expect(ask(OpCode.MULTI, both)).toBe("[path /a/b, path /a/c]");
  expect(ask(OpCode.CREATE, create("/a/d"))).toBe("QUOTA_EXCEEDED");
  const one = multi([OpCode.CREATE, create("/x")], [OpCode.CREATE, create("/a/d")]);
  expect(ask(OpCode.MULTI, one)).toBe("[ok, QUOTA_EXCEEDED]");
  expect(ask(OpCode.GET_DATA, read(`${QUOTA}/zookeeper_stats`))).toBe("data count=3,bytes=0");
});

test("refusals are counted by the first name of the path, up to a thousand names", () => {
  const { zk, ask } = withLimits("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2");
  for (const path of ["/a/b", "/a/b/c", "/a/b/d", "/a/b/e"]) ask(OpCode.CREATE, create(path));
  expect([...zk.replica.counters.quotaExceeded]).toEqual([["a", 3]]);
  const counts = new Map<string, number>();
  for (const name of [...Array.from({ length: 1001 }, (_, i) => `n${i}`), "n1"]) {
    const bytes = Buffer.from(`/${name}/x`);
    countNamespace(counts, { bytes, start: 0, end: bytes.length });
  }
  expect([counts.size, counts.get("n1"), counts.get("n1000")]).toEqual([1000, 2, undefined]);
});

test("names that are too long for a label are not counted", () => {
  const counts = new Map<string, number>();
  for (const length of [256, 257, 16_000]) {
    const bytes = Buffer.from(`/${"n".repeat(length)}/x`);
    countNamespace(counts, { bytes, start: 0, end: bytes.length });
  }
  expect([...counts.keys()].map(({ length }) => length)).toEqual([256]);
});

test("clients that race go beyond a quota by what is in flight, and no further", () => {
  const { zk } = withLimits("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=3");
  const clients = [zk.open(), zk.open()];
  const created = (round: number): string[] => {
    for (const [i, client] of clients.entries()) {
      for (let n = 0; n < 4; n++) zk.send(client, n, OpCode.CREATE, create(`/a/${round}-${i}-${n}`));
    }
    zk.turn();
    return clients.flatMap((client) => zk.take(client)).filter((answer) => answer.includes("path"));
  };
  // Each is judged by what is applied, as Apache's server does it.
  expect(created(1)).toHaveLength(8);
  expect(created(2)).toHaveLength(0);
});

test.each([
  ["a usage below zero, which a client wrote", "count=-9223372036854775808,bytes=-1"],
  ["a usage beyond all numbers", "count=9223372036854775807,bytes=9223372036854775807"],
  ["no usage", "count=1e9"],
])("with %s the quota continues to count", (_, usage) => {
  const { ask } = withLimits("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2");
  expect(ask(OpCode.SET_DATA, setData(`${QUOTA}/zookeeper_stats`, usage))).toBe("stat");
  expect(ask(OpCode.CREATE, create("/a/b"))).toMatch(/^path|QUOTA_EXCEEDED/);
  expect(ask(OpCode.GET_DATA, read(`${QUOTA}/zookeeper_stats`))).toMatch(/^data count=-?\d+,bytes=-?\d+/);
});

test("writes beyond a quota are reported, but not each of them", () => {
  const { zk, ask } = withLimits("count=-1,bytes=1");
  for (let i = 0; i < 5; i++) ask(OpCode.SET_DATA, setData("/a", "x".repeat(2 + i)));
  const excess = { kind: "quota", isHard: false, path: "/a", unit: "bytes", limit: 1 };
  expect(zk.notes).toEqual([{ kind: "over-quota", excess: { ...excess, usage: 2 }, moreCount: 0 }]);
  zk.advance(10_000);
  ask(OpCode.SET_DATA, setData("/a", "x".repeat(10)));
  expect(zk.notes[1]).toEqual({ kind: "over-quota", excess: { ...excess, usage: 10 }, moreCount: 4 });
});

test("without enforcement nothing is refused and nothing is reported", () => {
  const { zk, ask } = withLimits("count=0,bytes=0=;byteHardLimit=0;countHardLimit=0", false);
  expect(ask(OpCode.CREATE, create("/a/b", "x"))).toBe("path /a/b");
  expect(zk.notes).toEqual([]);
});
