import { digestId } from "@zooid/client";
import { expect, test } from "vitest";
import type { ExportedNodeJson, ExportPageJson } from "../api/subtree-shapes.ts";
import { type Stage, startStage } from "../testing/stage.ts";

const OPEN = [{ scheme: "world", id: "anyone", permissions: ["read", "write", "create", "delete", "admin"] }];

/** All nodes, by pages of at most `limit`. */
async function exported(stage: Stage, path: string, limit: number): Promise<readonly ExportedNodeJson[]> {
  return (await pagesOf(stage, path, limit)).flatMap(({ nodes }) => nodes);
}

async function pagesOf(stage: Stage, path: string, limit: number): Promise<readonly ExportPageJson[]> {
  const pages: ExportPageJson[] = [];
  for (let after = ""; ; ) {
    const query = `path=${encodeURIComponent(path)}&limit=${limit}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
    const { json } = await stage.api("GET", `/export?${query}`);
    pages.push(json);
    if (json.next === null) return pages;
    after = json.next;
  }
}

async function fill({ zk }: Stage): Promise<void> {
  for (const [path, data] of [
    ["/app", "root"],
    ["/app/a", ""],
    ["/app/a/1", "one"],
    ["/app/a/1/deep", "x"],
    ["/app/a/2", "two"],
    ["/app/a-b", "beside"],
    ["/app/b", "last"],
  ] as const) {
    await zk.create(path, data);
  }
}

test("pages of any size have all nodes once, each behind its parent", async () => {
  await using stage = await startStage();
  await fill(stage);
  for (const name of ["a-c", "e"]) await stage.zk.create(`/app/${name}`, "", { mode: "ephemeral" });
  const expected = ["", "/a", "/a/1", "/a/1/deep", "/a/2", "/a-b", "/b"];
  for (const limit of [1, 2, 3, 7, 500]) {
    const paths = (await exported(stage, "/app", limit)).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(expected.toSorted());
    const counts = (await pagesOf(stage, "/app", limit)).map(({ ephemeralCount }) => ephemeralCount);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2);
    for (const [i, path] of paths.entries()) {
      if (path !== "") expect(paths.indexOf(path.slice(0, path.lastIndexOf("/")))).toBeLessThan(i);
    }
  }
  const { json } = await stage.api("GET", "/export?path=/app");
  expect(json).toMatchObject({ total: 9, ephemeralCount: 2, unreadableCount: 0, next: null });
  expect(json.nodes[0]).toEqual({ path: "", data: { base64: "cm9vdA==", text: "root" }, isMasked: false, acl: OPEN });
});

test("a page ends before 4 MiB of data, and one node is a page whatever its size", async () => {
  await using stage = await startStage();
  await stage.zk.create("/large", "");
  for (const name of ["a", "b", "c", "d", "e"]) await stage.zk.create(`/large/${name}`, Buffer.alloc(1_000_000, "x"));
  const pages = await pagesOf(stage, "/large", 500);
  expect(pages.map(({ nodes }) => nodes.map(({ path }) => path))).toEqual([["", "/a", "/b", "/c", "/d"], ["/e"]]);
  expect(pages.map(({ total }) => total)).toEqual([6, null]);
});

test("the whole tree goes out without the servers' own nodes", async () => {
  await using stage = await startStage();
  await fill(stage);
  const paths = (await exported(stage, "/", 3)).map(({ path }) => path);
  expect(paths).toHaveLength(8);
  expect(paths.filter((path) => path.startsWith("/zookeeper"))).toEqual([]);
});

test("secrets and hidden lists are left out, and nodes that may not be read are counted", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app");
  await stage.zk.create("/app/db-password", "hunter2");
  await stage.zk.create("/app/closed", "", { acl: [{ perms: 31, scheme: "digest", id: digestId("a", "b") }] });
  const { json } = await stage.api("GET", "/export?path=/app");
  expect(json.unreadableCount).toBe(1);
  expect(json.nodes[1]).toMatchObject({ path: "/db-password", data: null, isMasked: true });
  const revealed = await stage.api("GET", "/export?path=/app&reveal=true");
  expect(revealed.json.nodes[1]).toMatchObject({ data: { text: "hunter2" }, isMasked: false });
  expect((await stage.api("GET", "/export?path=/app&after=/other")).status).toBe(400);
});

test("a subtree comes in elsewhere as it went out, after a dry run that writes nothing", async () => {
  await using stage = await startStage();
  await fill(stage);
  await stage.zk.setAcl("/app/b", [{ perms: 1, scheme: "world", id: "anyone" }]);
  const nodes = (await exported(stage, "/app", 500)).map(({ path, data, acl }) => ({
    path,
    acl,
    data: data === null ? null : { base64: data.base64 },
  }));
  const run = async (isDryRun: boolean, more: object = {}) => {
    const body = { path: "/x/copy", isDryRun, existing: "keep", withAcl: true, nodes, ...more };
    const { json } = await stage.api("POST", "/import", { body });
    return json.results.map(({ outcome }: { outcome: string }) => outcome);
  };
  expect(await run(true)).toEqual(Array(7).fill("create"));
  expect(await stage.zk.exists("/x")).toBeNull();
  expect(await run(false)).toEqual(Array(7).fill("create"));
  expect(await exported(stage, "/x/copy", 500)).toEqual(await exported(stage, "/app", 500));
  expect(await run(false)).toEqual(Array(7).fill("same"));
  await stage.zk.set("/x/copy/a/1", "changed");
  expect((await run(false)).filter((outcome: string) => outcome !== "same")).toEqual(["keep"]);
  expect(await stage.zk.getText("/x/copy/a/1")).toBe("changed");
  expect((await run(true, { existing: "replace" })).filter((each: string) => each !== "same")).toEqual(["replace"]);
  expect(await stage.zk.getText("/x/copy/a/1")).toBe("changed");
  expect((await run(false, { existing: "replace" })).filter((each: string) => each !== "same")).toEqual(["replace"]);
  expect(await stage.zk.getText("/x/copy/a/1")).toBe("one");
});

test("a dry run and an import refuse the same nodes", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  await zk.create("/closed", "", { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
  await zk.create("/open");
  await zk.create("/open/read-only", "x", { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
  const text = (path: string) => ({ path, data: { text: "new" } });
  const hidden = [{ scheme: "digest", id: "alice:x", permissions: ["read"] }];
  const nodes = [
    ...[text("/closed/a"), text("/open/read-only"), text("/open/b"), { ...text("/open/c"), acl: hidden }],
    // Its list comes with it, and lets no child in.
    { ...text("/open/d"), acl: [{ scheme: "world", id: "anyone", permissions: ["read"] }] },
    text("/open/d/child"),
  ];
  const run = async (isDryRun: boolean) => {
    const body = { path: "/", isDryRun, existing: "replace", withAcl: true, nodes };
    const { json } = await stage.api("POST", "/import", { body });
    return json.results.map(({ path, outcome }: { path: string; outcome: string }) => `${outcome} ${path}`);
  };
  const expected = [
    ...["refuse /closed/a", "refuse /open/read-only", "create /open/b", "refuse /open/c"],
    ...["create /open/d", "refuse /open/d/child"],
  ];
  expect(await run(true)).toEqual(expected);
  expect(await run(false)).toEqual(expected);
});

test("an import of a list that lets its user write no more has written the data before", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app", "before");
  const acl = [{ scheme: "world", id: "anyone", permissions: ["read", "admin"] }];
  const nodes = [{ path: "", data: { text: "after" }, acl }];
  const body = { path: "/app", isDryRun: false, existing: "replace", withAcl: true, nodes };
  const { json } = await stage.api("POST", "/import", { body });
  expect(json.results).toMatchObject([{ path: "/app", outcome: "replace" }]);
  expect(await stage.zk.getText("/app")).toBe("after");
  expect((await stage.zk.getAcl("/app")).acl).toMatchObject([{ perms: 17 }]);
});

test("a dry run and an import create the ancestors of the subtree alone", async () => {
  await using stage = await startStage();
  const nodes = ["", "/missing/child"].map((path) => ({ path, data: { text: "" } }));
  for (const isDryRun of [true, false]) {
    const body = { path: "/x/y", isDryRun, existing: "keep", withAcl: false, nodes };
    const { json } = await stage.api("POST", "/import", { body });
    expect(json.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["create", "refuse"]);
  }
  expect(await stage.zk.exists("/x/y/missing")).toBeNull();
});

test("a page of an export is imported as it is, and masked data replace none", async () => {
  await using stage = await startStage();
  await stage.zk.create("/app", Buffer.of(255));
  await stage.zk.create("/app/text", "\uFEFFone");
  await stage.zk.create("/app/db-password", "hunter2");
  for (const path of ["/to", "/to/db-password"]) await stage.zk.create(path, "kept");
  const { json: page } = await stage.api("GET", "/export?path=/app");
  const body = { ...page, path: "/to", isDryRun: false, existing: "replace", withAcl: true };
  const { json } = await stage.api("POST", "/import", { body });
  expect(json.results).toMatchObject([
    { path: "/to", outcome: "replace" },
    { path: "/to/db-password", outcome: "refuse", detail: "its data are masked: export with reveal=true" },
    { path: "/to/text", outcome: "create" },
  ]);
  expect((await stage.zk.get("/to")).data).toEqual((await stage.zk.get("/app")).data);
  expect((await stage.zk.get("/to/text")).data).toEqual((await stage.zk.get("/app/text")).data);
  expect(await stage.zk.getText("/to/db-password")).toBe("kept");
});

test.each([
  ["a path that does not begin with a slash", { path: "a" }],
  ["an empty name", { path: "/a//b" }],
  ["data of no form", { data: "x" }],
])("%s is refused", async (_what, node) => {
  await using stage = await startStage();
  const body = {
    path: "/x",
    isDryRun: false,
    existing: "keep",
    withAcl: false,
    nodes: [{ path: "", data: null, ...node }],
  };
  expect((await stage.api("POST", "/import", { body })).status).toBe(400);
});
