import { type ConnectionRef, OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, read, setData, watchOn } from "../testing/requests.ts";

const HERE = "10.0.0.1";
const THERE = "10.0.0.2";
const PERSISTENT = 0;
const RECURSIVE = 1;

/** A multi that takes longer to apply than an address may have in flight. */
const dear = (name: string): ReturnType<typeof multi> =>
  multi(...Array.from({ length: 100 }, (_, i) => [OpCode.CREATE, create(`/${name}-${i}`)] as const));

function staged(): { zk: TestReplica; here: readonly ConnectionRef[]; there: ConnectionRef } {
  const zk = new TestReplica({ writeWorkUsMax: 100 });
  return { zk, here: [zk.open(HERE), zk.open(HERE)], there: zk.open(THERE) };
}

function turns(zk: TestReplica): void {
  for (let i = 0; i < 4; i++) zk.turn();
  zk.finish();
  for (let i = 0; i < 4; i++) zk.turn();
}

test("a write waits while its address has its share in flight, and pings, reads and others' writes continue", () => {
  const { zk, here, there } = staged();
  const [one, two] = here as readonly [ConnectionRef, ConnectionRef];
  const reader = zk.open(HERE);
  zk.send(one, 1, OpCode.MULTI, dear("a"));
  expect(zk.send(two, 2, OpCode.CREATE, create("/b"))).toBe(false);
  expect(zk.send(there, 3, OpCode.CREATE, create("/c"))).toBe(true);
  expect(zk.send(reader, -2, OpCode.PING)).toBe(true);
  expect(zk.send(reader, 4, OpCode.EXISTS, read("/"))).toBe(true);
  expect(zk.take(reader)).toHaveLength(2);
  turns(zk);
  expect([zk.take(one), zk.take(there), zk.take(two)].map((answers) => answers.length)).toEqual([1, 1, 1]);
});

test("writes that wait are carried out in the order in which they came, and a connection that is gone is passed over", () => {
  const { zk, here } = staged();
  const [one, two] = here as readonly [ConnectionRef, ConnectionRef];
  const gone = zk.open(HERE);
  zk.send(one, 1, OpCode.MULTI, dear("a"));
  zk.send(gone, 2, OpCode.CREATE, create("/gone"));
  zk.send(two, 3, OpCode.CREATE, create("/b"));
  zk.replica.disconnect(gone);
  turns(zk);
  expect(zk.take(two).join()).toContain("/b");
  expect(zk.ask(two, OpCode.EXISTS, read("/gone"))).toContain("NO_NODE");
});

test("a write with a long path costs more while watches may be on all of its ancestors", () => {
  const zk = new TestReplica({ writeWorkUsMax: 360 });
  const [one, two] = [zk.open(HERE), zk.open(HERE)];
  const deep = "/a".repeat(500);
  zk.send(one, 1, OpCode.SET_DATA, setData(deep, ""));
  expect(zk.send(two, 1, OpCode.SET_DATA, setData(deep, ""))).toBe(true);
  turns(zk);
  zk.ask(two, OpCode.ADD_WATCH, watchOn("/", RECURSIVE));
  zk.send(one, 2, OpCode.SET_DATA, setData(deep, ""));
  expect(zk.send(two, 2, OpCode.SET_DATA, setData(deep, ""))).toBe(false);
});

test("a write costs as much as the watches that it may fire, and so does a part of a multi", () => {
  const { zk, here } = staged();
  const [one, two] = here as readonly [ConnectionRef, ConnectionRef];
  for (const path of ["/hot", "/cold"]) zk.ask(one, OpCode.CREATE, create(path));
  for (let i = 0; i < 100; i++) zk.ask(zk.open(`10.0.1.${i}`), OpCode.ADD_WATCH, watchOn("/hot", PERSISTENT));
  zk.send(one, 1, OpCode.SET_DATA, setData("/hot", "1"));
  expect(zk.send(two, 1, OpCode.SET_DATA, setData("/cold", "1"))).toBe(false);
  turns(zk);
  zk.send(one, 2, OpCode.MULTI, multi([OpCode.SET_DATA, setData("/hot", "2")]));
  expect(zk.send(two, 2, OpCode.SET_DATA, setData("/cold", "2"))).toBe(false);
  turns(zk);
  zk.send(one, 3, OpCode.SET_DATA, setData("/cold", "3"));
  expect(zk.send(two, 3, OpCode.SET_DATA, setData("/cold", "4"))).toBe(true);
});

