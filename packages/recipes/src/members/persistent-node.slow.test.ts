import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import type { Stage } from "../testing/stage.ts";
import { PersistentNode } from "./persistent-node.ts";

let stage: Stage;

eachStaged((staged) => {
  ({ stage } = staged);
});

test("a node that is left to a newer owner is created again where none comes", async () => {
  const zk = await stage.client();
  const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "x", whenTaken: "takeOver" }));
  await node.ready();
  for (let i = 0; i < 2; i++) {
    const isGone = firstValueFrom(node.state$.pipe(filter((state) => state === "making")));
    await zk.delete("/nodes/mine");
    await isGone;
    await node.ready();
    expect((await zk.exists("/nodes/mine"))?.ephemeralOwner).toBe(zk.sessionId);
  }
});
