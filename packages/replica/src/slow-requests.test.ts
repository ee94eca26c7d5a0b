import { OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import type { SlowRequest } from "./slow-requests.ts";
import { TestEnsemble } from "./testing/ensemble.ts";
import { TestReplica } from "./testing/replica.ts";
import { create, multi, read } from "./testing/requests.ts";

function slowOnes(test: Pick<TestReplica, "notes">): readonly SlowRequest[] {
  return test.notes.filter((event): event is SlowRequest => event.kind === "slow-request");
}

test("a write that waited for the disk is reported with its stages", () => {
  const test = new TestReplica({ slowRequestMs: 100 });
  const client = test.open();
  test.send(client, 7, OpCode.CREATE, create("/slow", "a secret value"));
  test.advance(30);
  test.replica.propose();
  test.replica.flush();
  test.advance(200);
  test.sync();
  test.advance(5);
  test.replica.deliver(10);
  const [slow, ...more] = slowOnes(test);
  expect(more).toEqual([]);
  expect(slow).toMatchObject({
    op: "CREATE",
    path: "/slow",
    session: test.session,
    address: "127.0.0.1",
    xid: 7,
    zxid: test.replica.tree.applied,
    totalMs: 235,
    stages: { queueMs: 30, syncMs: 200, commitMs: 205, applyMs: 0 },
  });
  expect(JSON.stringify(slow, (_, value) => (typeof value === "bigint" ? `${value}` : value))).not.toContain("secret");
});

test("a read is reported with its wait, behind the write of its connection", () => {
  const test = new TestReplica({ slowRequestMs: 100 });
  const client = test.open();
  test.send(client, 1, OpCode.CREATE, create("/a"));
  test.advance(1);
  test.send(client, 2, OpCode.GET_DATA, read("/a"));
  test.advance(100);
  test.turn();
  expect(slowOnes(test)).toMatchObject([
    { op: "CREATE", totalMs: 101 },
    { op: "GET_DATA", path: "/a", xid: 2, zxid: undefined, totalMs: 100, stages: { waitMs: 100 } },
  ]);
});

test("a multi has the stages of its one transaction", () => {
  const test = new TestReplica({ slowRequestMs: 50 });
  const client = test.open();
  test.send(client, 1, OpCode.MULTI, multi([OpCode.CREATE, create("/m")], [OpCode.CREATE, create("/m/x")]));
  test.replica.propose();
  test.replica.flush();
  test.advance(50);
  test.turn();
  expect(slowOnes(test)).toMatchObject([{ op: "MULTI", path: "", stages: { queueMs: 0, syncMs: 50 } }]);
});

test("a long path is cut, and a refused write has none", () => {
  const test = new TestReplica({ slowRequestMs: 10 });
  const client = test.open();
  test.send(client, 1, OpCode.CREATE, create(`/${"x".repeat(1000)}`));
  test.send(client, 2, OpCode.CREATE, create("/no/parent"));
  test.advance(10);
  test.turn();
  expect(slowOnes(test).map(({ path }) => path.length)).toEqual([256, 0]);
});

test("below the threshold, and without one, nothing is reported", () => {
  for (const config of [{ slowRequestMs: 100 }, {}]) {
    const test = new TestReplica(config);
    const client = test.open();
    test.send(client, 1, OpCode.CREATE, create("/a"));
    test.advance(99);
    test.turn();
    expect(slowOnes(test)).toEqual([]);
  }
});

test("at a follower the first stage is the way by the leader", () => {
  const ensemble = new TestEnsemble(3, {}, { slowRequestMs: 20 });
  const [follower] = ensemble.followers;
  if (follower === undefined) throw new Error("no server follows");
  const client = follower.open();
  follower.notes.length = 0;
  follower.send(client, 1, OpCode.CREATE, create("/forwarded"));
  // The clocks of all servers advance before the request is forwarded.
  for (const { replica } of ensemble.members) replica.setTime(replica.nowMs + 50, 2_000_000);
  ensemble.run();
  expect(slowOnes(follower)).toMatchObject([
    { op: "CREATE", totalMs: 50, stages: { forwardMs: 50, syncMs: 0, commitMs: 0, applyMs: 0 } },
  ]);
});
