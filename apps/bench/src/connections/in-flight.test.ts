import fc from "fast-check";
import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

test("requests come back in the order in which they were sent, however many are in flight", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 40 }), (steps) => {
      const ring = new InFlight();
      const model: { timeMs: number; kind: number }[] = [];
      let sent = 0;
      for (const step of steps) {
        for (let i = 0; i < step; i++) {
          ring.push(++sent, sent & 7);
          model.push({ timeMs: sent, kind: sent & 7 });
        }
        for (let i = 0; i < -step && model.length > 0; i++) {
          expect({ timeMs: ring.oldestTime, kind: ring.oldestKind }).toEqual(model.shift());
          ring.shift();
        }
        expect(ring.count).toBe(model.length);
      }
    }),
  );
});

test("a batch gets the time at which it left; what left before keeps its own", () => {
  const ring = new InFlight();
  ring.push(1, 0);
  ring.push(0, 1);
  ring.push(0, 2);
  ring.stampNewest(2, 5);
  const times = [];
  for (; ring.count > 0; ring.shift()) times.push(ring.oldestTime);
  expect(times).toEqual([1, 5, 5]);
});
