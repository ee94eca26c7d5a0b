import { type Client, connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { READ_ONLY_ACL } from "@zooid/model";
import { expect, test } from "vitest";
import type { ExportPageJson } from "../api/subtree-shapes.ts";
import { exportSubtree } from "./subtree-export.ts";

type Change = (zk: Client, path: string) => Promise<unknown>;

/** It cannot be read any more, nor can its children be listed. */
const close: Change = (zk, path) => zk.setAcl(path, [{ perms: 31, scheme: "ip", id: "192.0.2.1" }]);
const remove: Change = (zk, path) => zk.deleteTree(path);
/** Readable as before; no longer writable. */
const openToReaders: Change = (zk, path) => zk.setAcl(path, READ_ONLY_ACL);
const keep: Change = async () => {};

const NODES = ["/a", "/a/1", "/a/1/x", "/a/1/y", "/a/2", "/a/2/z", "/b", "/b/3", "/c"];

interface Row {
  readonly change: Change;
  readonly at: string;
  /** The last node of the page before; none: the change is made before the first page. */
  readonly after?: string;
  readonly nodes: readonly string[];
  readonly unreadable?: number;
}

const ALL = ["", ...NODES];
const without = (root: string): readonly string[] =>
  ALL.filter((path) => path !== root && !path.startsWith(`${root}/`));
const behind = (path: string): readonly string[] => ALL.slice(ALL.indexOf(path) + 1);

/**
 * Where a node changes before a page, or between two of them: at the last node of the page before,
 * at its parents, at nodes that are still to come, at the root.
 */
const ROWS: readonly Row[] = [
  { change: keep, at: "", nodes: ALL },
  { change: close, at: "/c", nodes: without("/c"), unreadable: 1 },
  { change: close, at: "/a", nodes: without("/a"), unreadable: 1 },
  { change: close, at: "/a/1", nodes: without("/a/1"), unreadable: 1 },
  { change: remove, at: "/a/1", nodes: without("/a/1") },
  { change: openToReaders, at: "/a/1", nodes: ALL },
  ...["/a", "/a/1/x", "/a/2/z", "/b"].map((after) => ({ change: keep, at: "", after, nodes: behind(after) })),

  // The last node of the page before: what is below it is no longer listed.
  { change: close, at: "/a/1", after: "/a/1", nodes: ["/a/2", "/a/2/z", "/b", "/b/3", "/c"], unreadable: 1 },
  { change: remove, at: "/a/1", after: "/a/1", nodes: ["/a/2", "/a/2/z", "/b", "/b/3", "/c"] },
  { change: openToReaders, at: "/a/1", after: "/a/1", nodes: behind("/a/1") },
  // Its parent, and its parent's parent: what is behind it in there is no longer listed.
  { change: close, at: "/a/1", after: "/a/1/x", nodes: ["/a/2", "/a/2/z", "/b", "/b/3", "/c"], unreadable: 1 },
  { change: remove, at: "/a/1", after: "/a/1/x", nodes: ["/a/2", "/a/2/z", "/b", "/b/3", "/c"] },
  { change: close, at: "/a", after: "/a/1/x", nodes: ["/a/1/y", "/b", "/b/3", "/c"], unreadable: 1 },
  { change: remove, at: "/a", after: "/a/1/x", nodes: ["/b", "/b/3", "/c"] },
  // The root.
  { change: close, at: "", after: "/a/1/x", nodes: ["/a/1/y", "/a/2", "/a/2/z"], unreadable: 1 },
  { change: remove, at: "", after: "/a/1/x", nodes: [] },
  // Nodes that are still to come.
  { change: close, at: "/b", after: "/a/1/x", nodes: ["/a/1/y", "/a/2", "/a/2/z", "/c"], unreadable: 1 },
  { change: remove, at: "/b", after: "/a/1/x", nodes: ["/a/1/y", "/a/2", "/a/2/z", "/c"] },
  { change: close, at: "/a/2", after: "/a/1", nodes: ["/a/1/x", "/a/1/y", "/b", "/b/3", "/c"], unreadable: 1 },
];

test("nodes that cannot be read are counted and left out with all below them, and nodes that are gone are left out", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const found: unknown[] = [];
  for (const [i, { change, at, after }] of ROWS.entries()) {
    const root = await filled(zk, `/root${i}`);
    await change(zk, `${root}${at}`);
    const { nodes, unreadableCount } = await pageOf(zk, root, after === undefined ? undefined : `${root}${after}`);
    found.push({ i, nodes: nodes.map(({ path }) => path), unreadableCount });
  }
  expect(found).toEqual(ROWS.map(({ nodes, unreadable = 0 }, i) => ({ i, nodes, unreadableCount: unreadable })));
});

test("a root that cannot be read, and one that is not there, are refused", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  await close(zk, await filled(zk, "/closed"));
  await expect(pageOf(zk, "/closed")).rejects.toMatchObject({ code: "NO_AUTH" });
  await expect(pageOf(zk, "/missing")).rejects.toMatchObject({ code: "NO_NODE" });
});

test("a page fails as a whole where the servers do not answer", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const root = await filled(zk, "/root");
  await zk.close();
  await expect(pageOf(zk, root, `${root}/a/1`)).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
});

test("each page counts the nodes that it leaves out, and none of those that the next one counts", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const root = await filled(zk, "/root");
  for (const path of ["/a/1/x", "/a/2", "/b/3"]) await close(zk, `${root}${path}`);
  for (const path of ["/a/1/w", "/c/e"]) await zk.create(`${root}${path}`, "", { mode: "ephemeral" });
  const nodes = ["", "/a", "/a/1", "/a/1/y", "/b", "/c"];
  for (const countMax of [1, 2, 3, 4, 5, 6, 7]) {
    const pages: ExportPageJson[] = [];
    for (let after: string | undefined; pages.at(-1)?.next !== null; ) {
      const page = await pageOf(zk, root, after, countMax);
      pages.push(page);
      after = page.next ?? undefined;
    }
    const sum = (count: "unreadableCount" | "ephemeralCount") => pages.reduce((total, page) => total + page[count], 0);
    expect([countMax, pages.flatMap((page) => page.nodes.map(({ path }) => path))]).toEqual([countMax, nodes]);
    expect([countMax, sum("unreadableCount"), sum("ephemeralCount")]).toEqual([countMax, 3, 2]);
    expect(pages.map(({ total }) => total)).toEqual([12, ...pages.slice(1).map(() => null)]);
  }
});

async function filled(zk: Client, root: string): Promise<string> {
  await zk.create(root, "data");
  for (const path of NODES) await zk.create(`${root}${path}`, `data of ${path}`);
  return root;
}

function pageOf(zk: Client, path: string, after?: string, countMax = 500): Promise<ExportPageJson> {
  const { signal } = new AbortController();
  return exportSubtree(zk, { path, after, countMax, isRevealed: false, signal });
}
