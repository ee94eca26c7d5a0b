import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { quotaValues } from "./quota.ts";

test.each([
  [
    "count=5,bytes=-1=;byteHardLimit=1000;countHardLimit=-1",
    { count: 5n, bytes: -1n, byteHardLimit: 1000n, countHardLimit: -1n },
  ],
  ["count=5,bytes=10", { count: 5n, bytes: 10n }],
  ["count=9223372036854775807,bytes=x", { count: 9223372036854775807n }],
  ["<script>", {}],
])("the numbers of %s are read", (text, expected) => {
  expect(Object.fromEntries(quotaValues(text))).toEqual(expected);
});

test("the nearest quota holds, with its use", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  await zk.create("/app/config", "12345", { parents: "persistent" });
  expect((await stage.api("GET", "/quota?path=/app/config")).json).toEqual({ path: "/app/config", quota: null });
  await zk.create("/zookeeper/quota/app/zookeeper_limits", "count=10,bytes=-1=;byteHardLimit=1000;countHardLimit=-1", {
    parents: "persistent",
  });
  await zk.create("/zookeeper/quota/app/zookeeper_stats", "count=0,bytes=0");
  expect((await stage.api("GET", "/quota?path=/app/config")).json.quota).toEqual({
    path: "/app",
    nodes: { used: "2", softLimit: "10", hardLimit: null },
    bytes: { used: "5", softLimit: null, hardLimit: "1000" },
  });
  expect((await stage.api("GET", "/quota?path=/other")).json.quota).toBeNull();
  expect((await stage.api("GET", "/quota?path=/")).json.quota).toBeNull();
});
