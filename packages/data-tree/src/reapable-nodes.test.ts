import { OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { create, remove, setData, TestTree } from "./testing/tree.ts";

const CONTAINER = { op: OpCode.CREATE_CONTAINER };
const ttl = (ttlMs: number) => ({ op: OpCode.CREATE_TTL, flags: 5, ttlMs });
const EPOCH = 2 ** 32;

describe("a container", () => {
  test("goes when its last child is gone, and not before it had one", () => {
    const test = new TestTree();
    test.commit(create("/c", CONTAINER));
    expect(test.proposeReaping(1e12)).toEqual([]);
    test.commit(create("/c/x"));
    expect(test.proposeReaping(1e12)).toEqual([]);
    test.commit(remove("/c/x"));
    expect(test.proposeReaping(0)).toEqual(["/c"]);
    test.applyAll();
    expect(test.find("/c")).toBe(0);
    expect(test.tree.reapableCount).toBe(0);
  });

  test("that never had a child goes by age where that is asked for", () => {
    const test = new TestTree();
    test.commit(create("/c", CONTAINER)); // at 1000 ms
    expect(test.proposeReaping(6000, 5000)).toEqual([]);
    expect(test.proposeReaping(6001, 5000)).toEqual(["/c"]);
  });

  test.each([
    ["a child is proposed", [create("/c/again")]],
    ["it is written", [setData("/c", "x")]],
    ["its deletion is proposed", [remove("/c")]],
  ])("stays while %s", (_, requests) => {
    const test = new TestTree();
    test.commit(create("/c", CONTAINER));
    test.commit(create("/c/x"));
    test.commit(remove("/c/x"));
    for (const request of requests) test.propose(request);
    expect(test.proposeReaping(0)).toEqual([]);
  });

  test("that is about to go takes no child any more, and its parent knows", () => {
    const test = new TestTree();
    test.commit(create("/p"));
    test.commit(create("/p/c", CONTAINER));
    test.commit(create("/p/c/x"));
    test.commit(remove("/p/c/x"));
    expect(test.proposeReaping(0)).toEqual(["/p/c"]);
    expect(test.propose(create("/p/c/y"))).toBe(-101);
    expect(test.propose(remove("/p"))).toBe(0);
    test.applyAll();
    expect(test.find("/p")).toBe(0);
  });
});

describe("a TTL node", () => {
  test("goes when it was not written for longer than its time to live", () => {
    const test = new TestTree();
    test.commit(create("/t", ttl(5000))); // at 1000 ms
    expect(test.proposeReaping(6000)).toEqual([]);
    test.commit(setData("/t", "x")); // at 2000 ms
    expect(test.proposeReaping(7000)).toEqual([]);
    expect(test.proposeReaping(7001)).toEqual(["/t"]);
  });

  test("with a child stays, and goes by its own age when the child is gone", () => {
    const test = new TestTree();
    test.commit(create("/t", ttl(1)));
    test.commit(create("/t/x"));
    expect(test.proposeReaping(1e12)).toEqual([]);
    test.commit(remove("/t/x"));
    expect(test.proposeReaping(1e12)).toEqual(["/t"]);
  });

  test("may live for 34 years", () => {
    const test = new TestTree();
    test.commit(create("/t", ttl(2 ** 40 - 1))); // at 1000 ms
    expect(test.proposeReaping(1000 + 2 ** 40 - 1)).toEqual([]);
    expect(test.proposeReaping(1000 + 2 ** 40)).toEqual(["/t"]);
  });
});

test("reaping fires watches and moves the parent as a delete does", () => {
  const test = new TestTree();
  test.commit(create("/t", ttl(1)));
  test.tree.watches.armPersistent(Buffer.from("/t"), 0, 2, 4 as never);
  test.tree.watches.armPersistent(Buffer.from("/"), 0, 1, 5 as never);
  test.proposeReaping(1e12);
  test.applyAll();
  expect(test.takeEvents()).toEqual(["4 deleted /t", "5 children /"]);
  expect(test.stat("/")).toMatchObject({ pzxid: EPOCH + 2, cversion: 1 });
});

test("each is looked at once a round, while others come and go", () => {
  const test = new TestTree();
  for (let i = 0; i < 5; i++) test.commit(create(`/t${i}`, ttl(1)));
  const take = (): string => {
    const node = test.tree.takeReapable();
    return ["/t0", "/t1", "/t2", "/t3", "/t4", "/t5"].find((path) => test.find(path) === node) ?? "none";
  };
  expect([take(), take()]).toEqual(["/t0", "/t1"]);
  // The one that comes next, one that is to come, and one that was seen.
  for (const path of ["/t2", "/t4", "/t0"]) test.commit(remove(path));
  test.commit(create("/t5", ttl(1)));
  expect([take(), take(), take(), take()]).toEqual(["/t3", "/t1", "/t5", "/t3"]);
  for (const path of ["/t1", "/t3", "/t5"]) test.commit(remove(path));
  expect(test.tree.takeReapable()).toBe(0);
});

test("what was loaded from a snapshot goes like what was created", () => {
  const test = new TestTree();
  test.commit(create("/t", ttl(5)));
  test.commit(create("/c", CONTAINER));
  test.commit(create("/c/x"));
  test.commit(remove("/c/x"));
  const records = [...test.tree.snapshot()];
  test.tree.loadSnapshot(records);
  expect(test.proposeReaping(1e12).sort()).toEqual(["/c", "/t"]);
  test.applyAll();
  expect(test.tree.reapableCount).toBe(0);
});
