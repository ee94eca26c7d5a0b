import { expect, test } from "vitest";
import { type AnyCall, Call } from "../calls/call.ts";
import { ServerWatches } from "./server-watches.ts";
import type { Watcher } from "./watch-registry.ts";

const PATH = "/a";
const WATCHER: Watcher = { rearms: true, fire: () => {}, end: () => {} };

/** A watcher that was removed, and the removals that the server is asked for. */
function removed() {
  const removals: AnyCall[] = [];
  const watches = new ServerWatches({
    isConnected: () => true,
    ask: (fields) => new Promise((resolve, reject) => void removals.push(new Call(fields, resolve, reject) as AnyCall)),
  });
  const remove = (): void => {
    watches.registry.add("data", PATH, WATCHER);
    watches.remove("data", PATH, WATCHER);
  };
  remove();
  const [removal] = removals;
  if (removal === undefined) throw new Error("the server's watch is not removed");
  return { watches, removals, removal, remove };
}

test("a server that does not know removals is not asked again, also where the removal had to wait", async () => {
  const { watches, removals, removal, remove } = removed();
  expect(watches.isWantedAgain(removal)).toBe(false);
  removal.reject(removal.failure("UNIMPLEMENTED", "rejected"));
  await Promise.resolve();
  remove();
  expect(removals).toHaveLength(1);
});

test("a removal that had to wait ends unsent where the watch is wanted again", () => {
  const { watches, removal } = removed();
  watches.registry.add("data", PATH, WATCHER);
  expect([watches.isWantedAgain(removal), removal.isSettled]).toEqual([true, true]);
});
