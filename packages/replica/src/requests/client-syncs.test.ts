import { type ConnectionRef, OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, onPath, read } from "../testing/requests.ts";

/**
 * Connections that have asked for a number of syncs each while another client's write is under way.
 */
function withSyncs(
  connections: number,
  each: number,
): { zk: TestReplica; writer: ConnectionRef; refs: ConnectionRef[] } {
  const zk = new TestReplica();
  const writer = zk.open();
  const refs = Array.from({ length: connections }, () => zk.open());
  zk.send(writer, 1, OpCode.CREATE, create("/a"));
  for (const ref of refs) for (let xid = 1; xid <= each; xid++) zk.send(ref, xid, OpCode.SYNC, onPath("/"));
  return { zk, writer, refs };
}

test("syncs that become due at the same moment are answered some a turn, in the order in which they came", () => {
  const { zk, refs } = withSyncs(4, 100);
  expect(zk.replica.pendingSyncCount).toBe(400);
  expect(zk.deliverOnce()).toBe(true);
  expect(refs.map((ref) => zk.take(ref).length)).toEqual([100, 100, 56, 0]);
  expect([zk.deliverOnce(), zk.replica.pendingSyncCount]).toEqual([false, 0]);
  expect(refs.map((ref) => zk.take(ref).length)).toEqual([0, 0, 44, 100]);
});

test("requests that wait behind syncs count with them", () => {
  const { zk, refs } = withSyncs(3, 1);
  for (const ref of refs) for (let xid = 2; xid <= 200; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
  zk.deliverOnce();
  expect(refs.map((ref) => zk.take(ref).length)).toEqual([200, 200, 0]);
  zk.deliverOnce();
  expect(refs.map((ref) => zk.take(ref).length)).toEqual([0, 0, 200]);
});

test("syncs of a client are answered before its next write, though others came before them", () => {
  const { zk, refs } = withSyncs(2, 300);
  const [first, second] = refs as [ConnectionRef, ConnectionRef];
  zk.send(second, 301, OpCode.CREATE, create("/b"));
  zk.send(second, 302, OpCode.SYNC, onPath("/"));
  zk.turn();
  expect(zk.take(first).map((answer) => Number(/^\d+/.exec(answer)?.[0]))).toEqual(
    Array.from({ length: 300 }, (_, i) => i + 1),
  );
  const answers = zk.take(second);
  expect(answers.map((answer) => Number(/^\d+/.exec(answer)?.[0]))).toEqual(
    Array.from({ length: 302 }, (_, i) => i + 1),
  );
  expect(answers[300]).toBe("301 path /b");
});

test("syncs of a connection that is gone are forgotten when they are due, and its number is free", () => {
  const { zk, refs } = withSyncs(1, 300);
  zk.replica.disconnect(refs[0] as ConnectionRef);
  expect(zk.open()).not.toBe(refs[0]);
  zk.turn();
  expect([zk.replica.pendingSyncCount, zk.open()]).toEqual([0, refs[0]]);
});
