import { type Client, OPEN_ACL, Permission, text } from "@zooid/client";
import type { Relay } from "@zooid/client/testing";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { type ClaimedItem, Claims } from "./claims.ts";
import { DelayQueue } from "./delay-queue.ts";
import { DistributedQueue } from "./distributed-queue.ts";
import { IdQueue } from "./id-queue.ts";
import { LockingQueue } from "./locking-queue.ts";
import { PriorityQueue } from "./priority-queue.ts";
import type { Work } from "./queue-consumer.ts";
import { encodeItems } from "./queue-item.ts";
import type { QueueOptions, WorkQueue } from "./work-queue.ts";

const PATH = "/queues/q";
const LOCKS = "/queues/q-locks";
const SAFE: QueueOptions<string> = { codec: text, lockPath: LOCKS };
const FAST: QueueOptions<string> = { codec: text };

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

/** The items given to consumers, in order. */
class Given {
  readonly items: string[] = [];
  #awaited: (() => void) | undefined;

  readonly work: Work<string> = (item) => {
    this.items.push(item);
    this.#awaited?.();
  };

  async count(count: number): Promise<readonly string[]> {
    while (this.items.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#awaited = resolve;
      await promise;
    }
    return this.items;
  }
}

function queue(zk: Client, options: QueueOptions<string>): DistributedQueue<string> {
  return stage.kept(new DistributedQueue(zk, PATH, options));
}

