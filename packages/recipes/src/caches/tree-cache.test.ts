import type { Client, ClientOptions } from "@zooid/client";
import { concat, lastValueFrom } from "rxjs";
import { beforeEach, describe, expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { type CacheChange, TreeCache } from "./tree-cache.ts";

let stage: Stage;
let a: Client;

eachStaged((staged) => {
  ({ stage, a } = staged);
});

const text = (data: Uint8Array | null): string => Buffer.from(data ?? []).toString();

function plain(change: CacheChange): string {
  const node = change.kind === "deleted" ? change.before : change.node;
  return `${change.kind} ${node.path} ${text(node.data)}`;
}

function held(cache: TreeCache): Record<string, string> {
  return Object.fromEntries([...cache.snapshot()].map(([path, { data }]) => [path, text(data)]));
}

/** Waits until all earlier writes have reached the cache. */
async function settled(zk: Client): Promise<void> {
  await zk.sync();
  // Events may be followed by reads, and those by lists.
  for (let i = 0; i < 10; i++) await zk.sync();
}

const FORMS: readonly (readonly [string, ClientOptions, "new" | "old"])[] = [
  ["by one recursive watch", { treeWatches: "persistent" }, "new"],
  ["by watches of one shot", { treeWatches: "one-shot" }, "new"],
  ["as a server before 3.6 allows", {}, "old"],
];

describe.each(FORMS)("%s", (_form, options, server) => {
  beforeEach(async () => {
    if (server === "old") await stage.age();
  });

  test("existing nodes come first, then creations, changes and deletions", async () => {
    const zk = await stage.client(options);
    await a.create("/cache", "root");
    await a.create("/cache/x", "1");
    await a.create("/cache-not", "beside it");
    using cache = new TreeCache(zk, "/cache");
    await cache.ready();
    expect(held(cache)).toEqual({ "/cache": "root", "/cache/x": "1" });
    const changes: string[] = [];
    cache.changes$.subscribe((change) => changes.push(plain(change)));
    await a.set("/cache/x", "2");
    await settled(zk);
    await a.create("/cache/x/y", "3");
    await settled(zk);
    await a.delete("/cache/x/y");
    await a.delete("/cache/x");
    await settled(zk);
    expect(changes).toEqual([
      "created /cache root",
      "created /cache/x 1",
      "changed /cache/x 2",
      "created /cache/x/y 3",
      "deleted /cache/x/y 3",
      "deleted /cache/x 2",
    ]);
    expect([cache.get("/cache/x"), text(cache.get("/cache")?.data ?? null)]).toEqual([undefined, "root"]);
  });

  test("a missing node is waited for, with its descendants", async () => {
    const zk = await stage.client(options);
    using cache = new TreeCache(zk, "/later");
    await cache.ready();
    expect(held(cache)).toEqual({});
    await a.create("/later/deep/down", "x", { parents: "persistent" });
    await settled(zk);
    expect(held(cache)).toEqual({ "/later": "", "/later/deep": "", "/later/deep/down": "x" });
  });

  test("changes made while disconnected are found", async () => {
    const { zk, relay } = await stage.relayed(options);
    await a.create("/cache");
    for (const name of ["stays", "changes", "goes", "comes-back"]) await a.create(`/cache/${name}`, "old");
    using cache = new TreeCache(zk, "/cache");
    await cache.ready();
    const changes: string[] = [];
    cache.changes$.subscribe((change) => changes.push(plain(change)));
    changes.length = 0;
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    await a.set("/cache/changes", "new");
    await a.delete("/cache/goes");
    await a.delete("/cache/comes-back");
    await a.create("/cache/comes-back", "old");
    await a.create("/cache/comes", "new");
    await a.create("/cache/comes/below", "new");
    relay.accept();
    await enters(zk, "connected");
    await settled(zk);
    expect(changes.sort()).toEqual([
      "changed /cache/changes new",
      // A node of the same name and data is another node.
      "changed /cache/comes-back old",
      "created /cache/comes new",
      "created /cache/comes/below new",
      "deleted /cache/goes old",
    ]);
  });

  test("it survives the end of its session", async () => {
    const { zk, relay } = await stage.relayed(options);
    await a.create("/cache");
    using cache = new TreeCache(zk, "/cache");
    await cache.ready();
    await stage.expire(zk);
    relay.cut();
    await enters(zk, "lost");
    await enters(zk, "connected");
    await a.create("/cache/x", "1");
    await settled(zk);
    expect(held(cache)).toEqual({ "/cache": "", "/cache/x": "1" });
  });

  test("after quick changes it converges to the server's state", async () => {
    const zk = await stage.client(options);
    await a.create("/cache");
    using cache = new TreeCache(zk, "/cache");
    const writes: Promise<unknown>[] = [];
    const meddle = (i: number, path: string): Promise<unknown> => {
      if (i % 3 === 0) return a.create(path, String(i));
      return i % 3 === 1 ? a.set(path, String(i)) : a.delete(`/cache/${(i * 5) % 7}`);
    };
    for (let i = 0; i < 300; i++) {
      const path = `/cache/${i % 7}`;
      writes.push(meddle(i, path).catch(() => "there is no such node, or there is one already"));
      if (i % 10 === 0) await zk.sync();
    }
    await Promise.all(writes);
    await settled(zk);
    const { names } = await a.children("/cache");
    const there = await Promise.all(
      names.map(async (name) => [`/cache/${name}`, text((await a.get(`/cache/${name}`)).data)] as const),
    );
    expect(held(cache)).toEqual(Object.fromEntries([["/cache", ""], ...there]));
  });

  test("closed, it refuses reads, emits nothing, and leaves no watch", async () => {
    const zk = await stage.client(options);
    await a.create("/cache");
    const cache = new TreeCache(zk, "/cache");
    await cache.ready();
    let isComplete = false;
    cache.changes$.subscribe({
      complete: () => {
        isComplete = true;
      },
    });
    cache.close();
    cache.close();
    expect([isComplete, zk.watchCount]).toEqual([true, 0]);
    const late = lastValueFrom(concat(cache.changes$, cache.snapshot$), { defaultValue: "none" });
    await a.create("/cache/x");
    await settled(zk);
    expect(await late).toBe("none");
    expect(() => cache.snapshot()).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
  });

  test.each([
    [{ depthMax: 0 }, ["/cache"]],
    [{ depthMax: 1 }, ["/cache", "/cache/a", "/cache/locks"]],
    [{ depthMax: 2, select: (path: string) => !path.endsWith("/locks") }, ["/cache", "/cache/a", "/cache/a/b"]],
  ])("with %j it holds what is of interest, and nothing else of what comes later", async (part, expected) => {
    const zk = await stage.client(options);
    const make = async (names: readonly string[]): Promise<void> => {
      for (const name of names) await a.create(`/cache${name}`);
    };
    await make(["", "/a", "/a/b", "/a/b/c", "/locks", "/locks/1"]);
    using early = new TreeCache(zk, "/cache", part);
    await early.ready();
    expect(Object.keys(held(early)).sort()).toEqual(expected);
    await a.deleteTree("/cache");
    await settled(zk);
    expect(held(early)).toEqual({});
    await make(["", "/a", "/a/b", "/a/b/c", "/locks", "/locks/1"]);
    await a.set("/cache/locks/1", "x");
    await settled(zk);
    expect(Object.keys(held(early)).sort()).toEqual(expected);
  });

  test("for the root, too, the depth counts names", async () => {
    const zk = await stage.client(options);
    await a.create("/x/y", "", { parents: "persistent" });
    using cache = new TreeCache(zk, "/", { depthMax: 1 });
    await cache.ready();
    expect(Object.keys(held(cache)).sort()).toEqual(["/", "/x", "/zookeeper"]);
    expect(() => new TreeCache(a, "/", { depthMax: -1 })).toThrow(RangeError);
  });

  test("children of a node are listed in order, and every change has its path", async () => {
    const zk = await stage.client(options);
    for (const path of ["/cache", "/cache/b", "/cache/a", "/cache/a/deep"]) await a.create(path);
    using cache = new TreeCache(zk, "/cache");
    const changes: string[] = [];
    cache.changes$.subscribe(({ kind, path }) => changes.push(`${kind} ${path}`));
    await cache.ready();
    const paths = (path: string): string[] => cache.children(path).map((node) => node.path);
    expect([paths("/cache"), paths("/cache/a"), paths("/cache/b"), paths("/none")]).toEqual([
      ["/cache/a", "/cache/b"],
      ["/cache/a/deep"],
      [],
      [],
    ]);
    await a.set("/cache/b", "1");
    await a.delete("/cache/a/deep");
    await expect.poll(() => changes.slice(4).sort()).toEqual(["changed /cache/b", "deleted /cache/a/deep"]);
    using root = new TreeCache(zk, "/", { depthMax: 1 });
    await root.ready();
    expect(root.children("/").map((node) => node.path)).toEqual(["/cache", "/zookeeper"]);
  });

  test("snapshots are emitted when the copy is complete, and once for concurrent changes", async () => {
    const zk = await stage.client(options);
    await a.create("/cache/x", "1", { parents: "persistent" });
    using cache = new TreeCache(zk, "/cache");
    const snapshots: string[] = [];
    let isComplete = false;
    cache.snapshot$.subscribe({
      next: (nodes) => snapshots.push([...nodes].map(([path, { data }]) => `${path}=${text(data)}`).join()),
      complete: () => {
        isComplete = true;
      },
    });
    await cache.ready();
    expect(snapshots).toEqual(["/cache=,/cache/x=1"]);
    await a.transaction().set("/cache/x", "2").create("/cache/y", "3").commit();
    await settled(zk);
    await expect.poll(() => snapshots.at(-1)).toBe("/cache=,/cache/x=2,/cache/y=3");
    // A recursive watch reports both nodes at once; with one-shot watches, another read finds the
    // new one.
    expect(snapshots.length).toBeLessThanOrEqual(options.treeWatches === "persistent" ? 2 : 3);
    cache.close();
    expect(isComplete).toBe(true);
  });
});
