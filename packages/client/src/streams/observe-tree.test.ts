import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ErrorCode, OpCode, WatchEventType } from "@zooid/model";
import { config, filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import type { ClientOptions } from "../options.ts";
import type { FallbackMessage } from "../session/diagnostics.ts";
import { fourLetterWord } from "../testing/four-letter-word.ts";
import { answer, dataAnswer, event, honestAnswer, ScriptedServer, statAnswer } from "../testing/scripted-server.ts";
import { plain, TreeRecorder } from "../testing/tree-recorder.ts";
import { expireSession, OldServer, Relay } from "../testing.ts";

let server: ZooidServer;
let old: OldServer;
/** The relay's target; read for each connection. */
let target: { port: number };
let relay: Relay;
let zk: Client;
/** Connected to the server without the relay. */
let other: Client;

beforeEach(async () => {
  server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000, fourLetterWords: "*" });
  old = await OldServer.start(server);
  target = { port: server.port };
  relay = await Relay.start(target);
  other = await connect(`127.0.0.1:${server.port}`);
});

afterEach(async () => {
  relay.accept();
  relay.thaw();
  await Promise.all([zk.close(), other.close()]);
  await relay[Symbol.asyncDispose]();
  await old[Symbol.asyncDispose]();
  await server.stop();
});

async function open(options: ClientOptions = {}): Promise<void> {
  zk = await connect(`127.0.0.1:${relay.port}`, { random: () => 0, ...options });
}

async function openToOld(options: ClientOptions = {}): Promise<void> {
  target.port = old.port;
  await open(options);
}

async function until(kind: string): Promise<void> {
  await firstValueFrom(zk.state$.pipe(filter((state) => state.kind === kind)));
}

/** Disconnects the observer, lets others work, and reconnects it. */
async function without(work: () => unknown): Promise<void> {
  relay.refuse();
  relay.cut();
  await until("suspended");
  await work();
  relay.accept();
  await until("connected");
}

async function serverWatches(): Promise<number> {
  return Number(/zk_watch_count\s+(\d+)/.exec(await fourLetterWord(server.port, "mntr"))?.[1]);
}

/**
 * Waits until all earlier changes were reported: events may be followed by reads, and those by
 * lists.
 */
async function settled(): Promise<void> {
  await other.sync();
  for (let i = 0; i < 10; i++) await zk.sync();
}

async function there(path: string): Promise<Record<string, string>> {
  const held: Record<string, string> = {};
  const visit = async (at: string): Promise<void> => {
    const node = await other.getOrNull(at);
    if (node === null) return;
    held[at] = Buffer.from(node.data ?? []).toString();
    for (const name of (await other.children(at)).names.sort()) await visit(`${at}/${name}`);
  };
  await visit(path);
  return Object.fromEntries(Object.entries(held).sort());
}

const FORMS: readonly (readonly [string, () => Promise<void>])[] = [
  ["by one recursive watch", () => open({ treeWatches: "persistent" })],
  ["by watches of one shot", () => open({ treeWatches: "one-shot" })],
  ["as a server before 3.6 allows", () => openToOld()],
];

