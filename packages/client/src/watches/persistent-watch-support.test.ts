import { beforeEach, expect, test } from "vitest";
import { PersistentWatchSupport } from "./persistent-watch-support.ts";

let received: string[];
let watches: PersistentWatchSupport;

beforeEach(() => {
  received = [];
  watches = new PersistentWatchSupport((server, reason) => received.push(`${server} ${reason}`));
});

test("a server that refuses is not asked again for a minute, and others are", () => {
  watches.refused("a:1", 1_000);
  expect([watches.mayBeAt("a:1", 60_999), watches.mayBeAt("a:1", 61_000), watches.mayBeAt("b:1", 1_000)]).toEqual([
    false,
    true,
    true,
  ]);
});

test("a server is reported once, however often it refuses", () => {
  watches.refused("a:1", 0);
  watches.refused("a:1", 60_000);
  watches.refused("b:1", 60_000);
  expect(received).toEqual(["a:1 refused", "b:1 refused"]);
});

test("three connections in a row that end before the answer count as a refusal", () => {
  for (const connection of [1, 2]) watches.hungUp("a:1", connection, 0);
  expect(watches.mayBeAt("a:1", 0)).toBe(true);
  watches.hungUp("a:1", 3, 0);
  expect([watches.mayBeAt("a:1", 0), received]).toEqual([false, ["a:1 hung-up"]]);
});

test("several requests on one lost connection count once, and an armed watch resets the count", () => {
  for (const connection of [1, 1, 1, 2]) watches.hungUp("a:1", connection, 0);
  expect(watches.mayBeAt("a:1", 0)).toBe(true);
  watches.armed("a:1");
  for (const connection of [3, 4]) watches.hungUp("a:1", connection, 0);
  expect(watches.mayBeAt("a:1", 0)).toBe(true);
});

test("a server that has armed one counts as supporting, until it refuses", () => {
  expect(watches.areKnownAt("a:1")).toBe(false);
  watches.armed("a:1");
  expect([watches.areKnownAt("a:1"), watches.areKnownAt("b:1")]).toEqual([true, false]);
  watches.refused("a:1", 0);
  expect(watches.areKnownAt("a:1")).toBe(false);
});

test("the memory is bounded: the oldest entries are dropped first", () => {
  for (let i = 0; i < 300; i++) watches.refused(`a:${i}`, 0);
  expect([watches.mayBeAt("a:0", 0), watches.mayBeAt("a:299", 0)]).toEqual([true, false]);
});
