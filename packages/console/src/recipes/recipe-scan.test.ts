import { Mutex } from "@zooid/recipes";
import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";

test("a lock shows its holder and its queue, with their sessions", async () => {
  await using stage = await startStage();
  const { zk } = stage;
  const locks = ["first", "second"].map((data) => new Mutex(zk, "/locks/backup", { data }));
  const lease = await locks[0]?.acquire();
  const second = locks[1]?.acquire();
  let json = (await stage.api("GET", "/recipes")).json;
  while (json.recipes[0]?.waitingCount !== 1) json = (await stage.api("GET", "/recipes")).json;
  expect(json.recipes).toMatchObject([
    {
      path: "/locks/backup",
      kind: "lock",
      library: "Curator",
      holderCount: 1,
      waitingCount: 1,
      contenders: [
        { state: "holds", text: "first" },
        { state: "waits", text: "second" },
      ],
    },
  ]);
  expect(BigInt(json.recipes[0].contenders[0].owner)).toBe(BigInt.asUintN(64, zk.sessionId));
  await lease?.release();
  await (await second)?.release();
});

test("a subtree is looked at alone, and nodes that may not be read are left out", async () => {
  await using stage = await startStage();
  await stage.zk.create("/a/members/m1", "", { parents: "persistent", mode: "ephemeral" });
  await stage.zk.create("/b/members", "", { parents: "persistent" });
  await stage.zk.create("/b/members/m2", "", { mode: "ephemeral" });
  await stage.zk.setAcl("/b/members", [{ perms: 1, scheme: "digest", id: "x:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }]);
  const found = (await stage.api("GET", "/recipes")).json.recipes.map(({ path }: { path: string }) => path);
  expect(found).toEqual(["/a/members"]);
  expect((await stage.api("GET", "/recipes?path=/b")).json.recipes).toEqual([]);
});
