import { Permission } from "@zooid/client";
import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { listOf } from "./recipe-at.ts";

test("a listing has the first 200 children, and whether there are more", async () => {
  await using stage = await startStage();
  const { signal } = new AbortController();
  await stage.zk.create("/a");
  for (const count of [0, 1, 200, 201]) {
    const { names } = await stage.zk.children("/a");
    const making = Array.from({ length: count - names.length }, (_, i) => stage.zk.create(`/a/${names.length + i}`));
    await Promise.all(making);
    const { children, hasMore } = await listOf(stage.zk, "/a", signal);
    expect([count, children.length, hasMore]).toEqual([count, Math.min(count, 200), count > 200]);
  }
  const nothing = { children: [], hasMore: false };
  expect(await listOf(stage.zk, "/absent", signal)).toEqual(nothing);
  await stage.zk.setAcl("/a", [{ perms: Permission.ADMIN, scheme: "world", id: "anyone" }]);
  expect(await listOf(stage.zk, "/a", signal)).toEqual(nothing);
  await expect(listOf(stage.zk, "/a//b", signal)).rejects.toMatchObject({ code: "INVALID_PATH" });
});

test("the first part of a walk alone says how many nodes there are", async () => {
  await using stage = await startStage();
  for (const path of ["/a", "/b"]) await stage.zk.create(path);
  const totalOf = async (query: string): Promise<unknown> =>
    (await stage.api("GET", `/recipes/part?${query}`)).json.total;
  expect([await totalOf("path=/"), await totalOf("path=/&from=/b&isVisited=false")]).toEqual([
    expect.any(Number),
    null,
  ]);
});
