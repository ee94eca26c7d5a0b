import { sliceOf, sliceText } from "@zooid/model";
import { describe, expect, test } from "vitest";
import type { EphemeralPathsLimits } from "../sessions/ephemeral-paths.ts";
import { create, remove, setData, TestTree } from "../testing/tree.ts";

describe("a session", () => {
  test("is usable once proposed, there once applied, and neither once closed", () => {
    const test = new TestTree();
    const seen = () => [test.tree.isSessionUsable(3, -4), test.tree.hasSession(3, -4)];
    expect(seen()).toEqual([false, false]);
    test.proposeSession(3, -4);
    expect(seen()).toEqual([true, false]);
    test.applyAll();
    expect(seen()).toEqual([true, true]);
    expect(test.tree.sessionTimeoutMs(3, -4)).toBe(30_000);
    expect(Buffer.from(test.tree.sessionPasswordHash(3, -4) ?? []).toString()).toBe("0123456789abcdef");
    test.proposeClose(3, -4);
    expect(seen()).toEqual([false, true]);
    test.applyAll();
    expect(seen()).toEqual([false, false]);
    expect(test.tree.sessionPasswordHash(3, -4)).toBeUndefined();
    expect(test.digest()).toBe(new TestTree().digest());
  });

  test("takes its ephemerals along: applied ones, those in flight, not those whose deletion is in flight", () => {
    const test = new TestTree();
    test.proposeSession(1, 1);
    test.commit(create("/p"));
    for (const name of ["applied", "deleted", "replaced", "changed"]) test.commit(create(`/p/${name}`, { flags: 1 }));
    test.propose(remove("/p/deleted"));
    test.propose(remove("/p/replaced"));
    test.propose(create("/p/replaced", { flags: 1 }));
    test.propose(setData("/p/changed", "x"));
    test.propose(create("/p/in-flight-", { flags: 3 }));
    test.propose(create("/p/gone", { flags: 1 }));
    test.propose(remove("/p/gone"));
    test.context.sessionHigh = 2;
    test.propose(create("/p/other", { flags: 1 }));

    const paths = test.proposeClose(1, 1);

    expect(paths.sort()).toEqual(["/p/applied", "/p/changed", "/p/in-flight-0000000005", "/p/replaced"]);
    expect(test.proposeClose(1, 1)).toEqual([]);
    test.applyAll();
    expect(test.children("/p")).toEqual(["other"]);
    expect(test.stat("/p").pzxid).toBe(test.history[test.history.length - 2].header.zxid);
    expect([test.tree.sessionCount, test.tree.ephemeralCount, test.tree.pendingCount]).toEqual([0, 1, 0]);
  });

  test("that is unknown closes without complaint", () => {
    const test = new TestTree();
    expect(test.proposeClose(9, 9)).toEqual([]);
    test.applyAll();
    expect(test.tree.sessionCount).toBe(0);
  });

  /** The paths that are shown, or undefined where a limit is reached. */
  function shown(test: TestTree, prefix: string, limits: Partial<EphemeralPathsLimits> = {}): string[] | undefined {
    const paths: string[] = [];
    const all = { bytesMax: 1000, workMax: 1000, ...limits };
    const isWhole = test.tree.forEachEphemeralPath(1, 1, sliceOf(prefix), all, (path) => paths.push(sliceText(path)));
    return isWhole ? paths : undefined;
  }

  test("lists its own ephemerals, or refuses where their paths are too long", () => {
    const test = new TestTree();
    test.proposeSession(1, 1);
    for (const path of ["/b", "/a", "/ab"]) test.commit(create(path, { flags: 1 }));
    expect(test.tree.ephemeralPaths(1, 1)).toEqual(["/a", "/ab", "/b"]);
    expect(test.tree.ephemeralPaths(2, 2)).toEqual([]);
    expect(shown(test, "", { bytesMax: 7 })).toEqual(["/ab", "/a", "/b"]);
    expect(shown(test, "", { bytesMax: 6 })).toBeUndefined();
    expect(shown(test, "/a", { bytesMax: 5 })).toEqual(["/ab", "/a"]);
  });

  test("refuses to look at more than a limit: ephemerals, the names above those that are no siblings, and long names", () => {
    const test = new TestTree();
    test.proposeSession(1, 1);
    for (const path of ["/a", "/a/b", "/a/b/c", "/d"]) test.commit(create(path));
    for (const path of ["/a/b/c/1", "/a/b/c/2", "/d/1", "/a/b/c/3"]) test.commit(create(path, { flags: 1 }));
    // Four ephemerals, and the names of /a/b/c twice, of /d once.
    for (const prefix of ["", "/none"]) {
      expect(shown(test, prefix, { workMax: 11 })).toHaveLength(prefix === "" ? 4 : 0);
      expect(shown(test, prefix, { workMax: 10 })).toBeUndefined();
    }
    test.commit(create(`/d/${"n".repeat(640)}`, { flags: 1 }));
    expect(shown(test, "", { workMax: 11 + 1 + 10 + 1 })).toHaveLength(5);
    expect(shown(test, "", { workMax: 11 + 1 + 10 })).toBeUndefined();
    expect(test.tree.ephemeralWork).toBe(23);
  });

  test("are listed below any parents, however long their names", () => {
    const test = new TestTree();
    test.proposeSession(1, 1);
    const parents = ["", "/a", "/a/b", `/${"p".repeat(300)}`, ...Array.from({ length: 30 }, (_, i) => `/q${i}`)];
    for (const parent of parents.slice(1)) test.propose(create(parent));
    const paths: string[] = [];
    for (let i = 0; i < 200; i++) paths.push(`${parents[(i >> 1) % parents.length]}/${"n".repeat((i * 37) % 200)}${i}`);
    for (const path of paths) test.propose(create(path, { flags: 1 }));
    test.applyAll();
    expect(test.tree.ephemeralPaths(1, 1)).toEqual(paths.sort());
    for (const prefix of ["/a/b", "/a/b/", "/a/b/nnn", "/a", `/${"p".repeat(300)}`, `/${"p".repeat(300)}/n`, "/n"]) {
      const expected = paths.filter((path) => path.startsWith(prefix));
      expect(shown(test, prefix, { bytesMax: 1e6, workMax: 1e6 })?.sort()).toEqual(expected);
    }
  });

  test("whose creation was only proposed is forgotten when the leader steps down", () => {
    const test = new TestTree();
    test.proposeSession(1, 1);
    test.applyAll();
    test.proposeSession(2, 2);
    test.proposeClose(1, 1);
    test.tree.discardPending();
    expect(test.tree.isSessionUsable(1, 1)).toBe(true);
    expect(test.tree.isSessionUsable(2, 2)).toBe(false);
  });
});