describe.each(FORMS)("a tree, watched %s", (_form, opened) => {
  beforeEach(opened);

  test("existing nodes come first, parents before children, then creations, changes and deletions", async () => {
    for (const path of ["/t", "/t/a", "/t/a/b", "/t-not"]) await other.create(path, "1");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await other.set("/t/a/b", "2");
    await settled();
    await other.create("/t/c", "3");
    await settled();
    await other.create("/t/c/d", "4");
    await settled();
    await other.deleteTree("/t/a");
    await settled();
    expect(recorder.lines).toEqual([
      ...["created /t 1", "created /t/a 1", "created /t/a/b 1", "ready"],
      ...["changed /t/a/b 2", "created /t/c 3", "created /t/c/d 4", "deleted /t/a/b 2", "deleted /t/a 1"],
    ]);
  });

  test("a missing tree is ready, and is reported when it is created, deleted and created again", async () => {
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await other.create("/t/a/b", "x", { parents: "persistent" });
    await settled();
    await other.deleteTree("/t");
    await settled();
    expect(recorder.held).toEqual({});
    await other.create("/t/c", "y", { parents: "persistent" });
    await settled();
    await other.set("/t/c", "z");
    await settled();
    expect([recorder.held, recorder.faults]).toEqual([{ "/t": "", "/t/c": "z" }, []]);
  });

  test("paths are relative to a namespace", async () => {
    await other.create("/app/t/a", "1", { parents: "persistent" });
    using recorder = new TreeRecorder(zk.namespace("/app"), "/t");
    await recorder.ready();
    await other.set("/app/t/a", "2");
    await other.create("/app/t/b", "3");
    await settled();
    expect(recorder.held).toEqual({ "/t": "", "/t/a": "2", "/t/b": "3" });
    await other.delete("/app/t/b");
    await settled();
    expect(recorder.lines.at(-1)).toBe("deleted /t/b 3");
  });

  test("only selected nodes are reported", async () => {
    for (const path of ["/t", "/t/a", "/t/a/b", "/t/a/b/c", "/t/locks", "/t/locks/1"]) await other.create(path);
    using recorder = new TreeRecorder(zk, "/t", { depthMax: 2, select: (path) => !path.endsWith("/locks") });
    await recorder.ready();
    await other.create("/t/a/d");
    await other.create("/t/a/d/e");
    await other.create("/t/locks/2");
    await settled();
    expect(Object.keys(recorder.held)).toEqual(["/t", "/t/a", "/t/a/b", "/t/a/d"]);
  });

  test("the children of a node that is replaced at once are observed, too", async () => {
    await other.create("/t/a/b", "", { parents: "persistent" });
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await other.transaction().delete("/t/a/b").delete("/t/a").create("/t/a", "new").create("/t/a/c", "").commit();
    await settled();
    await other.create("/t/a/d");
    await settled();
    expect([recorder.held, recorder.faults]).toEqual([{ "/t": "", "/t/a": "new", "/t/a/c": "", "/t/a/d": "" }, []]);
  });

  test("the last state is never lost over lost connections and concurrent changes", async () => {
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    const paths = ["/t/a", "/t/b", "/t/a/x", "/t/a/y", "/t/b/x", "/t/a/x/z"];
    const never = "there is no such node, or there is one already";
    for (let i = 0; i < 400; i++) {
      const path = paths[(i * 7) % paths.length] ?? "";
      if (i % 3 === 0) await other.create(path, String(i)).catch(() => never);
      else if (i % 3 === 1) await other.set(path, String(i)).catch(() => never);
      else await other.deleteTree(paths[(i * 5) % paths.length] ?? "").catch(() => never);
      if (i % 40 === 0) relay.cut();
    }
    const last = await there("/t");
    await until("connected");
    await settled();
    expect([recorder.held, recorder.faults, recorder.error]).toEqual([last, [], undefined]);
  });

  test("changes made while disconnected are found, and a reconnect alone emits nothing", async () => {
    for (const path of ["/t", "/t/stays", "/t/changes", "/t/goes", "/t/anew"]) await other.create(path, "old");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    const before = recorder.lines.length;
    await without(() => {});
    await settled();
    expect(recorder.lines).toHaveLength(before);
    await without(async () => {
      await other.set("/t/changes", "new");
      await other.delete("/t/goes");
      await other.transaction().delete("/t/anew").create("/t/anew", "old").commit();
      await other.create("/t/comes/below", "new", { parents: "persistent" });
    });
    await settled();
    expect(recorder.lines.slice(before).sort()).toEqual([
      ...["changed /t/anew old", "changed /t/changes new", "created /t/comes ", "created /t/comes/below new"],
      "deleted /t/goes old",
    ]);
  });

  test("it continues in the next session", async () => {
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await expireSession(zk, `127.0.0.1:${server.port}`);
    relay.cut();
    await until("lost");
    await until("connected");
    await other.create("/t/a", "1");
    await settled();
    expect(recorder.held).toEqual({ "/t": "", "/t/a": "1" });
  });

  test("unsubscribing removes all watches, here at once, and then at the server", async () => {
    for (const path of ["/t", "/t/a", "/t/a/b"]) await other.create(path);
    const recorder = new TreeRecorder(zk, "/t");
    const second = new TreeRecorder(zk, "/t/a");
    await Promise.all([recorder.ready(), second.ready()]);
    recorder[Symbol.dispose]();
    await settled();
    await other.create("/t/a/c");
    await settled();
    expect(second.lines.at(-1)).toBe("created /t/a/c ");
    second[Symbol.dispose]();
    expect(zk.watchCount).toBe(0);
    await settled();
    expect(await serverWatches()).toBe(0);
  });

  test("unsubscribing during its reads leaves no watch either", async () => {
    for (const path of ["/t", "/t/a", "/t/a/b"]) await other.create(path);
    const recorder = new TreeRecorder(zk, "/t");
    await recorder.until(() => recorder.lines.length > 0);
    relay.freeze("answers");
    recorder[Symbol.dispose]();
    relay.thaw();
    await settled();
    expect([recorder.lines.includes("ready"), zk.watchCount, await serverWatches()]).toEqual([false, 0, 0]);
  });

  test("a subscriber that leaves during an event gets no more", async () => {
    for (const path of ["/t", "/t/a", "/t/b"]) await other.create(path);
    const lines: string[] = [];
    const subscription = zk.watchTree$("/t").subscribe((change) => {
      lines.push(plain(change));
      if (lines.length === 2) subscription.unsubscribe();
    });
    await expect.poll(() => lines.length).toBe(2);
    await settled();
    expect([lines.length, zk.watchCount]).toEqual([2, 0]);
  });

  test("permanent problems are errors: access, paths, depths, and errors of the selection", async () => {
    await other.create("/t");
    await other.create("/t/secret", "", {
      acl: [{ perms: 31, scheme: "digest", id: "stranger:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }],
    });
    const fault = new Error("mine");
    const select = (): boolean => {
      throw fault;
    };
    using secret = new TreeRecorder(zk, "/t");
    using nowhere = new TreeRecorder(zk, "t/");
    using deep = new TreeRecorder(zk, "/t", { depthMax: Number.NaN });
    using choosy = new TreeRecorder(zk, "/t", { select });
    await secret.until(() => secret.error !== undefined);
    await choosy.until(() => choosy.error !== undefined);
    expect(secret.error).toMatchObject({ code: "NO_AUTH", path: "/t/secret" });
    expect(nowhere.error).toMatchObject({ code: "INVALID_PATH" });
    expect(deep.error).toBeInstanceOf(RangeError);
    expect([choosy.error, zk.watchCount]).toEqual([fault, 0]);
  });

  test("it completes when the client is closed, also for later subscribers", async () => {
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await zk.close();
    using late = new TreeRecorder(zk, "/t");
    expect([recorder.isComplete, late.isComplete, late.lines]).toEqual([true, true, []]);
  });

  test("a subscriber that throws does not affect the others", async () => {
    const thrown = Promise.withResolvers<unknown>();
    config.onUnhandledError = thrown.resolve;
    await other.create("/t");
    const throwing = zk.watchTree$("/t").subscribe(({ kind }) => {
      if (kind === "created") throw new Error("mine");
    });
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    expect(await thrown.promise).toMatchObject({ message: "mine" });
    config.onUnhandledError = null;
    throwing.unsubscribe();
  });
});

describe("concurrent changes", () => {
  test("a read that finds a replaced node arms no watch", async () => {
    await open({ treeWatches: "one-shot" });
    await other.create("/t/a", "1", { parents: "persistent" });
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    relay.freeze("requests");
    const fired = (count: number): Promise<void> => expect.poll(() => zk.watchCount).toBe(count);
    await other.set("/t/a", "2");
    await fired(3);
    // Its data are not watched now, and its list reports its deletion, as its parent's does.
    await other.delete("/t/a");
    await fired(1);
    await other.create("/t/a", "3");
    relay.thaw();
    await settled();
    expect([recorder.lines.slice(3), zk.watchCount]).toEqual([["deleted /t/a 1", "created /t/a 3"], 4]);
  });

  test("a subscriber that leaves while the tree is deleted gets nothing when it is created again", async () => {
    await open({ treeWatches: "one-shot" });
    await other.create("/t");
    const subscription = zk.watchTree$("/t").subscribe(({ kind }) => {
      if (kind === "deleted") subscription.unsubscribe();
    });
    await settled();
    await other.transaction().delete("/t").create("/t").commit();
    await settled();
    expect([subscription.closed, zk.watchCount, await serverWatches()]).toEqual([true, 0, 0]);
  });

  test("an answer that an event has overtaken is ignored", async () => {
    await using scripted = await ScriptedServer.start();
    const connecting = connect(scripted.hosts, { treeWatches: "persistent" });
    const line = await scripted.session();
    zk = await connecting;
    using recorder = new TreeRecorder(zk, "/t");
    line.send(answer(await line.request()));
    for (const request of await line.requests(2)) line.send(honestAnswer(request));
    await recorder.ready();
    line.send(event(WatchEventType.NODE_DATA_CHANGED, "/t"));
    const reading = await line.request();
    line.send(event(WatchEventType.NODE_DELETED, "/t"), dataAnswer(reading, "as it was"));
    const syncing = zk.sync();
    line.send(answer(await line.request()));
    await syncing;
    expect(recorder.lines).toEqual(["created /t /t", "ready", "deleted /t /t"]);
    line.serve(honestAnswer);
  });
});

test.each([
  ["data", WatchEventType.NODE_DATA_CHANGED, OpCode.GET_DATA],
  ["children", WatchEventType.NODE_CHILDREN_CHANGED, OpCode.GET_CHILDREN2],
])("a change of a node's %s reads those alone", async (_, type, op) => {
  await using scripted = await ScriptedServer.start();
  const connecting = connect(scripted.hosts, { treeWatches: "one-shot" });
  const line = await scripted.session();
  zk = await connecting;
  using recorder = new TreeRecorder(zk, "/t");
  for (const request of await line.requests(2)) line.send(honestAnswer(request));
  await recorder.ready();
  line.send(event(type, "/t"));
  const read = await line.request();
  const syncing = zk.sync();
  const next = await line.request();
  expect([read.op, next.op]).toEqual([op, OpCode.SYNC]);
  line.send(honestAnswer(read), answer(next));
  await syncing;
  line.serve(honestAnswer);
});

describe("a tree's own node", () => {
  test("that is created between the read that missed it and the watch for it is read again", async () => {
    await using scripted = await ScriptedServer.start();
    const connecting = connect(scripted.hosts, { treeWatches: "one-shot" });
    const line = await scripted.session();
    zk = await connecting;
    using recorder = new TreeRecorder(zk, "/t");
    for (const request of await line.requests(2)) line.send(answer(request, { code: ErrorCode.NO_NODE }));
    const watching = await line.request();
    line.serve(honestAnswer);
    line.send(statAnswer(watching));
    await recorder.ready();
    expect([watching.op, recorder.lines]).toEqual([OpCode.EXISTS, ["created /t /t", "ready"]]);
  });
});

describe("reads of a large tree", () => {
  test.each(FORMS)("%s at most 64 nodes are read at a time, also after a reconnect", async (_form, opened) => {
    await opened();
    await other.create("/t");
    const names = Array.from({ length: 1_000 }, (_, i) => `/t/${i}`);
    await Promise.all(names.map((path) => other.create(path)));
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    let most = 0;
    const watched = zk.watchTree$("/t").subscribe(() => {
      most = Math.max(most, zk.metrics.inFlightCount + zk.metrics.waitingCount);
    });
    await without(() => other.set("/t/999", "changed"));
    await recorder.until(() => recorder.lines.at(-1) === "changed /t/999 changed");
    await settled();
    watched.unsubscribe();
    // Data and list of each, for two observers, and the test's own sync.
    expect(most).toBeGreaterThan(64);
    expect(most).toBeLessThanOrEqual(2 * 2 * 64 + 2);
    expect(recorder.nodes.size).toBe(1_001);
  });
});

describe("which watches", () => {
  /** The published fallback events. */
  function fallbacks(): string[] {
    const heard: string[] = [];
    const hear = (message: unknown): void => {
      const { server: name, reason } = message as FallbackMessage;
      if (name === `127.0.0.1:${relay.port}`) heard.push(reason);
    };
    subscribe("zk:client:fallback", hear);
    onTestFinished(() => void unsubscribe("zk:client:fallback", hear));
    return heard;
  }

  const asked = (): number => old.unknownCodes.filter((code) => code === OpCode.ADD_WATCH).length;

  test("a server that supports persistent watches is asked for one, whatever the size of the tree", async () => {
    await open();
    for (const path of ["/t", "/t/a", "/t/b"]) await other.create(path);
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    expect([await serverWatches(), zk.watchCount]).toEqual([1, 1]);
  });

  test("one-shot watches are armed for selected nodes only", async () => {
    await open({ treeWatches: "one-shot" });
    for (const path of ["/t", "/t/a", "/t/a/b", "/t/c"]) await other.create(path);
    using recorder = new TreeRecorder(zk, "/t", { depthMax: 1, select: (path) => path !== "/t/c" });
    await recorder.ready();
    // Data and list of the node itself, data of its one child.
    expect(await serverWatches()).toBe(3);
  });

  test("a server that refuses and closes costs one connection for any number of observers, and is reported once", async () => {
    const heard = fallbacks();
    await openToOld();
    await other.create("/t");
    using first = new TreeRecorder(zk, "/t");
    using second = new TreeRecorder(zk, "/t");
    await Promise.all([first.ready(), second.ready()]);
    const connections = relay.acceptedCount;
    using third = new TreeRecorder(zk, "/t");
    await third.ready();
    await without(() => {});
    await settled();
    expect([connections, heard, zk.sessionId === 0n]).toEqual([2, ["refused"], false]);
    expect(asked()).toBe(1);
  });

  test("calls made around the probe are answered, also by a server that closes the connection", async () => {
    await openToOld();
    let isEnough = false;
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; !isEnough; i++) await zk.create(`/${writer}-${i}`);
    };
    const writers = [write(1), write(2), write(3)];
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    isEnough = true;
    await Promise.all(writers);
    expect([relay.acceptedCount, asked()]).toEqual([2, 1]);
  });

  test("an observer that leaves before the probe is sent, or answered, blocks no call", async () => {
    await open();
    relay.freeze("answers");
    const pending = zk.sync();
    const [asking, asked] = [new TreeRecorder(zk, "/t"), new TreeRecorder(zk, "/t")];
    asking[Symbol.dispose]();
    relay.thaw();
    await pending;
    relay.freeze("answers");
    asked[Symbol.dispose]();
    relay.thaw();
    await settled();
    expect([zk.watchCount, await serverWatches(), zk.metrics.waitingCount]).toEqual([0, 0, 0]);
  });

  test("a server that refuses and keeps the connection is left and returned to like any other", async () => {
    old.unknown = "refuse";
    await openToOld();
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await other.create("/t/a");
    await settled();
    expect([recorder.held, relay.acceptedCount]).toEqual([{ "/t": "", "/t/a": "" }, 2]);
  });

  test("a server that closes without an answer is detected, and then not asked again", async () => {
    old.unknown = "hang-up";
    const heard = fallbacks();
    await openToOld();
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    await other.create("/t/a");
    await settled();
    expect([recorder.held, heard, asked(), relay.acceptedCount]).toEqual([{ "/t": "", "/t/a": "" }, ["hung-up"], 3, 4]);
  });

  test("with one-shot no probe is sent", async () => {
    await openToOld({ treeWatches: "one-shot" });
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    expect([old.unknownCodes, relay.acceptedCount]).toEqual([[], 1]);
  });

  test("with persistent the stream fails with UNIMPLEMENTED, the second time without losing a connection", async () => {
    await openToOld({ treeWatches: "persistent" });
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.until(() => recorder.error !== undefined);
    await zk.sync();
    using again = new TreeRecorder(zk, "/t");
    expect([recorder.error, again.error]).toMatchObject([{ code: "UNIMPLEMENTED" }, { code: "UNIMPLEMENTED" }]);
    expect([asked(), relay.acceptedCount]).toEqual([1, 2]);
  });

  test("the stream's option overrides the client's", async () => {
    await openToOld({ treeWatches: "persistent" });
    using recorder = new TreeRecorder(zk, "/t", { watches: "one-shot" });
    await recorder.ready();
    expect(old.unknownCodes).toEqual([]);
  });

  test("the kind of watch is chosen on each connection: to an older server, and to a newer one again", async () => {
    await using older = await Relay.start(old);
    const hosts = [{ host: "127.0.0.1", port: relay.port }];
    zk = await connect("", { hosts: { hosts: () => hosts }, random: () => 0 });
    await other.create("/t");
    using recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    expect(await serverWatches()).toBe(1);
    const move = async (from: Relay, to: Relay): Promise<void> => {
      hosts.splice(0, 1, { host: "127.0.0.1", port: to.port });
      const here = `127.0.0.1:${to.port}`;
      const moved = zk.state$.pipe(filter((state) => state.kind === "connected" && state.server === here));
      to.accept();
      from.refuse();
      from.cut();
      await firstValueFrom(moved);
    };
    await move(relay, older);
    await other.create("/t/a", "older");
    await settled();
    expect([recorder.held, await serverWatches()]).toEqual([{ "/t": "", "/t/a": "older" }, 4]);
    await move(older, relay);
    await other.create("/t/b", "newer");
    await settled();
    expect([recorder.held, recorder.faults, await serverWatches()]).toEqual([
      { "/t": "", "/t/a": "older", "/t/b": "newer" },
      [],
      1,
    ]);
  });

  test("a server before 3.5 is not asked to remove watches, which would cost the connection", async () => {
    await using older = await OldServer.start(server, { version: "3.4" });
    target.port = older.port;
    await open({ treeWatches: "one-shot" });
    await other.create("/t");
    const recorder = new TreeRecorder(zk, "/t");
    await recorder.ready();
    recorder[Symbol.dispose]();
    await settled();
    expect([older.unknownCodes, relay.acceptedCount, zk.watchCount]).toEqual([[], 1, 0]);
    // The remaining watches fire once, without effect.
    await other.set("/t", "1");
    await other.create("/t/a");
    await settled();
    expect(await serverWatches()).toBe(0);
  });
});

test("a node that one transaction deletes and creates has changed, and was absent at no moment", async () => {
  await open();
  for (const path of ["/t", "/t/a", "/t/b", "/t/c"]) await other.create(path, "1");
  using recorder = new TreeRecorder(zk, "/t");
  await recorder.ready();
  const before = recorder.lines.length;
  await other
    .transaction()
    .delete("/t/a")
    .create("/t/a", "2")
    .delete("/t/b")
    .delete("/t/c")
    .create("/t/c", "3")
    .delete("/t/c")
    .commit();
  await expect.poll(() => recorder.held).toEqual({ "/t": "1", "/t/a": "2" });
  expect(recorder.lines.slice(before).toSorted()).toEqual(["changed /t/a 2", "deleted /t/b 1", "deleted /t/c 1"]);
  expect(recorder.faults).toEqual([]);
});
