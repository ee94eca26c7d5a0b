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
  expect(await listOf(stage.zk, "/absent", signal)).toEqual({ children: [], hasMore: false });
});
