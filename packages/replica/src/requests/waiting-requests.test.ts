import { OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, onPath, read, setData } from "../testing/requests.ts";

test("syncs that wait count with the bytes that wait of their connection", () => {
  const zk = new TestReplica({ inFlightBytesMax: 2000 });
  const ref = zk.open();
  zk.send(ref, 1, OpCode.CREATE, create("/a"));
  expect(zk.send(ref, 2, OpCode.SYNC, onPath(`/${"x".repeat(900)}`))).toBe(true);
  expect(zk.send(ref, 3, OpCode.SYNC, onPath(`/${"x".repeat(1900)}`))).toBe(false);
  zk.resumed.length = 0;
  zk.turn();
  expect([zk.take(ref).length, zk.resumed]).toEqual([3, [ref]]);
});

test("a connection is read no further once the answers that wait for one write are large", () => {
  const zk = new TestReplica({ waitingAnswerBytesMax: 6000 });
  const ref = zk.open();
  zk.ask(ref, OpCode.CREATE, create("/big", "x".repeat(2000)));
  zk.send(ref, 1, OpCode.SET_DATA, setData("/", ""));
  const goesOn = [2, 3, 4].map((xid) => zk.send(ref, xid, OpCode.GET_DATA, read("/big")));
  expect(goesOn).toEqual([true, true, false]);
  zk.resumed.length = 0;
  zk.turn();
  expect([zk.take(ref).length, zk.resumed]).toEqual([4, [ref]]);
});

describe("reads that wait for a write", () => {
  test("are answered some a turn, and all of them before the next write of their client", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 600; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.turn();
    expect(zk.take(ref)).toHaveLength(257);
    zk.send(ref, 601, OpCode.CREATE, create("/b"));
    zk.send(ref, 602, OpCode.EXISTS, read("/b"));
    zk.finish();
    const xids = zk.take(ref).map((answer) => Number(/^\d+/.exec(answer)?.[0]));
    expect(xids).toEqual(Array.from({ length: 345 }, (_, i) => 258 + i));
    expect(zk.replica.nextTickMs()).toBeUndefined();
  });

  test("of many connections behind one transaction share a turn", () => {
    const zk = new TestReplica({ applyWorkPerTurn: 1 });
    const [writer, ...readers] = [zk.open(), zk.open(), zk.open(), zk.open()] as const;
    zk.send(writer, 1, OpCode.MULTI, multi([OpCode.CREATE, create("/a")], [OpCode.CREATE, create("/b")]));
    zk.deliverOnce();
    expect(zk.replica.isApplying).toBe(true);
    for (const ref of readers) for (let xid = 1; xid <= 200; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/b"));
    while (zk.replica.isApplying) zk.replica.deliver(10);
    expect(readers.map((ref) => zk.take(ref).length)).toEqual([200, 56, 0]);
    zk.finish();
    expect(readers.map((ref) => zk.take(ref).length)).toEqual([0, 144, 200]);
  });

  test("are answered before a sync that came behind them", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 300; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.send(ref, 301, OpCode.SYNC, onPath("/a"));
    zk.turn();
    zk.finish();
    expect(zk.take(ref).map((answer) => Number(/^\d+/.exec(answer)?.[0]))).toEqual(
      Array.from({ length: 301 }, (_, i) => i + 1),
    );
  });

  test("of listings count with the longest name that ever was in the tree", () => {
    const zk = new TestReplica({ waitingAnswerBytesMax: 6000 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create(`/${"n".repeat(2000)}`));
    zk.send(ref, 1, OpCode.SET_DATA, setData("/", ""));
    expect(zk.send(ref, 2, OpCode.GET_CHILDREN, read("/"))).toBe(true);
    expect(zk.send(ref, 3, OpCode.GET_CHILDREN, read("/"))).toBe(false);
  });

  test("are at most as many as can be answered at once", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    let xid = 2;
    while (zk.send(ref, xid, OpCode.EXISTS, read("/a"))) xid++;
    expect(xid).toBeLessThan(2100);
  });

  test("are dropped with their connection", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 600; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.turn();
    zk.replica.disconnect(ref);
    zk.take(ref);
    zk.finish();
    expect([zk.take(ref), zk.open()]).toEqual([[], ref]);
  });
});
