import { connect, digestId } from "@zooid/client";
import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { HotSpots } from "./hot-spots.ts";

/** Hot spots with a clock that the test moves. */
function stageOf() {
  let nowMs = 0;
  const hotSpots = new HotSpots(() => nowMs);
  return {
    hotSpots,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("counting begins with the first request, and ends two minutes after the last", async () => {
  await using stage = await startStage();
  await using zk = await connect(stage.server.connectString);
  const { hotSpots, wait } = stageOf();
  expect(hotSpots.read(zk, 10)).toMatchObject({ eventCount: 0, nodes: [] });
  // A request of the same session is answered behind the watch.
  await zk.exists("/");
  await stage.zk.create("/a");
  await expect.poll(() => hotSpots.read(zk, 10).nodes).toEqual([{ path: "/a", created: 1, changed: 0, deleted: 0 }]);
  wait(119_000);
  hotSpots.stopIdle();
  expect(hotSpots.count).toBe(1);
  wait(1_000);
  hotSpots.stopIdle();
  expect(hotSpots.count).toBe(0);
  hotSpots.stop();
});

test("a session that has ended is counted no more", async () => {
  await using stage = await startStage();
  const zk = await connect(stage.server.connectString);
  const { hotSpots } = stageOf();
  hotSpots.read(zk, 10);
  await zk.close();
  hotSpots.stopIdle();
  expect(hotSpots.count).toBe(0);
  hotSpots.stop();
});

test("users see the changes of nodes that they may read, and operators alone the watches", async () => {
  const operators = [`digest:${digestId("alice", "secret")}`];
  const viewers = [`digest:${digestId("bob", "secret")}`];
  await using stage = await startStage({ roles: { operators, viewers } });
  const { zk } = stage;
  await zk.create("/open");
  await zk.create("/closed", "", { acl: [{ perms: 31, scheme: "digest", id: digestId("alice", "secret") }] });
  await zk.addAuth("digest", "alice:secret");
  const read = async (user: string) => {
    const { json } = await stage.api("GET", "/hot-spots", { headers: { Authorization: `digest ${user}:secret` } });
    return { watched: json.watched, paths: json.nodes.map(({ path }: { path: string }) => path).toSorted() };
  };
  const both = () => Promise.all([read("alice"), read("bob")]);
  await expect
    .poll(async () => {
      for (const path of ["/open", "/closed"]) await zk.set(path, "x");
      return (await both()).map(({ paths }) => paths);
    })
    .toEqual([["/closed", "/open"], ["/open"]]);
  const [alice, bob] = await both();
  expect(bob.watched).toBeNull();
  expect(alice.watched).toContainEqual({ path: "/", sessions: 2 });
});