test("a multi costs as much as its parts", () => {
  const zk = new TestReplica({ writeWorkUsMax: 200 });
  const [one, two] = [zk.open(HERE), zk.open(HERE)];
  const parts = (count: number): ReturnType<typeof multi> =>
    multi(...Array.from({ length: count }, () => [OpCode.SET_DATA, setData("/zookeeper/x", "1")] as const));
  const set = setData("/zookeeper/x", "1");
  zk.send(one, 1, OpCode.MULTI, parts(6));
  expect(zk.send(two, 1, OpCode.SET_DATA, set)).toBe(true);
  turns(zk);
  zk.send(one, 2, OpCode.MULTI, parts(14));
  expect(zk.send(two, 2, OpCode.SET_DATA, set)).toBe(false);
});

test("a write counts until it is applied completely, so that a large one is not prepared before another one is", () => {
  const zk = new TestReplica({ writeWorkUsMax: 100, applyWorkPerTurn: 10 });
  const [here, there, other] = [zk.open(HERE), zk.open(THERE), zk.open("10.0.0.3")];
  zk.send(here, 1, OpCode.MULTI, dear("a"));
  zk.send(there, 2, OpCode.MULTI, dear("b"));
  zk.deliverOnce();
  expect([zk.replica.isApplying, zk.replica.hasPrepared]).toEqual([true, false]);
  // A small write goes ahead of the large one that waits.
  zk.send(other, 3, OpCode.CREATE, create("/c"));
  expect(zk.replica.preparedBytes).toBeLessThan(200);
  turns(zk);
  expect([zk.take(here), zk.take(other), zk.take(there)].map((answers) => answers.length)).toEqual([1, 1, 1]);
});

test("the share of a write whose client is gone is free again once it is applied", () => {
  const zk = new TestReplica({ writeWorkUsMax: 100, applyWorkPerTurn: 10 });
  const one = zk.open(HERE);
  zk.send(one, 1, OpCode.MULTI, dear("a"));
  zk.deliverOnce();
  zk.replica.disconnect(one);
  turns(zk);
  const [two, three] = [zk.open(HERE), zk.open(HERE)];
  expect(zk.send(two, 1, OpCode.CREATE, create("/b"))).toBe(true);
  expect(zk.send(three, 2, OpCode.CREATE, create("/c"))).toBe(true);
});

test("a large multi is prepared when the writes that came before it are applied, and not those after", () => {
  const zk = new TestReplica({ prepareWorkPerTurn: 100, writeWorkUsMax: 4000 });
  const [here, there, other] = [zk.open(HERE), zk.open(THERE), zk.open("10.0.0.3")];
  zk.send(here, 1, OpCode.CREATE, create("/a"));
  zk.replica.propose();
  expect(zk.send(there, 2, OpCode.MULTI, dear("b"))).toBe(false);
  expect(zk.replica.isPreparing).toBe(false);
  zk.send(other, 3, OpCode.CREATE, create("/c"));
  zk.sync();
  zk.replica.deliver(10);
  expect([zk.take(here).length, zk.replica.isPreparing]).toEqual([1, true]);
  turns(zk);
  expect([zk.take(other), zk.take(there)].map((answers) => answers.length)).toEqual([1, 1]);
});

test("a large multi that waits for another one also waits for the small writes that came meanwhile", () => {
  const zk = new TestReplica({ writeWorkUsMax: 4000 });
  const [here, there, other] = [zk.open(HERE), zk.open(THERE), zk.open("10.0.0.3")];
  zk.send(here, 1, OpCode.MULTI, dear("a"));
  zk.replica.propose();
  zk.send(there, 2, OpCode.MULTI, dear("b"));
  zk.send(other, 3, OpCode.CREATE, create("/c"));
  zk.replica.propose();
  zk.sync(1);
  zk.replica.deliver(10);
  // The small write is not durable: it could not be applied while the second multi is prepared.
  expect([zk.take(here).length, zk.replica.hasPrepared]).toEqual([1, false]);
  zk.sync();
  zk.replica.deliver(10);
  expect([zk.take(other).length, zk.replica.hasPrepared]).toEqual([1, true]);
  // Later ones do not delay it.
  turns(zk);
  expect(zk.take(there)).toHaveLength(1);
});

test("a large multi begins at once where no other write is in flight", () => {
  const zk = new TestReplica({ prepareWorkPerTurn: 100, writeWorkUsMax: 4000 });
  zk.send(zk.open(HERE), 1, OpCode.MULTI, dear("a"));
  expect(zk.replica.isPreparing).toBe(true);
});
