import type { Client } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, type Stage } from "../testing/stage.ts";
import { GroupMember } from "./group-member.ts";
import { PersistentNode } from "./persistent-node.ts";

let stage: Stage;
let a: Client;

eachStaged((staged) => {
  ({ stage, a } = staged);
});

/** Waits until a node has some data and an owner. */
async function holds(path: string, text: string, owner: bigint): Promise<void> {
  const node$ = a.watchData$(path);
  await firstValueFrom(
    node$.pipe(
      filter(
        (node) => node.exists && node.stat.ephemeralOwner === owner && Buffer.from(node.data ?? []).toString() === text,
      ),
    ),
  );
}

describe("a persistent node", () => {
  test("is created, created again when it is deleted, and written again when it is changed", async () => {
    const zk = await stage.client();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "here" }));
    await node.ready();
    await holds("/nodes/mine", "here", zk.sessionId);
    await a.delete("/nodes/mine");
    await holds("/nodes/mine", "here", zk.sessionId);
    await a.set("/nodes/mine", "not here");
    await holds("/nodes/mine", "here", zk.sessionId);
    node.setData("there");
    await holds("/nodes/mine", "there", zk.sessionId);
    await node.ready();
    await node.close();
    await node.close();
    expect(await a.exists("/nodes/mine")).toBeNull();
    expect(isRecipeError(await failure(node.ready()), "RECIPE_CLOSED")).toBe(true);
  });

  test("is created again in the next session, with data set meanwhile", async () => {
    const { zk, relay } = await stage.relayed();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "old" }));
    await node.ready();
    const before = zk.sessionId;
    relay.refuse();
    relay.cut();
    node.setData("new");
    await stage.expire(zk);
    relay.accept();
    await node.ready();
    expect(zk.sessionId).not.toBe(before);
    await holds("/nodes/mine", "new", zk.sessionId);
  });

  test("a node of an earlier session is replaced, so that it does not end with that session", async () => {
    const earlier = await stage.client();
    await earlier.create("/nodes/mine", "here", { mode: "ephemeral", parents: "container" });
    const zk = await stage.client();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "here" }));
    await node.ready();
    expect((await a.exists("/nodes/mine"))?.ephemeralOwner).toBe(zk.sessionId);
    await earlier.close();
    await holds("/nodes/mine", "here", zk.sessionId);
  });

  test("may stay when its session ends, if persistent", async () => {
    const zk = await stage.client();
    const node = new PersistentNode(zk, { path: "/nodes/mine", data: "here", mode: "persistent" });
    await node.ready();
    await zk.close();
    await holds("/nodes/mine", "here", 0n);
    await node.close();
    expect(await a.exists("/nodes/mine")).not.toBeNull();
  });

  test("another client's node of the same name is not deleted when it is closed", async () => {
    const { zk, relay } = await stage.relayed();
    const node = new PersistentNode(zk, { path: "/nodes/mine", data: "here" });
    await node.ready();
    relay.freeze("answers");
    await stage.expire(zk);
    await a.create("/nodes/mine", "successor", { mode: "ephemeral", parents: "container" });
    const closed = node.close();
    relay.cut();
    relay.thaw();
    await closed;
    await zk.connected();
    // It reads the node, and might delete it after that.
    for (let i = 0; i < 4; i++) await zk.sync();
    expect((await a.exists("/nodes/mine"))?.ephemeralOwner).toBe(a.sessionId);
  });
});

describe("a group member", () => {
  const names = (member: GroupMember): readonly string[] => [...member.members().keys()].sort();

  test("tracks joining members, their data, and leaving members", async () => {
    const zk = await stage.client();
    const mine = stage.kept(new GroupMember(a, "/group", { id: "a", data: "of a" }));
    const theirs = stage.kept(new GroupMember(zk, "/group", { id: "b", data: "of b" }));
    expect(names(mine)).toContain("a");
    await Promise.all([mine.ready(), theirs.ready()]);
    const both = await firstValueFrom(mine.members$.pipe(filter((members) => members.size === 2)));
    expect(Buffer.from(both.get("b") ?? []).toString()).toBe("of b");
    theirs.setData("else");
    await firstValueFrom(
      mine.members$.pipe(filter((members) => Buffer.from(members.get("b") ?? []).toString() === "else")),
    );
    await theirs.close();
    await firstValueFrom(mine.members$.pipe(filter((members) => members.size === 1)));
    expect(names(mine)).toEqual(["a"]);
  });

  test("comes back with its next session", async () => {
    const { zk, relay } = await stage.relayed();
    const theirs = stage.kept(new GroupMember(zk, "/group", { id: "b" }));
    const mine = stage.kept(new GroupMember(a, "/group", { id: "a" }));
    await Promise.all([mine.ready(), theirs.ready()]);
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    await firstValueFrom(mine.members$.pipe(filter((members) => members.size === 1)));
    relay.accept();
    await firstValueFrom(mine.members$.pipe(filter((members) => members.size === 2)));
  });
});
