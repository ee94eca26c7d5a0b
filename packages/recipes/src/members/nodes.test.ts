import { type Client, OPEN_ACL, Permission } from "@zooid/client";
import { formatSessionId } from "@zooid/model";
import { filter, firstValueFrom, lastValueFrom, merge, NEVER, take, toArray } from "rxjs";
import { describe, expect, test, vi } from "vitest";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, Stage } from "../testing/stage.ts";
import { Warnings } from "../testing/warnings.ts";
import { GroupMember } from "./group-member.ts";
import { PersistentNode } from "./persistent-node.ts";

let stage: Stage;
let a: Client;

eachStaged((staged) => {
  ({ stage, a } = staged);
});

const silent = (): void => {};
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };

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
    expect(() => node.setData("again")).toThrow(expect.objectContaining({ code: "RECIPE_CLOSED" }));
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

  test("is created at once in the next session, also where another owner might take it over", async () => {
    const zk = await stage.client();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "x", whenTaken: "takeOver" }));
    await node.ready();
    const before = zk.sessionId;
    await stage.expire(zk);
    await firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "connected" && zk.sessionId !== before)));
    // Some requests are over sooner than the wait for a node of another owner, which this one does
    // not need.
    for (let i = 0; i < 30; i++) await zk.sync();
    expect((await zk.exists("/nodes/mine"))?.ephemeralOwner).toBe(zk.sessionId);
  });

  test.each([
    ["read", Permission.ALL - Permission.READ, "/nodes/mine"],
    ["written", Permission.ALL - Permission.WRITE, "/nodes/mine"],
    ["created", Permission.ALL - Permission.CREATE, "/nodes"],
  ])("that may not be %s any more fails, and a new one is kept once it may", async (_name, perms, path) => {
    const node = stage.kept(new PersistentNode(a, { path: "/nodes/mine", data: "old" }));
    await node.ready();
    await a.setAcl(path, [{ scheme: "world", id: "anyone", perms }]);
    const end = failure(lastValueFrom(node.state$));
    if (path === "/nodes") await a.delete("/nodes/mine");
    else node.setData("new");
    expect(await end).toMatchObject({ code: "NO_AUTH" });
    expect(await failure(node.ready())).toMatchObject({ code: "NO_AUTH" });
    expect(() => node.setData("again")).toThrow(expect.objectContaining({ code: "NO_AUTH" }));
    await node.close();

    await a.setAcl(path, OPEN_ACL).catch((error: unknown) => expect(error).toMatchObject({ code: "NO_NODE" }));
    const again = stage.kept(new PersistentNode(a, { path: "/nodes/mine", data: "newer" }));
    await again.ready();
    await holds("/nodes/mine", "newer", a.sessionId);
  });

  test("that finds no room at the server fails, and a new one is kept once there is room", async () => {
    await using full = await Stage.start({ heldBytesMax: 64 * 1024 });
    const zk = await full.client();
    await zk.create("/filler", Buffer.alloc(45_000));
    const node = full.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "small" }));
    await node.ready();
    node.setData(Buffer.alloc(20_000));
    expect(await failure(lastValueFrom(node.state$))).toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await failure(node.ready())).toMatchObject({ code: "QUOTA_EXCEEDED" });
    await node.close();
    expect(await zk.exists("/nodes/mine")).toBeNull();

    await zk.delete("/filler");
    const again = full.kept(new PersistentNode(zk, { path: "/nodes/mine", data: Buffer.alloc(20_000) }));
    await again.ready();
    expect((await zk.exists("/nodes/mine"))?.dataLength).toBe(20_000);
  });

  test("a node of another live session is waited for, and created once that is gone", async () => {
    const other = await stage.client();
    const { stat } = await other.create("/nodes/mine", "theirs", { mode: "ephemeral", parents: "container" });
    const zk = await stage.client();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "mine" }));
    await firstValueFrom(node.state$.pipe(filter((state) => state === "waiting")));
    node.setData("later");
    for (let i = 0; i < 4; i++) await zk.sync();
    expect((await a.exists("/nodes/mine"))?.mzxid).toBe(stat.mzxid);
    await other.close();
    await node.ready();
    await holds("/nodes/mine", "later", zk.sessionId);
  });

  test("fails with NAME_TAKEN instead, where that is asked for", async () => {
    await a.create("/nodes/mine", "theirs", { mode: "ephemeral", parents: "container" });
    const node = new PersistentNode(await stage.client(), { path: "/nodes/mine", data: "mine", whenTaken: "fail" });
    expect(await failure(node.ready())).toMatchObject({
      code: "NAME_TAKEN",
      message: `/nodes/mine belongs to another session, ${formatSessionId(a.sessionId)}`,
    });
    await node.close();
    await holds("/nodes/mine", "theirs", a.sessionId);
  });

  test("takes the name over once, where that is asked for: the newest owner has it, and the older stops", async () => {
    const [one, two] = await Promise.all([stage.client(), stage.client()]);
    const taken = { path: "/nodes/mine", whenTaken: "takeOver" } as const;
    const older = stage.kept(new PersistentNode(one, { ...taken, data: "older" }));
    await older.ready();
    const newer = stage.kept(new PersistentNode(two, { ...taken, data: "newer" }));
    await newer.ready();
    await firstValueFrom(older.state$.pipe(filter((state) => state === "replaced")));
    const stat = await a.exists("/nodes/mine");
    expect(() => older.setData("older again")).toThrow(expect.objectContaining({ code: "NAME_TAKEN" }));
    expect(isRecipeError(await failure(older.ready()), "NAME_TAKEN")).toBe(true);
    await older.close();
    for (let i = 0; i < 4; i++) await one.sync();
    expect(await a.exists("/nodes/mine")).toEqual(stat);
    await holds("/nodes/mine", "newer", two.sessionId);
  });

  test("is left to a newer owner that deletes it and creates its own, as Curator's does", async () => {
    const zk = await stage.client();
    const older = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "older", whenTaken: "takeOver" }));
    await older.ready();
    const isGone = firstValueFrom(older.state$.pipe(filter((state) => state === "making")));
    await a.delete("/nodes/mine");
    await isGone;
    // A create by the older owner would have been made meanwhile.
    for (let i = 0; i < 4; i++) await zk.sync();
    await a.create("/nodes/mine", "newer", { mode: "ephemeral" });
    await firstValueFrom(older.state$.pipe(filter((state) => state === "replaced")));
    await holds("/nodes/mine", "newer", a.sessionId);
  });

  test("two that take over at once do not fight", async () => {
    const clients = await Promise.all([stage.client(), stage.client(), stage.client()]);
    const before = (await a.create("/nodes", "", { mode: "container" })).stat.czxid;
    const nodes = clients.map((zk, i) =>
      stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: `${i}`, whenTaken: "takeOver" })),
    );
    const states = await Promise.all(
      nodes.map(({ state$ }) =>
        firstValueFrom(state$.pipe(filter((state) => state === "there" || state === "replaced"))),
      ),
    );
    expect(states).toContain("there");
    const replaced$ = nodes.map(({ state$ }) => state$.pipe(filter((state) => state === "replaced")));
    await firstValueFrom(merge(...replaced$).pipe(take(2), toArray()));
    await a.sync();
    expect(Number(a.lastZxid - before)).toBeLessThan(10);
  });

  const TAKEN = { path: "/nodes/mine", mode: "persistent", whenTaken: "takeOver" } as const;

  test.each(["kept", "lost"])(
    "without a session keeps the name for data that are set while older ones are written, the answer %s",
    async (answer) => {
      const { zk, relay } = await stage.relayed();
      const node = stage.kept(new PersistentNode(zk, { ...TAKEN, data: "1" }));
      await node.ready();
      const isWritten = firstValueFrom(a.watchExists$("/nodes/mine").pipe(filter((stat) => stat?.version === 1)));
      relay.freeze("answers");
      node.setData("2");
      await a.sync();
      // The answer to the node's read passes, and the next one, to its write, does not.
      const isRead = zk.sync().then(() => relay.freeze("answers"));
      await a.sync();
      relay.thaw();
      await Promise.all([isRead, isWritten]);
      node.setData("3");
      if (answer === "lost") relay.cut();
      relay.thaw();
      await node.ready();
      await holds("/nodes/mine", "3", 0n);
    },
  );

  test("without a session does not take the name back with new data, and its close leaves the newer owner's node", async () => {
    const { zk, relay } = await stage.relayed();
    const older = stage.kept(new PersistentNode(zk, { ...TAKEN, data: "1" }));
    await older.ready();
    relay.freeze("requests");
    older.setData("1");
    const newer = stage.kept(new PersistentNode(await stage.client(), { ...TAKEN, data: "2" }));
    await newer.ready();
    older.setData("7");
    relay.thaw();
    expect(isRecipeError(await failure(older.ready()), "NAME_TAKEN")).toBe(true);
    newer.setData("3");
    await newer.ready();
    await older.close();
    await holds("/nodes/mine", "3", 0n);
  });

  test.each(["wait", "takeOver"] as const)(
    "without a session leaves a node that another owner wrote last when it is closed, with %s",
    async (whenTaken) => {
      const { zk, relay } = await stage.relayed();
      const older = stage.kept(new PersistentNode(zk, { ...TAKEN, whenTaken, data: "1" }));
      await older.ready();
      relay.freeze("answers");
      const newer = stage.kept(new PersistentNode(await stage.client(), { ...TAKEN, whenTaken, data: "2" }));
      await newer.ready();
      const stat = await a.exists("/nodes/mine");
      const closed = older.close();
      relay.thaw();
      await closed;
      for (let i = 0; i < 4; i++) await zk.sync();
      expect(await a.exists("/nodes/mine")).toEqual(stat);
    },
  );

  test("two without a session that write different data do so after pauses, with one warning of each", async () => {
    const both = [new Warnings(), new Warnings()];
    const clients = await Promise.all(both.map(({ logger }) => stage.client({ logger })));
    await a.sync();
    const before = a.lastZxid;
    for (const [i, zk] of clients.entries()) {
      stage.kept(new PersistentNode(zk, { ...TAKEN, whenTaken: "wait", data: `${i}` }));
    }
    const warned = await Promise.all(both.map((warnings) => warnings.coded("ZOOID_CONTESTED")));
    expect(warned[0]).toMatch(/\/nodes\/mine is changed or deleted by another program repeatedly/);
    await a.sync();
    expect(Number(a.lastZxid - before)).toBeLessThan(20);
    for (const { codes } of both) expect(codes).toHaveLength(1);
  });

  test.each(["ephemeral", "persistent"] as const)("if %s, writes new data without a pause", async (mode) => {
    const zk = await stage.client();
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "x", mode }));
    await node.ready();
    const isRepaired = firstValueFrom(a.watchExists$("/nodes/mine").pipe(filter((stat) => stat?.version === 2)));
    await a.set("/nodes/mine", "not x");
    await isRepaired;
    await node.ready();
    // From here on a pause does not end.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const isPaused = firstValueFrom(node.state$.pipe(filter((state) => state === "making")));
      await a.set("/nodes/mine", "not x");
      await isPaused;
      for (let i = 0; i < 20; i++) {
        node.setData(`${i}`);
        await a.sync();
        if (i % 3 === 0) await node.ready();
      }
      await node.ready();
      await holds("/nodes/mine", "19", mode === "ephemeral" ? zk.sessionId : 0n);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a second maintainer of one client waits until the first is closed, and does not delete its node", async () => {
    const zk = await stage.client();
    const first = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "first" }));
    await first.ready();
    // Views have the same session, and may have other paths.
    const second = stage.kept(new PersistentNode(zk.with({}), { path: "/nodes/mine", data: "second" }));
    const third = new PersistentNode(zk.namespace("/nodes"), { path: "/mine", data: "third" });
    for (const { state$ } of [second, third]) await firstValueFrom(state$.pipe(filter((state) => state === "waiting")));
    await third.close();
    await holds("/nodes/mine", "first", zk.sessionId);
    await first.close();
    await second.ready();
    await holds("/nodes/mine", "second", zk.sessionId);
  });

  test("a second maintainer of one client fails with NAME_TAKEN, where that is asked for", async () => {
    const zk = await stage.client();
    const first = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "first" }));
    await first.ready();
    const stat = await a.exists("/nodes/mine");
    const second = new PersistentNode(zk, { path: "/nodes/mine", data: "second", whenTaken: "fail" });
    expect(isRecipeError(await failure(second.ready()), "NAME_TAKEN")).toBe(true);
    await second.close();
    await zk.sync();
    expect(await a.exists("/nodes/mine")).toEqual(stat);
    await first.close();
    await stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "later", whenTaken: "fail" })).ready();
  });

  test("the newest maintainer of one client takes the name over, and the older leaves it alone", async () => {
    const zk = await stage.client();
    const taken = { path: "/nodes/mine", whenTaken: "takeOver" } as const;
    const older = stage.kept(new PersistentNode(zk, { ...taken, data: "older" }));
    await older.ready();
    const newer = stage.kept(new PersistentNode(zk, { ...taken, data: "newer" }));
    await newer.ready();
    await holds("/nodes/mine", "newer", zk.sessionId);
    expect(isRecipeError(await failure(older.ready()), "NAME_TAKEN")).toBe(true);
    expect(() => older.setData("older again")).toThrow(expect.objectContaining({ code: "NAME_TAKEN" }));
    await older.close();
    await zk.sync();
    await holds("/nodes/mine", "newer", zk.sessionId);
    await a.delete("/nodes/mine");
    await holds("/nodes/mine", "newer", zk.sessionId);
  });

  test("a node without a session is another program's: it is waited for with one warning, and never deleted", async () => {
    const { stat } = await a.create("/nodes/mine", "theirs", { parents: "container" });
    const warnings: unknown[] = [];
    const logger = { ...SILENT, warn: (message: string, fields: object) => warnings.push([message, fields]) };
    const zk = await stage.client({ logger });
    const [first, second] = [0, 1].map((i) => new PersistentNode(zk, { path: "/nodes/mine", data: `${i}` }));
    await firstValueFrom(first?.state$.pipe(filter((state) => state === "waiting")) ?? NEVER);
    // Each change is read.
    await a.set("/nodes/mine", "theirs again");
    await a.set("/nodes/mine", "theirs");
    for (let i = 0; i < 4; i++) await zk.sync();
    expect(warnings).toEqual([
      [
        expect.stringMatching(/^\/nodes\/mine is a node without a session.*delete it, or choose whenTaken: "takeOver"/),
        { code: "ZOOID_NAME_TAKEN", path: "/nodes/mine" },
      ],
    ]);
    await first?.close();
    expect((await a.exists("/nodes/mine"))?.czxid).toBe(stat.czxid);
    await a.delete("/nodes/mine");
    await second?.ready();
    await holds("/nodes/mine", "1", zk.sessionId);
    await second?.close();
  });

  test("a node without a session ends one that fails where the name is taken, and is replaced by one that takes over", async () => {
    await a.create("/nodes/mine", "theirs", { parents: "container" });
    const zk = await stage.client();
    const failing = new PersistentNode(zk, { path: "/nodes/mine", data: "mine", whenTaken: "fail" });
    expect(await failure(failing.ready())).toMatchObject({
      code: "NAME_TAKEN",
      message: "/nodes/mine is a node without a session, which another program has made",
    });
    await failing.close();
    await holds("/nodes/mine", "theirs", 0n);
    const taking = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "mine", whenTaken: "takeOver" }));
    await taking.ready();
    await holds("/nodes/mine", "mine", zk.sessionId);
  });

  test("does not replace a node with children, and names them", async () => {
    for (const name of ["x", "y", "z"]) await a.create(`/nodes/mine/${name}`, "", { parents: "persistent" });
    const zk = await stage.client();
    const three = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "", whenTaken: "takeOver" }));
    expect(await failure(three.ready())).toMatchObject({
      message: expect.stringContaining(" has children, x, y, z: "),
    });
    await a.create("/nodes/mine/zz");
    const expected = {
      code: "NAME_TAKEN",
      message: expect.stringMatching(/^\/nodes\/mine .* has children, x, y, z and 1 more: .* once they are deleted$/),
    };
    const node = stage.kept(new PersistentNode(zk, { path: "/nodes/mine", data: "", whenTaken: "takeOver" }));
    expect(await failure(node.ready())).toMatchObject(expected);
    const discovery = stage.kept(new ServiceDiscovery(zk, "/"));
    expect(await failure(discovery.register({ name: "nodes", id: "mine" }))).toMatchObject(expected);
    const lasting = stage.kept(
      new PersistentNode(zk, { path: "/nodes/mine", data: "in place", mode: "persistent", whenTaken: "takeOver" }),
    );
    await lasting.ready();
    await holds("/nodes/mine", "in place", 0n);
  });

  test("a persistent one that is closed before it has looked leaves another program's node", async () => {
    await a.create("/nodes/mine", "theirs", { parents: "container" });
    await new PersistentNode(a, { path: "/nodes/mine", data: "mine", mode: "persistent" }).close();
    await holds("/nodes/mine", "theirs", 0n);
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
  test("of one id is there once in a client: the second waits, or fails with NAME_TAKEN", async () => {
    const zk = await stage.client();
    const first = stage.kept(new GroupMember(zk, "/group", { id: "one", data: "first" }));
    await first.ready();
    const refused = stage.kept(new GroupMember(zk, "/group", { id: "one", data: "second", whenTaken: "fail" }));
    expect(isRecipeError(await failure(refused.ready()), "NAME_TAKEN")).toBe(true);
    const second = stage.kept(new GroupMember(zk, "/group", { id: "one", data: "second" }));
    await firstValueFrom(second.state$.pipe(filter((state) => state === "waiting")));
    await holds("/group/one", "first", zk.sessionId);
    await first.close();
    await second.ready();
    await holds("/group/one", "second", zk.sessionId);
  });

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

  test("does not delete a node without a session that another program made at its id", async () => {
    await a.create("/group/one", "theirs", { parents: "container" });
    const waiting = new GroupMember(await stage.client({ logger: SILENT }), "/group", { id: "one" });
    await firstValueFrom(waiting.state$.pipe(filter((state) => state === "waiting")));
    await waiting.close();
    await holds("/group/one", "theirs", 0n);
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
