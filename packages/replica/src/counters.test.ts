import { OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import type { Connection } from "./connections/connection.ts";
import { ConnectionStats } from "./connections/connection-stats.ts";
import { Counters } from "./counters.ts";
import type { ServingState } from "./serving-state.ts";
import type { SlowRequests } from "./slow-requests.ts";

test("every answer is counted once, however the answers are mixed and whenever they are read", () => {
  const state = { nowMs: 100 };
  const counters = new Counters(state as ServingState, { thresholdMs: 1000 } as SlowRequests);
  const connection = { stats: new ConnectionStats() } as Connection;
  const answered = (op: number, receivedMs: number, times: number): void => {
    for (let i = 0; i < times; i++) counters.answered(connection, op, i, 1, receivedMs);
  };
  answered(OpCode.GET_DATA, 100, 3);
  answered(OpCode.PING, 0, 2);
  answered(OpCode.GET_DATA, 100, 2);
  answered(OpCode.SET_DATA, 90, 4);
  expect(counters.values.reads).toMatchObject({ count: 5, sum: 0 });
  expect(counters.values.writes).toMatchObject({ count: 4, sum: 40 });
  answered(OpCode.SET_DATA, 90, 1);
  answered(OpCode.GET_DATA, 95, 1);
  answered(1234, 95, 1);
  expect(counters.values).toMatchObject({
    packetsSent: 14,
    latencyMsMin: 0,
    latencyMsMax: 10,
    latencyMsTotal: 60,
    latencyCount: 12,
    reads: { count: 7, max: 5 },
    writes: { count: 5, max: 10 },
  });
  expect(
    [...counters.values.byOperation].map(([op, buckets]) => [op, buckets.cumulative().at(-1), buckets.sumMs]),
  ).toEqual([
    [OpCode.GET_DATA, 6, 5],
    [OpCode.SET_DATA, 5, 50],
  ]);
  answered(OpCode.GET_DATA, 95, 2);
  counters.reset();
  expect(counters.values).toMatchObject({ packetsSent: 0, latencyCount: 0, reads: { count: 0 } });
});
