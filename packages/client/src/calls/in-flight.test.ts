import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnyCall, Call } from "./call.ts";
import { InFlight } from "./in-flight.ts";
import { GET_DATA } from "./operation.ts";

const ignore = () => {};

function call(xid: number): AnyCall {
  const made = new Call(
    { operation: GET_DATA, path: "/a", shownPath: "/a", body: undefined },
    ignore,
    ignore,
  ) as AnyCall;
  made.xid = xid;
  return made;
}

test("a ring of any size behaves like a queue", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant("push"), fc.constant("shift")), { maxLength: 500 }), (steps) => {
      const ring = new InFlight();
      const queue: { xid: number; sentAtMs: number }[] = [];
      let xid = 0;
      for (const step of steps) {
        if (step === "push") {
          ring.push(call(++xid));
          ring.markSent(xid * 10);
          queue.push({ xid, sentAtMs: xid * 10 });
        } else if (queue.length > 0) {
          const expected = queue.shift();
          expect(ring.oldestSentAtMs).toBe(expected?.sentAtMs);
          expect(ring.shift().xid).toBe(expected?.xid);
        }
        expect(ring.count).toBe(queue.length);
      }
    }),
  );
});

test.each([1, 63, 64, 65, 128])("%i calls are drained once each, wherever the ring begins", (count) => {
  for (const before of [0, 5]) {
    const ring = new InFlight();
    for (let xid = 1; xid <= before; xid++) ring.push(call(-xid));
    for (let xid = 1; xid <= before; xid++) ring.shift();
    const xids = Array.from({ length: count }, (_, i) => i + 1);
    for (const xid of xids) ring.push(call(xid));
    const drained: number[] = [];
    ring.drain(({ xid }) => drained.push(xid));
    expect(drained).toEqual(xids);
  }
});

test("calls that were not passed to the connection are marked, and no answer is expected for them", () => {
  const ring = new InFlight();
  ring.push(call(1));
  ring.markSent(5);
  ring.push(call(2));
  expect(ring.oldest?.xid).toBe(1);
  ring.shift();
  expect(ring.oldest).toBeUndefined();
  ring.markSent(6);
  ring.push(call(3));
  const drained: string[] = [];
  ring.drain(({ xid }, wasSent) => drained.push(`${xid} ${wasSent}`));
  expect([drained, ring.count]).toEqual([["2 true", "3 false"], 0]);
  ring.push(call(4));
  expect(ring.oldest).toBeUndefined();
});
