import { WatchEventType } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { NodeVersions } from "./node-versions.ts";
import { RestoringWatches } from "./restoring-watches.ts";
import { ModelTree } from "./tree.ts";
import type { WatchLists } from "./watches.ts";
import { ModelWatches } from "./watches.ts";

const NO_LISTS: WatchLists = { relativeZxid: 5, data: [], exist: [], child: [], persistent: [], recursive: [] };
const { NODE_CREATED, NODE_DELETED, NODE_DATA_CHANGED } = WatchEventType;

/** The past of a node that was created at zxid 3 and written at zxid 8. */
function past(): NodeVersions {
  const model = new ModelTree();
  const versions = new NodeVersions();
  const create = { kind: "create", path: "/a", data: "", ephemeral: false, sequential: false } as const;
  model.apply({ kind: "one", write: create }, 1n, 3, 0);
  versions.keep(model, "/a", 3);
  model.apply({ kind: "one", write: { kind: "set", path: "/a", data: "x", version: -1 } }, 1n, 8, 0);
  versions.keep(model, "/a", 8);
  return versions;
}

function answered(restoring: RestoringWatches, zxid: number): ModelWatches {
  const watches = new ModelWatches();
  restoring.answered("c1", past(), zxid, watches);
  return watches;
}

describe("a watch that setWatches restores", () => {
  test("is armed where it missed nothing", () => {
    const watches = answered(new RestoringWatches({ ...NO_LISTS, data: ["/a"], child: ["/a"], exist: ["/b"] }), 7);
    expect(watches.paths("data")).toEqual(["/a", "/b"]);
    expect(watches.paths("child")).toEqual(["/a"]);
  });

  test("must have fired where it missed a change", () => {
    const lists = { ...NO_LISTS, data: ["/a"] };
    expect(() => answered(new RestoringWatches(lists), 8)).toThrow("C8");
    const restoring = new RestoringWatches(lists);
    expect(restoring.fires(-1, NODE_DATA_CHANGED, "/a")).toBe(true);
    expect(answered(restoring, 8).count).toBe(0);
  });

  test("must not have fired where it missed nothing", () => {
    const restoring = new RestoringWatches({ ...NO_LISTS, data: ["/a"] });
    expect(restoring.fires(-1, NODE_DATA_CHANGED, "/a")).toBe(true);
    expect(() => answered(restoring, 7)).toThrow("C8");
  });

  test("fires once for a missed change, of its own path and kind", () => {
    const restoring = new RestoringWatches({ ...NO_LISTS, data: ["/a"], exist: ["/b"] });
    expect(restoring.fires(-1, NODE_CREATED, "/a")).toBe(false);
    expect(restoring.fires(-1, NODE_DELETED, "/c")).toBe(false);
    expect(restoring.fires(-1, NODE_CREATED, "/b")).toBe(true);
    expect(restoring.fires(-1, NODE_CREATED, "/b")).toBe(false);
  });

  test("is kept by its client where the connection ends before the answer, unless it has fired", () => {
    const restoring = new RestoringWatches({ ...NO_LISTS, data: ["/a"], exist: ["/b"], recursive: ["/c"] });
    restoring.fires(-1, NODE_CREATED, "/b");
    expect(restoring.unanswered()).toEqual([
      ["data", "/a"],
      ["recursive", "/c"],
    ]);
  });

  test("that is persistent may fire for changes from then on, and for none that was missed", () => {
    const restoring = new RestoringWatches({ ...NO_LISTS, recursive: ["/a"] });
    expect(restoring.fires(9, NODE_CREATED, "/a/x")).toBe(true);
    expect(restoring.fires(-1, NODE_CREATED, "/a/x")).toBe(false);
    expect(answered(restoring, 9).paths("recursive")).toEqual(["/a"]);
  });
});
