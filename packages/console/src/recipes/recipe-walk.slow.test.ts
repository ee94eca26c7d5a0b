import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import type { RecipePartJson } from "../api/recipe-shapes.ts";
import { type Stage, startStage } from "../testing/stage.ts";

/** Creates nodes many at a time. */
async function createAll(zk: Client, paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => zk.create(path)));
}

const range = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i).padStart(4, "0"));

/** All parts, each by the place where the one before has ended. */
async function partsOf(stage: Stage, path = "/"): Promise<readonly RecipePartJson[]> {
  const parts: RecipePartJson[] = [];
  for (let next: RecipePartJson["next"] | undefined; next !== null; next = parts.at(-1)?.next) {
    const from = next === undefined ? "" : `&from=${encodeURIComponent(next.path)}&isVisited=${next.isVisited}`;
    const { status, json } = await stage.api("GET", `/recipes/part?path=${encodeURIComponent(path)}${from}`);
    expect(status).toBe(200);
    parts.push(json);
  }
  return parts;
}

test("every recipe of a tree of many parts is found once, in broad and in deep places", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  await createAll(zk, ["/broad", "/many", "/deep"]);
  await createAll(
    zk,
    range(4_200).map((name) => `/broad/${name}`),
  );
  await createAll(
    zk,
    range(700).map((name) => `/many/${name}`),
  );
  await createAll(
    zk,
    range(700).map((name) => `/many/${name}/x`),
  );
  await zk.create("/deep/a/b/c/d", "", { parents: "persistent" });
  const members = ["/broad/4100/m", "/deep/a/b/c/d/m", "/many/0650/x/m"];
  await Promise.all(members.map((path) => zk.create(path, "", { mode: "ephemeral" })));
  const parts = await partsOf(stage);
  expect(parts.length).toBeGreaterThan(3);
  for (const { scannedCount } of parts) expect(scannedCount).toBeLessThan(5_000);
  expect(parts[0]?.total).toBe(await zk.getAllChildrenNumber("/"));
  const found = parts.flatMap(({ recipes }) => recipes.map(({ path }) => path));
  expect(found).toEqual(["/broad/4100", "/deep/a/b/c/d", "/many/0650/x"]);
  const below = await partsOf(stage, "/many");
  expect(below.flatMap(({ recipes }) => recipes.map(({ path }) => path))).toEqual(["/many/0650/x"]);
});

test("a part continues behind nodes that were deleted since the part before, and not outside its node", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a/b/members/m", "", { parents: "persistent", mode: "ephemeral" });
  const from = async (path: string, root = "/") =>
    (await stage.api("GET", `/recipes/part?path=${root}&from=${path}`)).json;
  expect(await from("/a/a-gone/deep")).toMatchObject({ recipes: [{ path: "/a/b/members" }], next: null, total: null });
  expect(await from("/a/c")).toMatchObject({ recipes: [], next: null });
  expect(await from("/b", "/a")).toMatchObject({ code: "BAD_ARGUMENTS" });
});
