import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { enters, type Stage } from "../testing/stage.ts";
import { type ClaimedItem, Claims } from "./claims.ts";

const ITEM = "/queue/entries/entry-100-0000000001";
const CLAIM = "/queue/taken/entry-100-0000000001";

let stage: Stage;
let a: Client;

eachStaged((staged) => {
  ({ stage, a } = staged);
});

test.each([
  ["at once", Number.POSITIVE_INFINITY],
  ["after attempts without a connection", 1],
])(
  "an item that is released %s can be claimed again, and the claim that is held has its node",
  async (_, waitingMax) => {
    await a.create(ITEM, "item", { parents: "persistent" });
    const { zk, relay } = await stage.relayed({ waitingMax: Math.min(waitingMax, 1_000) });
    const claims = new Claims(zk, "/queue/taken");
    const first = await claims.claim(ITEM);
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    // With it one call waits.
    const waiting = zk.exists(ITEM);
    let isReleased = false;
    const releasing = first?.release().then(() => {
      isReleased = true;
    });
    relay.accept();
    await waiting;
    let held: ClaimedItem | null = null;
    while (!isReleased && held === null) {
      held = await claims.claim(ITEM);
      await a.exists(ITEM);
    }
    await releasing;
    held ??= await claims.claim(ITEM);
    expect(held).not.toBeNull();
    expect(await a.exists(CLAIM)).not.toBeNull();
    expect(await new Claims(a, "/queue/taken").claim(ITEM)).toBeNull();
    await held?.release();
    expect(await a.exists(CLAIM)).toBeNull();
  },
);
