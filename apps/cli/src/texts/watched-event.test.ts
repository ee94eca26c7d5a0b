import type { SessionId, Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { connectionEvent, nodeEvent, watchedEventJson, watchedEventLines } from "./watched-event.ts";

test("an event is the four lines of zkCli's watcher", () => {
  const event = nodeEvent({ type: "children-changed", path: "/a", zxid: 0x1_0000_0001 as Zxid });
  expect(watchedEventLines(event)).toEqual([
    "",
    "WATCHER::",
    "",
    "WatchedEvent state:SyncConnected type:NodeChildrenChanged path:/a zxid: 4294967297",
  ]);
  expect(watchedEventJson(event)).toEqual({
    event: "NodeChildrenChanged",
    state: "SyncConnected",
    path: "/a",
    zxid: "0x100000001",
  });
});

test.each([
  [-1, null],
  [0, "0x0"],
  [1, "0x1"],
])("the zxid %d is %s in JSON", (zxid, text) => {
  const event = { state: "SyncConnected", type: "NodeCreated", path: "/a", zxid: zxid as Zxid } as const;
  expect(watchedEventJson(event)).toMatchObject({ zxid: text });
});

test("a change of the connection has neither path nor zxid", () => {
  const event = connectionEvent({ kind: "suspended", sessionId: 1n as SessionId });
  expect(event && watchedEventLines(event).at(-1)).toBe("WatchedEvent state:Disconnected type:None path:null zxid: -1");
  expect(event && watchedEventJson(event)).toMatchObject({ path: null, zxid: null });
  expect(connectionEvent({ kind: "connecting" })).toBeUndefined();
});
