import type { ConnectionRef } from "@zooid/model";
import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import type { ServingState } from "../serving-state.ts";
import { InFlightWrites, NO_CONNECTION } from "./in-flight-writes.ts";
import { WriteShares } from "./write-shares.ts";

function inFlightWrites(): { writes: InFlightWrites; issue: (ref: number, xid: number, op?: number) => number } {
  const servingState = { nowMs: 5.5 } as ServingState;
  const writes = new InFlightWrites({
    config: { sid: serverId(1) },
    servingState,
    writeShares: new WriteShares({ writeWorkUsMax: 20_000 }),
  });
  return {
    writes,
    issue: (ref, xid, op = 1) =>
      writes.issue(
        {
          ref: ref as ConnectionRef,
          issued: 0,
          share: "10.0.0.1",
          isProxied: false,
          workUs: 0,
          addressWork: undefined,
        },
        xid,
        op,
        10,
      ),
  };
}

test("writes are taken in the order of their numbers, with the request behind each", () => {
  const { writes, issue } = inFlightWrites();
  const first = issue(7, 100);
  const second = writes.issueWithoutClient(-11);
  expect([first, second, writes.count, writes.sizeBytes]).toEqual([1, 2, 2, 10]);
  writes.take(first);
  expect([writes.connection, writes.xid, writes.op, writes.receivedMs]).toEqual([7, 100, 1, 5.5]);
  writes.take(second);
  expect([writes.connection, writes.xid, writes.op, writes.count]).toEqual([NO_CONNECTION, 0, -11, 0]);
});

test("a commit out of order is a defect", () => {
  const { writes, issue } = inFlightWrites();
  issue(0, 1);
  issue(0, 2);
  expect(() => writes.take(2)).toThrow("own writes commit in order: 2 came where 1 was due");
});

test("the ring grows while it is half walked, and loses nothing", () => {
  const { writes, issue } = inFlightWrites();
  let taken = 0;
  let put = 0;
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 300; i++) issue(put % 50, put++, put % 7);
    for (let i = 0; i < 100; i++) {
      writes.take(taken + 1);
      expect([writes.connection, writes.xid]).toEqual([taken % 50, taken]);
      taken++;
    }
  }
  expect(writes.count).toBe(put - taken);
});

test("after a clearing no client waits for earlier writes, and numbers continue", () => {
  const { writes, issue } = inFlightWrites();
  writes.startAt(2 ** 33);
  const before = issue(1, 1);
  writes.clear();
  expect([before, writes.count, writes.sizeBytes]).toEqual([2 ** 33, 0, 0]);
  const after = issue(2, 2);
  expect(writes.take(before)).toBe(false);
  expect([writes.take(after), writes.connection]).toEqual([true, 2]);
});

test("no client waits for numbers of another life of the server, below or above", () => {
  const { writes, issue } = inFlightWrites();
  writes.startAt(1000);
  const own = issue(3, 1);
  expect([writes.take(999), writes.take(1001), writes.take(5000), writes.count]).toEqual([false, false, false, 1]);
  expect([writes.take(own), writes.connection]).toEqual([true, 3]);
  expect([writes.take(1001), writes.count]).toEqual([false, 0]);
});
