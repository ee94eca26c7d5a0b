import { expect, test } from "vitest";
import { withinSession } from "./session-scope.ts";
import type { StateListeners } from "./state-listeners.ts";

type Listener = Parameters<StateListeners["add"]>[0];

/** The listeners to the states of a client. */
function states() {
  const listeners = new Set<Listener>();
  const add = (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const enters = (kind: string): void => {
    for (const listener of listeners) listener({ kind } as Parameters<Listener>[0]);
  };
  return { listeners, enters, states: { add } as unknown as StateListeners };
}

test.each<readonly [end: string, work: () => unknown, code: string | undefined]>([
  ["gives a value", () => "value", undefined],
  ["gives a promise", async () => "value", undefined],
  ["throws", () => Promise.reject(Object.assign(new Error("no"), { code: "OWN" })), "OWN"],
  [
    "throws at once",
    () => {
      throw Object.assign(new Error("no"), { code: "OWN" });
    },
    "OWN",
  ],
])("work that %s leaves no listener behind", async (_, work, code) => {
  const { listeners, states: each } = states();
  const outcome = withinSession(each, () => {
    expect(listeners.size).toBe(1);
    return work();
  });
  if (code === undefined) expect(await outcome).toBe("value");
  else await expect(outcome).rejects.toMatchObject({ code });
  expect(listeners.size).toBe(0);
});

test.each(["connecting", "connected", "read-only", "suspended", "lost", "closed", "auth-failed"])(
  "the work's calls end with the session alone: %s",
  async (kind) => {
    const { listeners, enters, states: each } = states();
    const outcome = withinSession(each, (signal) => {
      enters(kind);
      return signal.aborted;
    });
    if (kind === "lost") await expect(outcome).rejects.toMatchObject({ code: "SESSION_EXPIRED", outcome: "unknown" });
    else expect(await outcome).toBe(false);
    expect(listeners.size).toBe(0);
  },
);
