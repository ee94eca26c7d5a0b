import { ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { zkError } from "../errors.ts";
import type { WatchEvent } from "./watch-event.ts";
import { type Watcher, type WatchKind, WatchRegistry, WatchType } from "./watch-registry.ts";

/** Watchers of every kind on some paths, and the events that they receive. */
function watched(watches: readonly (readonly [WatchKind, string])[]) {
  const registry = new WatchRegistry();
  const received: string[] = [];
  for (const [kind, path] of watches) {
    registry.add(kind, path, { rearms: true, fire: () => received.push(`${kind} ${path}`), end: () => {} });
  }
  const fire = (type: WatchEvent["type"], path: string) => {
    registry.fire({ type, path, zxid: ZXID_NONE });
    return received.splice(0);
  };
  return { registry, fire };
}

const ALL: readonly WatchKind[] = ["data", "exists", "children", "persistent", "recursive"];

test.each([
  ["created", ["data /a", "exists /a", "recursive /a", "persistent /a"]],
  ["data-changed", ["data /a", "exists /a", "recursive /a", "persistent /a"]],
  ["deleted", ["data /a", "exists /a", "recursive /a", "children /a", "persistent /a"]],
  ["children-changed", ["children /a", "persistent /a"]],
] as const)("%s fires the matching watchers; persistent watches stay", (type, woken) => {
  const { registry, fire } = watched(ALL.map((kind) => [kind, "/a"] as const));
  expect(fire(type, "/a")).toEqual(woken);
  const lasting = woken.filter((name) => name.startsWith("persistent") || name.startsWith("recursive"));
  expect(fire(type, "/a")).toEqual(lasting);
  expect(registry.size).toBe(ALL.length - (woken.length - lasting.length));
});

test("a recursive watch sees its whole subtree and nothing beside it", () => {
  const { fire } = watched([
    ["recursive", "/a"],
    ["recursive", "/"],
  ]);
  expect(fire("created", "/a/b/c")).toEqual(["recursive /a", "recursive /"]);
  expect(fire("created", "/ab")).toEqual(["recursive /"]);
  expect(fire("children-changed", "/a/b")).toEqual([]);
  expect(fire("deleted", "/")).toEqual(["recursive /"]);
});

test("a watcher of several kinds fires once", () => {
  const registry = new WatchRegistry();
  let count = 0;
  const watcher: Watcher = { rearms: true, fire: () => count++, end: () => {} };
  for (const kind of ALL) registry.add(kind, "/a", watcher);
  registry.fire({ type: "deleted", path: "/a", zxid: ZXID_NONE });
  expect(count).toBe(1);
});

test("the server's watch is needed while there is a watcher, or a read in flight that arms it", () => {
  const registry = new WatchRegistry();
  const watcher: Watcher = { rearms: true, fire: () => {}, end: () => {} };
  registry.add("exists", "/a", watcher);
  expect([registry.isWanted(WatchType.DATA, "/a"), registry.isWanted(WatchType.CHILDREN, "/a")]).toEqual([true, false]);
  registry.beginArming(WatchType.DATA, "/a");
  registry.beginArming(WatchType.DATA, "/a");
  expect([registry.remove("exists", "/a", watcher), registry.remove("exists", "/a", watcher)]).toEqual([true, false]);
  registry.settleArming(WatchType.DATA, "/a");
  expect(registry.isWanted(WatchType.DATA, "/a")).toBe(true);
  registry.settleArming(WatchType.DATA, "/a");
  expect(registry.isWanted(WatchType.DATA, "/a")).toBe(false);
});

test("watches are armed again in batches, without those of watchers that do it themselves", () => {
  const { registry } = watched(ALL.map((kind) => [kind, `/${kind}`] as const));
  registry.add("data", "/own", { rearms: false, fire: () => {}, end: () => {} });
  registry.severed();
  expect([...registry.batches(100_000)]).toEqual([
    {
      data: ["/data"],
      exists: ["/exists"],
      children: ["/children"],
      persistent: ["/persistent"],
      recursive: ["/recursive"],
    },
  ]);
  const long = "x".repeat(50_000);
  for (const name of ["1", "2", "3"])
    registry.add("children", `/${name}${long}`, { rearms: true, fire: () => {}, end: () => {} });
  expect([...registry.batches(100_100)].map(({ children }) => children.length)).toEqual([3, 1]);
});

test("each watcher is ended once", () => {
  const registry = new WatchRegistry();
  let count = 0;
  const watcher: Watcher = { rearms: true, fire: () => {}, end: () => count++ };
  registry.add("data", "/a", watcher);
  registry.add("children", "/b", watcher);
  registry.end(zkError({ code: "CLIENT_CLOSED", op: "watch", outcome: "not-sent" }));
  expect([count, registry.size]).toEqual([1, 0]);
});
