import type { SessionId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { ModelSessions } from "./sessions.ts";

const [OLD, NEW, LATE] = [1, 2, 3].map((number) => (BigInt(number) << 20n) as SessionId) as [
  SessionId,
  SessionId,
  SessionId,
];
const RESTORED_AT = 500;

/** A state with an old session; and now that one is closed, and there is another. */
function pastAndNow(): { readonly past: ModelSessions; readonly now: ModelSessions } {
  const now = new ModelSessions();
  now.create(OLD, 1);
  const past = now.copy();
  now.create(NEW, 2);
  Object.assign(now.get(OLD) ?? {}, { endingZxid: 3, closedZxid: 3 });
  return { past, now };
}

describe("sessions of a restored state", () => {
  test("have begun to end, and those of now have ended", () => {
    const { past, now } = pastAndNow();
    const restored = now.restored(past, RESTORED_AT, "end");
    expect(restored.get(OLD)).toMatchObject({
      restoredAt: RESTORED_AT,
      endingZxid: RESTORED_AT,
      closedZxid: undefined,
    });
    expect(restored.get(NEW)).toMatchObject({ endingZxid: RESTORED_AT, closedZxid: RESTORED_AT });
  });

  test("live on where they are kept, whatever the discarded history did, and those of now have ended", () => {
    const { past, now } = pastAndNow();
    const restored = now.restored(past, RESTORED_AT, "keep");
    expect([...restored.unclosed()]).toEqual([[OLD, true]]);
    expect(restored.get(NEW)).toMatchObject({ closedZxid: RESTORED_AT });
    // A server that lags applies more of what was discarded.
    now.create(LATE, 4);
    restored.discard(now, RESTORED_AT);
    expect([...restored.unclosed()]).toEqual([[OLD, true]]);
    expect(restored.get(LATE)).toMatchObject({ closedZxid: RESTORED_AT });
  });
});
