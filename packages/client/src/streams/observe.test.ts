import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { bufferCount, config, filter, firstValueFrom, type Observable, type Subscription, take, toArray } from "rxjs";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { json, text } from "../operations/codec.ts";
import type { ClientOptions } from "../options.ts";
import { fourLetterWord } from "../testing/four-letter-word.ts";
import { dataAnswer, honestAnswer, ScriptedServer } from "../testing/scripted-server.ts";
import { expireSession, OldServer, Relay } from "../testing.ts";
import type { ObservedNode } from "./observed-node.ts";

let server: ZooidServer;
/** The relay's target; read for each connection. */
let target: { port: number };
let relay: Relay;
let zk: Client;
/** Connected to the server without the relay, to work while the observer is disconnected. */
let other: Client;

beforeEach(async () => {
  server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000, fourLetterWords: "*" });
  target = { port: server.port };
  relay = await Relay.start(target);
  zk = await open();
  other = await connect(`127.0.0.1:${server.port}`);
});

afterEach(async () => {
  relay.thaw();
  await Promise.all([zk.close(), other.close()]);
  await relay[Symbol.asyncDispose]();
  await server.stop();
});

function open(options: ClientOptions = {}): Promise<Client> {
  return connect(`127.0.0.1:${relay.port}`, options);
}

async function until(kind: string): Promise<void> {
  await firstValueFrom(zk.state$.pipe(filter((state) => state.kind === kind)));
}

/** Disconnects the observer, lets others work, and reconnects it. */
async function without(work: () => Promise<unknown>): Promise<void> {
  relay.refuse();
  relay.cut();
  await until("suspended");
  await work();
  relay.accept();
  await until("connected");
}

async function serverWatches(): Promise<number> {
  return Number(/Total watches:(\d+)/.exec(await fourLetterWord(server.port, "wchs"))?.[1]);
}

/** Records a stream, with a way to wait for a number of values. */
class Record<T> implements Disposable {
  readonly values: T[] = [];
  error: unknown;
  isComplete = false;
  readonly #subscription: Subscription;
  #wake: () => void = () => {};

  constructor(source: Observable<T>) {
    this.#subscription = source.subscribe({
      next: (value) => {
        this.values.push(value);
        this.#wake();
      },
      error: (error: unknown) => {
        this.error = error;
        this.#wake();
      },
      complete: () => {
        this.isComplete = true;
        this.#wake();
      },
    });
  }

  get last(): T | undefined {
    return this.values.at(-1);
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  count(count: number): Promise<void> {
    return this.until(() => this.values.length >= count);
  }

  [Symbol.dispose](): void {
    this.#subscription.unsubscribe();
  }
}

function textOf(node: ObservedNode<string> | undefined): string | undefined {
  return node?.exists ? node.value : undefined;
}