describe.each([
  ["at least once", SAFE],
  ["at most once", FAST],
])("a queue whose items are done %s", (_, options) => {
  test("gives items out first in, first out", async () => {
    const mine = queue(a, options);
    for (const item of ["one", "two"]) await mine.put(item);
    await mine.putAll(["three", "four"]);
    await a.create(`${PATH}/foreign`);
    expect(await tree(a, PATH)).toEqual([...[0, 1, 2].map((i) => `queue-000000000${i}`), "foreign"]);
    expect(Buffer.from((await b.get(`${PATH}/queue-0000000000`)).data ?? []).toString("hex")).toBe(
      "0001000101000000036f6e6502",
    );
    const given = new Given();
    const consumer = queue(b, options).consume(given.work);
    expect(await given.count(4)).toEqual(["one", "two", "three", "four"]);
    await mine.put("five");
    expect(await given.count(5)).toContain("five");
    await consumer.close();
    expect((await a.children(PATH)).names).toEqual(["foreign"]);
    expect([a.watchCount, b.watchCount]).toEqual([0, 0]);
    await mine.put("six");
    expect(await mine.size()).toBe(1);
    expect(given.items).toHaveLength(5);
  });

  test("gives each item to one of many consumers", async () => {
    const given = new Given();
    const producer = queue(a, options);
    for (let i = 0; i < 4; i++) queue(i % 2 === 0 ? a : b, options).consume(given.work, { concurrency: 1 + (i % 3) });
    const items = Array.from({ length: 100 }, (_, i) => String(i));
    for (const item of items) producer.put(item).catch(() => {});
    await producer.flush();
    const done = await given.count(100);
    expect(done.toSorted((x, y) => Number(x) - Number(y))).toEqual(items);
    await count(a, PATH, 0);
  });

  test("requeues failed items, drops them, or moves them", async () => {
    const mine = queue(a, options);
    const errors: string[] = [];
    const onError = (error: unknown): unknown => errors.push((error as Error).message);
    const given = new Given();
    let failures = 1;
    const failing: Work<string> = (item, context) => {
      if (item === "bad" && failures-- > 0) throw new Error("bad");
      return given.work(item, context);
    };
    for (const item of ["bad", "good"]) await mine.put(item);
    const first = mine.consume(failing, { onError });
    expect(await given.count(2)).toEqual(["good", "bad"]);
    await first.close();
    failures = 1;
    for (const item of ["bad", "best"]) await mine.put(item);
    const second = mine.consume(failing, { onError, onFailure: "drop" });
    expect(await given.count(3)).toContain("best");
    await second.close();
    failures = 1;
    await mine.put("bad");
    await mine.put("last");
    const third = mine.consume(failing, { onError, onFailure: { moveTo: "/queues/dead" } });
    await given.count(4);
    await third.close();
    expect(errors).toEqual(["bad", "bad", "bad"]);
    expect(await tree(b, "/queues/dead")).toEqual(["queue-0000000000"]);
    const dead = new Given();
    stage.kept(new DistributedQueue(b, "/queues/dead", options)).consume(dead.work);
    expect(await dead.count(1)).toEqual(["bad"]);
  });

  test("leaves unreadable items alone, and reports them", async () => {
    const mine = queue(a, options);
    await a.create(`${PATH}/queue-`, "?", { mode: "persistent-sequential", parents: "container" });
    await mine.put("good");
    const reported: string[] = [];
    const given = new Given();
    const consumer = mine.consume(given.work, { onError: (_, path) => reported.push(path) });
    await given.count(1);
    await consumer.close();
    expect(reported).toEqual([`${PATH}/queue-0000000000`]);
    expect((await b.children(PATH)).names).toEqual(["queue-0000000000"]);
  });

  test("gives out an item that has the name of an unreadable one that is gone", async () => {
    const path = `${PATH}/queue-0000000000`;
    await a.create(path, "?", { parents: "container" });
    const { promise, resolve } = Promise.withResolvers<void>();
    const given = new Given();
    queue(b, options).consume(given.work, { onError: () => resolve() });
    await promise;
    await a.delete(path);
    // The consumer has seen that when it has done another item.
    await queue(a, options).put("other");
    await given.count(1);
    await a.create(path, encodeItems([Buffer.from("good")]));
    expect(await given.count(2)).toEqual(["other", "good"]);
  });

  test("tries an item that may not be read now and then, and gives it out once it may; others are not held up", async () => {
    const mine = queue(a, options);
    for (const item of ["one", "two"]) await mine.put(item);
    const path = `${PATH}/queue-0000000000`;
    await a.setAcl(path, [{ scheme: "world", id: "anyone", perms: Permission.ALL - Permission.READ }]);
    const reported: string[] = [];
    const given = new Given();
    const consumer = queue(b, options).consume(given.work, { onError: (_, at) => reported.push(at) });
    expect(await given.count(1)).toEqual(["two"]);
    for (let i = 0; i < 50; i++) await b.sync();
    expect([...new Set(reported)]).toEqual([path]);
    expect(reported.length).toBeLessThan(5);
    await a.setAcl(path, OPEN_ACL);
    expect(await given.count(2)).toEqual(["two", "one"]);
    await consumer.close();
  });

  test("continues over lost connections and sessions", async () => {
    const { zk, relay } = await stage.relayed();
    const given = new Given();
    queue(zk, options).consume(given.work);
    await zk.sync();
    relay.cut();
    const mine = queue(a, options);
    await mine.put("one");
    await given.count(1);
    await stage.expire(zk);
    relay.cut();
    await mine.put("two");
    expect(await given.count(2)).toEqual(["one", "two"]);
  });
});

