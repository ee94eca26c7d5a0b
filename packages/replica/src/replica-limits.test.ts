import { OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { TestReplica } from "./testing/replica.ts";
import { create, multi, setData } from "./testing/requests.ts";

test("requests are slow from another threshold on", () => {
  const zk = new TestReplica();
  const client = zk.open();
  const slowOnes = (): number => zk.notes.filter(({ kind }) => kind === "slow-request").length;
  const write = (path: string): number => {
    zk.send(client, 1, OpCode.CREATE, create(path));
    zk.advance(100);
    zk.turn();
    return slowOnes();
  };
  expect(write("/a")).toBe(0);
  zk.replica.changeLimits({ slowRequestMs: 50 });
  expect(write("/b")).toBe(1);
  zk.replica.changeLimits({ slowRequestMs: 200 });
  expect(write("/c")).toBe(1);
  zk.replica.changeLimits({ slowRequestMs: Number.POSITIVE_INFINITY });
  expect(write("/d")).toBe(1);
});

test("a tree beyond a lower limit is kept, and grows again where the limit is raised", () => {
  const zk = new TestReplica();
  const client = zk.open();
  const large = "x".repeat(10_000);
  expect(zk.ask(client, OpCode.CREATE, create("/a", large))).toBe("path /a");
  zk.replica.changeLimits({ heldBytesMax: 5000 });
  expect(zk.ask(client, OpCode.CREATE, create("/b"))).toBe("QUOTA_EXCEEDED");
  zk.replica.changeLimits({ heldBytesMax: 1_000_000 });
  expect(zk.ask(client, OpCode.SET_DATA, setData("/a", `${large}${large}`))).toBe("stat");
});

test("a multi under way meets the limits that are in force for each part", () => {
  const zk = new TestReplica({ prepareWorkPerTurn: 1 });
  const client = zk.open();
  zk.send(client, 1, OpCode.MULTI, multi(...[1, 2, 3].map((i) => [OpCode.CREATE, create(`/n${i}`)] as const)));
  zk.replica.changeLimits({ multiOpCountMax: 2 });
  zk.turn();
  expect(zk.replica.tree.nodeCount).toBe(new TestReplica().replica.tree.nodeCount);
});
