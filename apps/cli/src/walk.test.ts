import { type Client, connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { comparePaths, movedPath, nameOf, type WalkedNode, walk } from "./walk.ts";

let server: ZooidServer;
let client: Client;
const { signal } = new AbortController();
beforeAll(async () => {
  server = await startServer({ port: 0 });
  client = await connect(server.connectString);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

async function paths(path: string, options: { readonly depthMax?: number } = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const node of walk(client, path, { detail: "stats", signal, ...options })) found.push(node.path);
  return found;
}

test("parents come before their children, and siblings in the order of their names", async () => {
  for (const path of ["/w", "/w/b", "/w/a", "/w/a/y", "/w/a/x", "/w/a-", "/w/a/x/deep"]) await client.create(path);
  const all = ["/w", "/w/a", "/w/a/x", "/w/a/x/deep", "/w/a/y", "/w/a-", "/w/b"];
  expect(await paths("/w")).toEqual(all);
  const signs = all.map((a) => all.map((b) => comparePaths(a, b)));
  expect(signs).toEqual(all.map((_, i) => all.map((_, j) => Math.sign(i - j))));
  expect(await paths("/w", { depthMax: 1 })).toEqual(["/w", "/w/a", "/w/a-", "/w/b"]);
  expect(await paths("/w", { depthMax: 0 })).toEqual(["/w"]);
});

test("more children than a page, and more parents than listings ahead, each come once", async () => {
  await client.create("/many");
  const names = Array.from({ length: 1500 }, (_, i) => `n${String(i).padStart(4, "0")}`);
  await Promise.all(names.map((name) => client.create(`/many/${name}`)));
  const parents = names.filter((_, i) => i % 20 === 0);
  await Promise.all(parents.map((name) => client.create(`/many/${name}/child`)));
  const expected = ["/many"];
  for (const name of names) {
    expected.push(`/many/${name}`);
    if (parents.includes(name)) expected.push(`/many/${name}/child`);
  }
  expect(await paths("/many")).toEqual(expected);
});

test("data come on request, a forbidden node without a Stat, and nothing below it", async () => {
  await client.create("/secret");
  await client.create("/secret/open", "text");
  await client.create("/secret/closed");
  await client.create("/secret/closed/child");
  await client.setAcl("/secret/closed", [{ perms: 31, scheme: "digest", id: "alice:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }]);
  const found: WalkedNode[] = [];
  for await (const node of walk(client, "/secret", { detail: "data", signal })) found.push(node);
  expect(found).toMatchObject([
    { path: "/secret", depth: 0 },
    { path: "/secret/closed", depth: 1, stat: null, data: null },
    { path: "/secret/open", depth: 1, stat: { dataLength: 4 } },
  ]);
  expect(Buffer.from(found[2]?.data ?? []).toString()).toBe("text");
});

test("a subtree that is deleted during the walk is left out", async () => {
  for (const path of ["/gone", "/gone/a", "/gone/a/x", "/gone/b"]) await client.create(path);
  const found: string[] = [];
  for await (const { path } of walk(client, "/gone", { detail: "stats", signal })) {
    found.push(path);
    if (path === "/gone") await client.deleteTree("/gone/a");
  }
  expect(found).toEqual(["/gone", "/gone/b"]);
});

test("without the first node there is no walk", async () => {
  await expect(paths("/no/such")).rejects.toMatchObject({ code: "NO_NODE" });
});

test.each([
  ["/a/x/y", "/a", "/b", "/b/x/y"],
  ["/a", "/a", "/b", "/b"],
  ["/", "/", "/b", "/b"],
  ["/a/x", "/", "/b", "/b/a/x"],
  ["/a/x", "/a", "/", "/x"],
])("%s of %s is in %s %s", (path, from, to, expected) => {
  expect(movedPath(path, from, to)).toBe(expected);
});

test("the name of a path is its last part", () => {
  expect([nameOf("/a/b"), nameOf("/a"), nameOf("/")]).toEqual(["b", "a", ""]);
});
