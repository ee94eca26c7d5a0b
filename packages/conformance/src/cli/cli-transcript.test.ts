import { expect, test } from "vitest";
import { normaliseCliLine } from "./cli-transcript.ts";

test.each([
  ["a zxid", "cZxid = 0x1f0", "cZxid = 0x#"],
  ["a zxid of 0, which is the same everywhere", "ephemeralOwner = 0x0", "ephemeralOwner = 0x0"],
  ["a time", "ctime = Sat Nov 21 15:01:04 UTC 2026", "ctime = #"],
  ["a time in another form, which is a difference", "ctime = 2026-11-21", "ctime = 2026-11-21"],
  ["the beginning of time", "mtime = Thu Jan 01 00:00:00 UTC 1970", "mtime = never"],
  ["an event's zxid", "WatchedEvent state:S type:T path:/a zxid: 27", "WatchedEvent state:S type:T path:/a zxid: #"],
  [
    "an event without one",
    "WatchedEvent state:S type:T path:/a zxid: -1",
    "WatchedEvent state:S type:T path:/a zxid: -1",
  ],
  ["an address", "Connecting to 127.0.0.1:4711/x", "Connecting to HOST:PORT/x"],
  ["anything else", "Node does not exist: /a", "Node does not exist: /a"],
])("%s", (_, line, expected) => {
  expect(normaliseCliLine(line)).toBe(expected);
});

test("what is about the program and not about the command is left out", () => {
  expect(normaliseCliLine("JLine support is disabled")).toBeUndefined();
  expect(normaliseCliLine("\ttree [-d depth] [path]")).toBeUndefined();
  expect(normaliseCliLine("\tsync path")).toBe("\tsync path");
});
