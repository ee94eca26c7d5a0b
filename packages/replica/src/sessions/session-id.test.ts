import { CONTAINER_OWNER_HIGH, nodeKind, serverId, sessionIdHigh, sessionIdLow } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newSessionId } from "./session-id.ts";

const parts = fc.record({
  sid: fc.integer({ min: 1, max: 254 }).map(serverId),
  bootCount: fc.nat(2 ** 20),
  counter: fc.integer({ min: 1, max: 2 ** 30 }),
  random: fc.integer({ min: 0, max: 0xffff }),
});

test("an id is never a special value: not 0, no container's, no TTL node's", () => {
  fc.assert(
    fc.property(parts, (all) => {
      const id = newSessionId(all);
      const [high, low] = [sessionIdHigh(id), sessionIdLow(id)];
      expect(nodeKind(high, low)).toBe("ephemeral");
      expect(high === CONTAINER_OWNER_HIGH && low === 0).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test("its top byte is the server's number", () => {
  for (const sid of [1, 127, 128, 254]) {
    const id = newSessionId({ sid: serverId(sid), bootCount: 3, counter: 9, random: 77 });
    expect(sessionIdHigh(id) >>> 24).toBe(sid);
  }
});

test("ids differ within a start and between starts, whatever the random numbers are", () => {
  const ids = new Set<bigint>();
  for (const sid of [1, 2, 254]) {
    for (const bootCount of [1, 2, 0xffff]) {
      for (const counter of [1, 2, 2 ** 20, 2 ** 20 + 1, 2 ** 28 - 1]) {
        ids.add(newSessionId({ sid: serverId(sid), bootCount, counter, random: 0xabc }));
      }
    }
  }
  expect(ids.size).toBe(3 * 3 * 5);
});