test("a put into a full queue waits", async () => {
  const full = queue(a, { ...FAST, itemCountMax: 2 });
  for (const item of ["one", "two"]) await full.put(item);
  expect(isRecipeError(await failure(full.put("three", { timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  const waiting = full.put("three");
  await a.sync();
  const given = new Given();
  queue(b, FAST).consume(given.work);
  await waiting;
  expect(await given.count(3)).toEqual(["one", "two", "three"]);
});

describe("a put that waits for room", () => {
  const closedError = { code: "RECIPE_CLOSED", message: `the queue ${PATH} is closed` };

  test("fails when the queue is closed, also one that begins later, with or without room", async () => {
    const full = queue(a, { ...FAST, itemCountMax: 1 });
    await full.put("one");
    const waiting = failure(full.put("two"));
    await full.close();
    expect(await waiting).toMatchObject(closedError);
    expect(await failure(full.put("three"))).toMatchObject(closedError);
    for (const name of (await b.children(PATH)).names) await b.delete(`${PATH}/${name}`);
    expect(await failure(full.put("four"))).toMatchObject(closedError);
    expect((await b.children(PATH)).names).toEqual([]);
  });

  test("fails when the work on an item closes the queue", async () => {
    const full = queue(a, { ...SAFE, itemCountMax: 1 });
    await full.put("one");
    const error = Promise.withResolvers<unknown>();
    full.consume(async () => {
      error.resolve(failure(full.put("two")));
      await full.close();
    });
    expect(await error.promise).toMatchObject(closedError);
    await full.close();
  });

  test("fails when it is the last work's, which the closed queue waits for", async () => {
    const full = queue(a, { ...SAFE, itemCountMax: 1 });
    await full.put("one");
    const begun = Promise.withResolvers<void>();
    const closing = Promise.withResolvers<void>();
    const error = Promise.withResolvers<unknown>();
    full.consume(async () => {
      begun.resolve();
      await closing.promise;
      error.resolve(await failure(full.put("two")));
    });
    await begun.promise;
    const closed = full.close();
    closing.resolve();
    expect(await error.promise).toMatchObject(closedError);
    await closed;
  });
});

test("an item whose claim is deleted while it is in work is tried again, also by its only consumer", async () => {
  const mine = queue(a, SAFE);
  await mine.put("one");
  const twice = Promise.withResolvers<void>();
  let count = 0;
  mine.consume(async (_, { lease, signal }) => {
    if (++count === 2) return twice.resolve();
    await b.delete(`${lease?.path}`);
    await aborted(signal);
    // The consumer has read the list with this item in work.
    await a.sync();
    await a.sync();
  });
  await twice.promise;
});

test("work does not begin on the further items of a node that is lost", async () => {
  const mine = queue(a, SAFE);
  await mine.putAll(["one", "two"]);
  const items: string[] = [];
  const done = Promise.withResolvers<void>();
  mine.consume(async (item, { lease, signal }) => {
    items.push(item);
    if (item === "two") done.resolve();
    if (items.length > 1) return;
    await b.delete(`${lease?.path}`);
    await aborted(signal);
  });
  await done.promise;
  expect(items).toEqual(["one", "one", "two"]);
});

test("the item of a consumer whose connection is lost is requeued, and done by another one", async () => {
  const { zk, relay } = await stage.relayed();
  await queue(a, SAFE).put("one");
  const begun = Promise.withResolvers<AbortSignal>();
  const end = Promise.withResolvers<void>();
  queue(zk, SAFE).consume(async (_, { signal, lease }) => {
    expect(lease?.isValid()).toBe(true);
    begun.resolve(signal);
    await end.promise;
  });
  const signal = await begun.promise;
  const given = new Given();
  queue(b, SAFE).consume(given.work);
  await count(a, LOCKS, 1);
  relay.refuse();
  relay.cut();
  await aborted(signal);
  expect(given.items).toEqual([]);
  await stage.expire(zk);
  expect(await given.count(1)).toEqual(["one"]);
  await count(a, PATH, 0);
  end.resolve();
  relay.accept();
});

describe("guarded work whose claim has ended is refused, though another client has claimed the item:", () => {
  test.each<readonly [end: string, ends: (claim: ClaimedItem, zk: Client, relay: Relay) => Promise<void>]>([
    ["released", (claim) => claim.release()],
    [
      "deleted by another program",
      async (claim) => {
        await a.delete(claim.lease.path);
        await aborted(claim.lease.signal);
      },
    ],
    [
      "with its session",
      async (_, zk, relay) => {
        relay.refuse();
        relay.cut();
        await enters(zk, "suspended");
        await stage.expire(zk);
      },
    ],
  ])("%s", async (_, ends) => {
    await a.create(`${PATH}/queue-1`, "one", { parents: "persistent" });
    const { zk, relay } = await stage.relayed();
    const claim = await new Claims(zk, LOCKS, { onSuspended: "keep" }).claim(`${PATH}/queue-1`);
    if (claim === null) throw new Error("no other client claims it");
    await claim.lease.guard().create("/in-time").commit();
    await ends(claim, zk, relay);
    const next = await new Claims(b, LOCKS).claim(`${PATH}/queue-1`);
    expect(next?.lease.isValid()).toBe(true);
    const late = claim.lease.guard().create("/late").commit();
    relay.accept();
    expect(await failure(late)).toMatchObject({ code: "LEASE_LOST" });
    await zk.sync();
    expect(await b.exists("/late")).toBeNull();
    await next?.release();
  });
});

test.each([
  ["/", false],
  [PATH, false],
  [`${PATH}/locks`, false],
  [`${PATH}/locks/deep`, false],
  ["/queues", true],
  [`${PATH}-locks`, true],
  [`${PATH}2/locks`, true],
  ["/queues/locks", true],
])("claims at %s are taken: %s", (lockPath, isTaken) => {
  const make = () => new DistributedQueue(a, PATH, { codec: text, lockPath });
  if (isTaken) expect(make).not.toThrow();
  else expect(make).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});

test("items with an id can be removed", async () => {
  const mine = stage.kept(new IdQueue(a, PATH, FAST));
  await mine.put("one", "x_1");
  await mine.put("two", "y");
  await mine.put("three", "x_1");
  expect(await tree(a, PATH)).toEqual(["queue-|x_1|0000000000", "queue-|y|0000000001", "queue-|x_1|0000000002"]);
  expect([await mine.remove("x_1"), await mine.remove("z")]).toEqual([2, 0]);
  const given = new Given();
  mine.consume(given.work);
  expect(await given.count(1)).toEqual(["two"]);
});

test("the lowest priority comes first, also of later items, and is kept when work fails", async () => {
  const mine = stage.kept(new PriorityQueue(a, PATH, SAFE));
  for (const [item, priority] of [
    ["five", 5],
    ["minus", -5],
    ["zero", 0],
  ] as const)
    await mine.put(item, priority);
  const given = new Given();
  const first = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  let failures = 1;
  const consumer = mine.consume(async (item, context) => {
    if (item === "zero" && failures-- > 0) {
      first.resolve();
      await late.promise;
      throw new Error("not now");
    }
    return given.work(item, context);
  });
  await first.promise;
  await mine.put("three", 3);
  late.resolve();
  expect(await given.count(4)).toEqual(["minus", "zero", "three", "five"]);
  await consumer.close();
});

test("items become available at their time", async () => {
  const mine = stage.kept(new DelayQueue(a, PATH, FAST));
  const nowMs = Date.now();
  await mine.put("never", nowMs + 1_000_000);
  await mine.put("second", nowMs + 150);
  await mine.put("third", nowMs + 150);
  await mine.put("first", nowMs - 10);
  const given = new Given();
  mine.consume(given.work);
  expect(await given.count(3)).toEqual(["first", "second", "third"]);
  expect(Date.now()).toBeGreaterThanOrEqual(nowMs + 150);
  expect(await mine.size()).toBe(1);
});

test("consumers end with their client", async () => {
  const zk = await stage.client();
  const consumer = queue(zk, SAFE).consume(() => {});
  await zk.sync();
  await zk.close();
  await consumer.finished();
});

describe("a queue that locks its items", () => {
  test("gives each to one, by priority, until it is consumed or released", async () => {
    const [mine, theirs] = [new LockingQueue(a, PATH), new LockingQueue(b, PATH)];
    await mine.put("second");
    await mine.put("first", { priority: 7 });
    expect((await a.children(`${PATH}/entries`)).names.toSorted()).toEqual([
      "entry-007-0000000001",
      "entry-100-0000000000",
    ]);
    const first = await theirs.take();
    expect(Buffer.from(first.data).toString()).toBe("first");
    expect((await a.get(`${PATH}/taken/entry-007-0000000001`)).data).toHaveLength(32);
    const second = await mine.take();
    expect(isRecipeError(await failure(mine.take({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
    const again = mine.take();
    await first.release();
    expect(Buffer.from((await again).data).toString()).toBe("first");
    expect(await mine.size()).toBe(2);
    await (await again).consume();
    await second.consume();
    expect(await tree(a, PATH)).toEqual(["entries", "taken"]);
    expect([a.watchCount, b.watchCount]).toEqual([0, 0]);
    await expect(mine.put("x", { priority: 1000 })).rejects.toThrow(RangeError);
  });

  test("passes over other children of its entries, also one of an overflown number", async () => {
    const mine = new LockingQueue(a, PATH);
    await mine.put("item");
    const others = ["0", "-x", "entry-note", "entry-100-x", "other--2147483648", "queue-0000000000"];
    for (const name of others) await a.create(`${PATH}/entries/${name}`);
    expect(await mine.size()).toBe(1);
    await (await mine.take()).consume();
    expect(await mine.size()).toBe(0);
    expect((await a.children(`${PATH}/entries`)).names.toSorted()).toEqual(others.toSorted());
  });

  test("with hundreds of items is not listed for each take, and gives each item to one of several clients", async () => {
    let listCount = 0;
    const counting = a.with({
      intercept: (call, next) => {
        if (call.op === "children") listCount++;
        return next();
      },
    });
    const [mine, theirs] = [new LockingQueue(counting, PATH), new LockingQueue(b, PATH)];
    await Promise.all(Array.from({ length: 400 }, (_, i) => mine.put(String(i))));
    const taken: string[] = [];
    const drain = async (queue: LockingQueue, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const item = await queue.take();
        taken.push(Buffer.from(item.data).toString());
        await item.consume();
      }
    };
    await drain(mine, 60);
    expect(listCount).toBeLessThan(2 * 60);
    expect(taken).toEqual(Array.from({ length: 60 }, (_, i) => String(i)));
    await Promise.all([drain(mine, 170), drain(theirs, 170)]);
    expect(new Set(taken).size).toBe(400);
    expect(await mine.size()).toBe(0);
    expect([a.watchCount, b.watchCount]).toEqual([0, 0]);
  });

  test("takes what it has put itself with a higher priority next, also out of hundreds of items", async () => {
    const mine = new LockingQueue(a, PATH);
    await Promise.all(Array.from({ length: 300 }, () => mine.put("ordinary")));
    await (await mine.take()).consume();
    await mine.put("urgent", { priority: 1 });
    expect(Buffer.from((await mine.take()).data).toString()).toBe("urgent");
  });

  test("gives the item of an ended session to another client, and does not let it be consumed twice", async () => {
    const { zk, relay } = await stage.relayed();
    await new LockingQueue(a, PATH).put("one");
    const lost = await new LockingQueue(zk, PATH, { onSuspended: "keep" }).take();
    const waiting = new LockingQueue(b, PATH).take();
    relay.refuse();
    relay.cut();
    const consuming = failure(lost.consume());
    await stage.expire(zk);
    const item = await waiting;
    relay.accept();
    expect(isRecipeError(await consuming, "LEASE_LOST")).toBe(true);
    expect(item.lease.isValid()).toBe(true);
    expect(await a.exists(item.lease.path)).not.toBeNull();
    await item.consume();
  });
});

test("a claim whose answer was lost is found again, and kept once", async () => {
  const { zk, relay } = await stage.relayed();
  await a.create(`${PATH}/one`, "1", { parents: "container" });
  await a.create(LOCKS, "", { mode: "container" });
  const claims = new Claims(zk, LOCKS);
  relay.freeze("answers");
  const claiming = claims.claim(`${PATH}/one`);
  await count(a, LOCKS, 1);
  relay.cut();
  relay.thaw();
  const claimed = await claiming;
  expect(await claims.claim(`${PATH}/one`)).toBeNull();
  expect(await new Claims(zk, LOCKS).claim(`${PATH}/one`)).toBeNull();
  expect(await claimed?.finish()).toBe(true);
  expect([await tree(a, PATH), await tree(a, LOCKS)]).toEqual([[], []]);
});

test.each([
  { when: "while there is no connection", isSent: false },
  { when: "and does not arrive", isSent: true },
])("the finish of a claim that is asked for $when is not sent by a later session", async ({ isSent }) => {
  const { zk, relay } = await stage.relayed();
  await a.create(`${PATH}/one`, "1", { parents: "container" });
  const claimed = await new Claims(zk, LOCKS, { onSuspended: "keep" }).claim(`${PATH}/one`);
  let finishing = isSent ? lostFinish(claimed, relay) : undefined;
  relay.refuse();
  relay.cut();
  relay.thaw();
  await enters(zk, "suspended");
  finishing ??= claimed?.finish();
  await stage.expire(zk);
  const theirs = await new Claims(b, LOCKS).claim(`${PATH}/one`);
  const { sessionId } = zk;
  relay.accept();
  expect(await finishing).toBe(false);
  await zk.connected();
  expect(zk.sessionId).not.toBe(sessionId);
  // What the new session has sent is answered before this.
  await zk.sync();
  expect([await tree(a, PATH), await tree(a, LOCKS)]).toEqual([["one"], ["one"]]);
  expect(await theirs?.finish()).toBe(true);
});

/** A finish of which the server reads nothing. */
function lostFinish(claimed: ClaimedItem | null, relay: Relay): Promise<boolean> | undefined {
  relay.freeze("requests");
  return claimed?.finish();
}

test("items put by Curator are read, also several in one node", async () => {
  const data = encodeItems(["m0", "m1"].map((item) => Buffer.from(item)));
  await a.create(`${PATH}/queue-`, data, { mode: "persistent-sequential", parents: "container" });
  const given = new Given();
  queue(b, SAFE).consume(given.work);
  expect(await given.count(2)).toEqual(["m0", "m1"]);
});

test("a path of claims belongs to one queue of a client while that has consumers", async () => {
  const options = { codec: text, lockPath: "/queues/shared-locks" };
  const one = stage.kept(new DistributedQueue(a, "/queues/one", options));
  const two = stage.kept(new DistributedQueue(a, "/queues/two", options));
  const consumers = [one.consume(() => {}), one.consume(() => {})];
  expect(() => two.consume(() => {})).toThrow(/found "\/queues\/shared-locks", which \/queues\/one has/);
  for (const consumer of consumers) await consumer.close();
  two.consume(() => {});
});

const PLAIN = { codec: text, lockPath: "/queues/locks" };
const PUTS: Readonly<Record<string, (zk: Client) => readonly [WorkQueue<string>, (item: string) => Promise<void>]>> = {
  "a plain queue": (zk) => {
    const queue = new DistributedQueue(zk, PATH, PLAIN);
    return [queue, (item) => queue.put(item)];
  },
  "a queue by id": (zk) => {
    const queue = new IdQueue(zk, PATH, PLAIN);
    return [queue, (item) => queue.put(item, "id")];
  },
  "a queue by priority": (zk) => {
    const queue = new PriorityQueue(zk, PATH, PLAIN);
    return [queue, (item) => queue.put(item, 1)];
  },
  "a queue by time": (zk) => {
    const queue = new DelayQueue(zk, PATH, PLAIN);
    return [queue, (item) => queue.put(item, 0)];
  },
};

test.each(Object.entries(PUTS))("%s is worked on by a client with one request at a time", async (_, make) => {
  const [queue, put] = make(await stage.client({ inFlightMax: 1, waitingMax: 1 }));
  stage.kept(queue);
  for (const item of ["one", "two", "three"]) await put(item);
  const done: string[] = [];
  const isDone = Promise.withResolvers<void>();
  queue.consume((item) => {
    if (done.push(item) === 3) isDone.resolve();
  });
  await isDone.promise;
  expect(done.toSorted()).toEqual(["one", "three", "two"]);
});
