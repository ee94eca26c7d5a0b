import { type ConnectionRef, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, createTtl, read, setData, versioned } from "../testing/requests.ts";

const MINUTE_MS = 60_000;
const REAPING = { checkIntervalMs: MINUTE_MS, perMinuteMax: 10_000, neverUsedMsMax: 0 };

function start(reaping: Partial<typeof REAPING> = {}): { zk: TestReplica; client: ConnectionRef } {
  const zk = new TestReplica({ isTtlEnabled: true, reaping: { ...REAPING, ...reaping } });
  return { zk, client: zk.open() };
}

function useContainer(zk: TestReplica, client: ConnectionRef, path: string): void {
  zk.ask(client, OpCode.CREATE_CONTAINER, create(path, "", 4));
  zk.ask(client, OpCode.CREATE, create(`${path}/x`));
  zk.ask(client, OpCode.DELETE, versioned(`${path}/x`));
}

test("an empty container is removed at the next check, with its events", () => {
  const { zk, client } = start();
  useContainer(zk, client, "/c");
  zk.ask(client, OpCode.EXISTS, read("/c", true));
  zk.advanceInTicks(MINUTE_MS - 1);
  expect(zk.take(client)).toEqual([]);
  zk.advanceInTicks(1);
  expect(zk.take(client)).toEqual(["event 2 /c"]);
});

test("a TTL node is removed at the first check after its last write and its time to live", () => {
  const { zk, client } = start();
  zk.ask(client, OpCode.CREATE_TTL, createTtl("/t", MINUTE_MS));
  zk.advanceInTicks(MINUTE_MS); // Not longer than its time to live.
  zk.ask(client, OpCode.SET_DATA, setData("/t", "x"));
  zk.advanceInTicks(MINUTE_MS);
  expect(zk.ask(client, OpCode.EXISTS, read("/t"))).toBe("stat");
  zk.advanceInTicks(MINUTE_MS);
  expect(zk.ask(client, OpCode.EXISTS, read("/t"))).toBe("NO_NODE");
});

test("rounds follow each other at the configured interval", () => {
  const { zk, client } = start({ checkIntervalMs: 5 });
  for (const path of ["/a", "/b"]) zk.ask(client, OpCode.CREATE_TTL, createTtl(path, 10));
  const left: number[] = [];
  for (let i = 0; i < 5; i++) {
    zk.advanceInTicks(5);
    left.push(zk.replica.tree.reapableCount);
  }
  // Ten thousand a minute are one in six milliseconds.
  expect(left).toEqual([2, 2, 1, 1, 0]);
});

test("nothing is due while there is no container and no TTL node", () => {
  const { zk, client } = start();
  expect(zk.replica.nextTickMs()).toBeUndefined();
  zk.ask(client, OpCode.CREATE_CONTAINER, create("/c", "", 4));
  expect(zk.replica.nextTickMs()).toBe(MINUTE_MS);
  zk.ask(client, OpCode.DELETE, versioned("/c"));
  expect(zk.replica.nextTickMs()).toBeUndefined();
});

test("at most the configured number is removed in a minute, and the others follow", () => {
  const { zk, client } = start({ perMinuteMax: 5 });
  for (let i = 0; i < 12; i++) zk.ask(client, OpCode.CREATE_TTL, createTtl(`/t${i}`, 1));
  const left: number[] = [];
  for (let minute = 0; minute < 4; minute++) {
    zk.advanceInTicks(MINUTE_MS);
    left.push(zk.replica.tree.reapableCount);
  }
  // The first round begins at the end of the first minute.
  expect(left).toEqual([11, 6, 1, 0]);
});

test("many nodes are checked in steps, and each once a round", () => {
  const { zk, client } = start();
  for (let i = 0; i < 2500; i++) {
    zk.send(client, i, OpCode.CREATE_TTL, createTtl(`/t${i}`, 1e6));
    if (i % 500 === 0) zk.turn();
  }
  zk.turn();
  zk.advance(MINUTE_MS);
  const due: (number | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    zk.replica.tick();
    due.push(zk.replica.nextTickMs());
    zk.advance((due.at(-1) ?? 0) - zk.replica.nowMs);
  }
  expect(due).toEqual([60_100, 60_200, 120_000, 120_100]);
});

describe("when the wall clock is set", () => {
  test("forward, nothing is removed for ten minutes, and that is reported", () => {
    const { zk, client } = start();
    zk.ask(client, OpCode.CREATE_TTL, createTtl("/t", 1000));
    zk.setWallClock(365 * 86_400_000);
    zk.advanceInTicks(10 * MINUTE_MS);
    expect(zk.ask(client, OpCode.EXISTS, read("/t"))).toBe("stat");
    expect(zk.notes.filter(({ kind }) => kind === "wall-clock-set")).toHaveLength(1);
    zk.advanceInTicks(MINUTE_MS);
    expect(zk.ask(client, OpCode.EXISTS, read("/t"))).toBe("NO_NODE");
  });

  test("forward and back within that time, only nodes that are due by the right time are removed", () => {
    const { zk, client } = start();
    zk.ask(client, OpCode.CREATE_TTL, createTtl("/t", 1e9));
    zk.setWallClock(1e10);
    zk.advanceInTicks(5 * MINUTE_MS);
    zk.setWallClock(-1e10);
    zk.advanceInTicks(60 * MINUTE_MS);
    expect(zk.ask(client, OpCode.EXISTS, read("/t"))).toBe("stat");
  });
});

test("a client may not request deleteContainer", () => {
  const { zk, client } = start();
  useContainer(zk, client, "/c");
  expect(zk.ask(client, OpCode.DELETE_CONTAINER, (writer) => writer.text("/c"))).toBe("UNIMPLEMENTED; close");
  expect(zk.ask(zk.open(), OpCode.EXISTS, read("/c"))).toBe("stat");
});