describe.each(["of today", "before 3.6"])("the contract of state streams, with a server %s", (age) => {
  beforeEach(async () => {
    if (age === "of today") return;
    const old = await OldServer.start(server);
    onTestFinished(() => old[Symbol.asyncDispose]());
    target.port = old.port;
    relay.cut();
    await zk.sync();
  });

  test("all subscribers share one watch at the server, armed by the first and removed by the last", async () => {
    await zk.create("/a", "x");
    const source = zk.watchData$("/a");
    expect(await serverWatches()).toBe(0);
    const first = new Record(source);
    const second = new Record(zk.watchData$("/a", { codec: text }));
    await second.count(1);
    expect([zk.watchCount, await serverWatches()]).toEqual([1, 1]);
    first[Symbol.dispose]();
    await zk.sync();
    expect(await serverWatches()).toBe(1);
    second[Symbol.dispose]();
    await zk.sync();
    expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
  });

  test("the first value always comes, also for a node that does not exist", async () => {
    using node = new Record(zk.watchData$("/a", { codec: text }));
    using stat = new Record(zk.watchExists$("/a"));
    using children = new Record(zk.watchChildren$("/a"));
    await Promise.all([node.count(1), stat.count(1), children.count(1)]);
    expect([node.last?.exists, stat.last, children.last]).toEqual([false, null, null]);
    await other.create("/a", "made");
    await Promise.all([node.count(2), stat.count(2), children.count(2)]);
    expect([textOf(node.last), stat.last?.version, children.last]).toEqual(["made", 0, []]);
  });

  test("a late subscriber gets the latest value at once", async () => {
    await zk.create("/a", "x");
    using first = new Record(zk.watchData$("/a", { codec: text }));
    await first.count(1);
    using late = new Record(zk.watchData$("/a", { codec: text }));
    expect(late.values.map(textOf)).toEqual(["x"]);
  });

  test("a rewrite of equal bytes is a change, unless changes is content", async () => {
    await zk.create("/a", "x");
    using changes = new Record(zk.watchData$("/a", { codec: text }));
    using contents = new Record(zk.watchData$("/a", { codec: text, distinct: "content" }));
    await changes.count(1);
    await zk.set("/a", "x");
    await changes.count(2);
    await zk.set("/a", "y");
    await changes.count(3);
    expect(contents.values.map(textOf)).toEqual(["x", "y"]);
  });

  test("a node that was deleted and created again has changed, though its version is 0 again", async () => {
    await zk.create("/a", "first");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    await without(() => other.transaction().delete("/a").create("/a", "second").commit());
    await node.count(2);
    expect(node.values.map(textOf)).toEqual(["first", "second"]);
  });

  test("children are reported when they are created and deleted, and not when they change", async () => {
    await zk.create("/a");
    using children = new Record(zk.watchChildren$("/a"));
    await children.count(1);
    await other.create("/a/x");
    await children.count(2);
    await other.set("/a/x", "changed");
    await other.set("/a", "changed");
    await other.delete("/a/x");
    await children.count(3);
    expect(children.values).toEqual([[], ["x"], []]);
  });

  test("the last state is never lost over lost connections", async () => {
    await zk.create("/a", "0");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    for (let i = 1; i <= 200; i++) {
      const { stat } = { stat: await other.set("/a", String(i)) };
      expect(stat.version).toBe(i);
      if (i % 20 === 0) relay.cut();
    }
    await node.until(() => textOf(node.last) === "200");
    const seen = node.values.map((value) => Number(textOf(value)));
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });

  test("at most one read of a path is in flight, however many changes there are", async () => {
    await zk.create("/a", "0");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    relay.freeze("answers");
    for (let i = 1; i <= 50; i++) await other.set("/a", String(i));
    relay.thaw();
    await node.until(() => textOf(node.last) === "50");
    expect(node.values.length).toBeLessThanOrEqual(3);
  });

  test("without a connection a stream keeps its value, marked as not fresh, and a reconnect alone emits nothing", async () => {
    await zk.create("/a", "x");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    expect(node.last?.fresh).toBe(true);
    await without(async () => expect(node.last?.fresh).toBe(false));
    await zk.sync();
    await zk.sync();
    expect([node.values.length, node.last?.fresh]).toEqual([1, true]);
    await other.set("/a", "y");
    await node.count(2);
    expect([node.values[0]?.fresh, node.last?.fresh]).toEqual([false, true]);
  });

  test("absence is a value, and the stream continues when the node is created again", async () => {
    await zk.create("/a", "x");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    using stat = new Record(zk.watchExists$("/a"));
    using children = new Record(zk.watchChildren$("/a"));
    await Promise.all([node.count(1), stat.count(1), children.count(1)]);
    await other.delete("/a");
    await Promise.all([node.count(2), stat.count(2), children.count(2)]);
    await other.create("/a", "again");
    await Promise.all([node.count(3), stat.count(3), children.count(3)]);
    await other.create("/a/child");
    await children.count(4);
    expect(node.values.map(textOf)).toEqual(["x", undefined, "again"]);
    expect(stat.values.map((value) => value === null)).toEqual([false, true, false]);
    expect(children.values).toEqual([[], null, [], ["child"]]);
  });

  test("the end of a session emits nothing, and changes are reported in the next one", async () => {
    await zk.create("/a", "x");
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    await expireSession(zk, `127.0.0.1:${server.port}`);
    await until("lost");
    await until("connected");
    await zk.sync();
    await zk.sync();
    expect([node.values.length, node.last?.fresh]).toEqual([1, true]);
    await other.set("/a", "y");
    await node.count(2);
    expect(textOf(node.last)).toBe("y");
  });

  test("with onExpiry error the stream fails with the session", async () => {
    await zk.create("/a", "x");
    using node = new Record(zk.watchData$("/a", { onExpiry: "error" }));
    await node.count(1);
    await expireSession(zk, `127.0.0.1:${server.port}`);
    await node.until(() => node.error !== undefined);
    expect(node.error).toMatchObject({ code: "SESSION_EXPIRED" });
  });

  test("permanent problems are errors: access, paths; a payload has a replacement", async () => {
    await zk.create("/secret", "", {
      acl: [{ perms: 31, scheme: "digest", id: "stranger:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }],
    });
    await zk.create("/broken", "{");
    using secret = new Record(zk.watchData$("/secret"));
    using nowhere = new Record(zk.watchChildren$("nowhere/"));
    using mapped = new Record(zk.watchData$("/broken", { codec: json<number>(), onDecodeError: () => -1 }));
    await secret.until(() => secret.error !== undefined);
    await mapped.count(1);
    expect(secret.error).toMatchObject({ code: "NO_AUTH", path: "/secret" });
    expect(nowhere.error).toMatchObject({ code: "INVALID_PATH" });
    expect(mapped.last).toMatchObject({ exists: true, value: -1 });
  });

  test("a failed stream can be subscribed again", async () => {
    await zk.create("/secret", "x", {
      acl: [{ perms: 31, scheme: "digest", id: "stranger:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }],
    });
    using first = new Record(zk.watchData$("/secret"));
    await first.until(() => first.error !== undefined);
    await zk.create("/open", "x");
    using second = new Record(zk.watchData$("/secret"));
    await second.until(() => second.error !== undefined);
    expect(zk.watchCount).toBe(0);
  });

  test("streams complete when the client is closed, also for later subscribers", async () => {
    await zk.create("/a", "x");
    using node = new Record(zk.watchData$("/a"));
    await node.count(1);
    await zk.close();
    expect([node.isComplete, node.error]).toEqual([true, undefined]);
    using late = new Record(zk.watchData$("/a"));
    expect([late.isComplete, late.values]).toEqual([true, []]);
  });

  test("after unsubscribing no value comes, also with an event in flight", async () => {
    await zk.create("/a", "x");
    const node = new Record(zk.watchData$("/a"));
    await node.count(1);
    relay.freeze("answers");
    await other.set("/a", "y");
    node[Symbol.dispose]();
    relay.thaw();
    await zk.sync();
    await zk.sync();
    expect([node.values.length, zk.watchCount, await serverWatches()]).toEqual([1, 0, 0]);
  });

  test("the watch of a read in flight is removed when the last subscriber leaves", async () => {
    await zk.create("/a", "x");
    relay.freeze("answers");
    const node = new Record(zk.watchData$("/a"));
    node[Symbol.dispose]();
    relay.thaw();
    await zk.sync();
    await zk.sync();
    expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
  });

  test("a removal in flight on a lost connection does not remove the next connection's watch", async () => {
    await zk.create("/a", "x");
    const { watch } = await zk.get("/a", { watch: true });
    relay.freeze("requests");
    watch.remove();
    using node = new Record(zk.watchData$("/a", { codec: text }));
    relay.cut();
    relay.thaw();
    await node.count(1);
    await zk.sync();
    await other.set("/a", "y");
    await node.count(2);
    expect(await serverWatches()).toBe(1);
  });

  test("a subscriber that throws does not affect the others", async () => {
    await zk.create("/a", "x");
    const thrown = Promise.withResolvers<unknown>();
    config.onUnhandledError = thrown.resolve;
    const throwing = zk.watchData$("/a").subscribe(() => {
      throw new Error("mine");
    });
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await node.count(1);
    expect(await thrown.promise).toMatchObject({ message: "mine" });
    config.onUnhandledError = null;
    throwing.unsubscribe();
    await zk.set("/a", "y");
    await node.count(2);
  });
});

describe("streams of events", () => {
  test("values come in the order of the wire, before the answers that follow them", async () => {
    await zk.create("/a", "x");
    const order: string[] = [];
    const watching = zk.events$("/a").subscribe((event) => order.push(event.type));
    await zk.sync();
    const { watch } = await zk.get("/a", { watch: true });
    const fired = watch.fired.then(({ type }) => order.push(`watch ${type}`));
    await zk.set("/a", "y").then(() => order.push("set"));
    await fired;
    expect(order).toEqual(["data-changed", "watch data-changed", "set"]);
    watching.unsubscribe();
  });

  test("they complete when the client is closed, also for later subscribers", async () => {
    using events = new Record(zk.events$("/a"));
    await zk.sync();
    await zk.close();
    using late = new Record(zk.events$("/a"));
    expect([events.isComplete, events.error, late.isComplete]).toEqual([true, undefined, true]);
  });

  test("persistent: the node and its list of children, again and again", async () => {
    await zk.create("/a");
    const events = firstValueFrom(zk.events$("/a").pipe(take(5), toArray()));
    await zk.sync();
    await other.set("/a", "1");
    await other.create("/a/b");
    await other.set("/a/b", "not reported");
    await other.delete("/a/b");
    await other.delete("/a");
    const { stat } = await other.create("/a");
    expect(await events).toMatchObject([
      { type: "data-changed", path: "/a" },
      { type: "children-changed", path: "/a" },
      { type: "children-changed", path: "/a" },
      { type: "deleted", path: "/a" },
      { type: "created", path: "/a", zxid: stat.czxid },
    ]);
  });

  test("recursive: every node below, each by its own path, also under a chroot", async () => {
    await zk.create("/app");
    const app = zk.namespace("/app");
    const events = firstValueFrom(app.events$("/", { mode: "persistent-recursive" }).pipe(bufferCount(3)));
    await zk.sync();
    await other.create("/app/a");
    await other.create("/app/a/b", "1");
    await other.set("/app/a/b", "2");
    expect(
      (await events).map((event) => (event.type === "resync" ? event.type : `${event.type} ${event.path}`)),
    ).toEqual(["created /a", "created /a/b", "data-changed /a/b"]);
  });

  test("after a reconnect comes a resync, then further events", async () => {
    await zk.create("/a");
    using events = new Record(zk.events$("/a"));
    await zk.sync();
    await without(() => other.set("/a", "missed"));
    await events.count(1);
    await zk.sync();
    await other.set("/a", "reported");
    await events.count(2);
    expect(events.values.map(({ type }) => type)).toEqual(["resync", "data-changed"]);
  });

  test("when no server supports persistent watches any more, streams of events fail, and other streams continue", async () => {
    await zk.create("/a", "x");
    using events = new Record(zk.events$("/a"));
    using below = new Record(zk.events$("/", { mode: "persistent-recursive" }));
    using node = new Record(zk.watchData$("/a", { codec: text }));
    await zk.sync();
    await using old = await OldServer.start(server);
    target.port = old.port;
    relay.cut();
    await Promise.all([events, below].map((record) => record.until(() => record.error !== undefined)));
    for (const { error } of [events, below])
      expect(error).toMatchObject({ code: "UNIMPLEMENTED", outcome: "rejected" });
    await other.set("/a", "y");
    await node.until(() => textOf(node.last) === "y");
    expect(node.error).toBeUndefined();
  });

  test("the last subscriber takes the watch from the server", async () => {
    const first = zk.events$("/a", { mode: "persistent-recursive" }).subscribe();
    const second = zk.events$("/a", { mode: "persistent-recursive" }).subscribe();
    await zk.sync();
    expect(await serverWatches()).toBe(1);
    first.unsubscribe();
    await zk.sync();
    expect(await serverWatches()).toBe(1);
    second.unsubscribe();
    await zk.sync();
    expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
  });
});

test("subscribers of one stream share its read", async () => {
  await using scripted = await ScriptedServer.start();
  const [zk, line] = await Promise.all([connect(scripted.hosts), scripted.session()]);
  const node$ = zk.watchData$("/a");
  const values = [node$, node$].map((each$) => firstValueFrom(each$));
  line.send(dataAnswer(await line.request(), "x"));
  const next = zk.exists("/b");
  const request = await line.request();
  expect(request.path).toBe("/b");
  line.send(honestAnswer(request));
  line.serve(honestAnswer);
  await Promise.all([...values, next]);
  await zk.close();
});
