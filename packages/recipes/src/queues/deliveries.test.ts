import { type Client, type Transaction, text } from "@zooid/client";
import { beforeEach, describe, expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { count, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { Claims } from "./claims.ts";
import type { ConsumeOptions, DeliveryBound } from "./consume-options.ts";
import { DelayQueue } from "./delay-queue.ts";
import { Deliveries } from "./deliveries.ts";
import { DistributedQueue } from "./distributed-queue.ts";
import { IdQueue } from "./id-queue.ts";
import { PriorityQueue } from "./priority-queue.ts";
import type { Work } from "./queue-consumer.ts";
import { encodeItems } from "./queue-item.ts";
import type { QueueOptions } from "./work-queue.ts";

const PATH = "/queues/q";
const LOCKS = "/queues/q-locks";
const COUNTERS = "/queues/q-deliveries";
const DEAD = "/queues/dead";
const SAFE: QueueOptions<string> = { codec: text, lockPath: LOCKS };
const FAST: QueueOptions<string> = { codec: text };
const BOUND: DeliveryBound = { deliveryCountMax: 3, afterLast: { moveTo: DEAD } };
const EACH: DeliveryBound = { ...BOUND, counted: "deliveries" };

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

/** Deliveries in order, as `item number`; "poison" fails. */
let given: string[];
let reported: string[];

beforeEach(() => {
  given = [];
  reported = [];
});

const work: Work<string> = (item, { delivery }) => {
  given.push(`${item} ${delivery}`);
  if (item === "poison") throw new Error("poisoned");
};

const onError = (error: unknown): unknown => reported.push((error as Error).message);

function queue(zk: Client, options: QueueOptions<string>): DistributedQueue<string> {
  return stage.kept(new DistributedQueue(zk, PATH, options));
}

/**
 * Puts an item whose first work fails with a consumer that then closes: it is in the queue, counted
 * once.
 */
async function failedOnce(options: QueueOptions<string>, bound: DeliveryBound = BOUND): Promise<string> {
  await queue(a, options).put("poison");
  const failed = Promise.withResolvers<void>();
  const consumer = queue(a, options).consume(work, { onFailure: bound, onError: () => failed.resolve() });
  await failed.promise;
  await consumer.close();
  const [name = ""] = (await a.children(PATH)).names;
  return name;
}

async function counter(name: string): Promise<string> {
  return Buffer.from((await a.get(`${COUNTERS}/delivered-${name}`)).data ?? []).toString();
}

describe.each<[string, QueueOptions<string>, DeliveryBound]>([
  ["failures, at least once", SAFE, BOUND],
  ["failures, at most once", FAST, BOUND],
  ["deliveries, at least once", SAFE, EACH],
])("a bound on %s", (_, options, bound) => {
  test("ends with the item moved or dropped, after the others and the maximum of deliveries", async () => {
    for (const item of ["poison", "one", "two"]) await queue(a, options).put(item);
    const consumer = queue(b, options).consume(work, { onFailure: bound, onError });
    await count(a, DEAD, 1);
    await consumer.close();
    expect(given).toEqual(["poison 1", "one 1", "two 1", "poison 2", "poison 3"]);
    expect(reported).toEqual(["poisoned", "poisoned", "poisoned"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
    expect(Buffer.from((await a.get(`${DEAD}/queue-0000000000`)).data ?? []).toString("hex")).toBe(
      "000100010100000006706f69736f6e02",
    );
    expect([a.watchCount, b.watchCount]).toEqual([0, 0]);
  });

  test("drops the item after the last delivery, if configured", async () => {
    for (const item of ["poison", "last"]) await queue(a, options).put(item);
    const dropped = Promise.withResolvers<void>();
    const consumer = queue(b, options).consume(work, {
      onFailure: { ...bound, afterLast: "drop" },
      onError: () => given.length === 4 && dropped.resolve(),
    });
    await dropped.promise;
    await consumer.close();
    expect(given).toEqual(["poison 1", "last 1", "poison 2", "poison 3"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });

  test("is continued from one consumer to the next, and deleted after a success", async () => {
    const name = await failedOnce(options, bound);
    expect(await tree(a, COUNTERS)).toEqual([`delivered-${name}`]);
    expect(await counter(name)).toBe("1");
    const delivered = Promise.withResolvers<number | undefined>();
    const consumer = queue(b, options).consume((_item, { delivery }) => delivered.resolve(delivery), {
      onFailure: bound,
    });
    const ended = delivered.promise.then(() => consumer.close());
    expect(await delivered.promise).toBe(2);
    // It does not check again, so the counter was deleted with the item.
    await ended;
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });

  test("deletes the counter of an item that was finished by a consumer that does not count", async () => {
    const name = await failedOnce(options, bound);
    // Before there is a counting consumer, and while there is one.
    await a.delete(`${PATH}/${name}`);
    queue(b, options).consume(work, { onFailure: bound });
    await count(a, COUNTERS, 0);
    await a.create(`${COUNTERS}/delivered-queue-0000000099`, "1", { parents: "container" });
    await queue(a, options).put("next");
    await count(a, COUNTERS, 0);
  });

  test("is not that of an earlier item of the same name", async () => {
    await a.create(`${COUNTERS}/delivered-queue-0000000000`, "3", { parents: "container" });
    await queue(a, options).put("good");
    expect(await tree(a, PATH)).toEqual(["queue-0000000000"]);
    queue(b, options).consume(work, { onFailure: bound, onError });
    await count(a, PATH, 0);
    await count(a, COUNTERS, 0);
    expect(given).toEqual(["good 1"]);
    expect(reported).toEqual([]);
  });

  test("leaves other nodes beside the queue alone", async () => {
    const theirs = stage.kept(new DistributedQueue(a, COUNTERS, options));
    for (const item of ["x", "y"]) await theirs.put(item);
    await queue(a, options).put("poison");
    const consumer = queue(b, options).consume(work, { onFailure: bound });
    await count(a, DEAD, 1);
    await consumer.close();
    expect(await tree(a, COUNTERS)).toEqual(["queue-0000000000", "queue-0000000001"]);
  });
});

test("without a limit nothing is counted", async () => {
  for (const [options, consuming] of [
    [SAFE, {}],
    [FAST, { onFailure: { moveTo: DEAD } }],
  ] as const) {
    const mine = queue(a, options);
    await mine.put("poison");
    await mine.put("last");
    let failures = 1;
    const consumer = mine.consume((item, context) => {
      given.push(`${item} ${context.delivery}`);
      if (failures-- > 0) throw new Error("once");
    }, consuming);
    await count(a, PATH, 0);
    await consumer.close();
  }
  expect(given).toEqual([
    "poison undefined",
    "last undefined",
    "poison undefined",
    "poison undefined",
    "last undefined",
  ]);
  expect(await a.exists(COUNTERS)).toBeNull();
});

test("a limit of one requeues nothing", async () => {
  await queue(a, SAFE).put("poison");
  queue(a, SAFE).consume(work, { onFailure: { ...BOUND, deliveryCountMax: 1 } });
  await count(b, DEAD, 1);
  expect(given).toEqual(["poison 1"]);
});

describe("a requeued item keeps", () => {
  const consuming: ConsumeOptions = { onFailure: BOUND };

  test("its priority", async () => {
    const mine = stage.kept(new PriorityQueue(a, PATH, SAFE));
    await mine.put("later", 5);
    await mine.put("poison", -5);
    mine.consume(work, consuming);
    await count(b, PATH, 0);
    expect(given).toEqual(["poison 1", "poison 2", "poison 3", "later 1"]);
  });

  test("its time", async () => {
    const mine = stage.kept(new DelayQueue(a, PATH, SAFE));
    await mine.put("later", 2_000);
    await mine.put("poison", 1_000);
    mine.consume(work, consuming);
    await count(b, PATH, 0);
    expect(given).toEqual(["poison 1", "poison 2", "poison 3", "later 1"]);
  });

  test("its id, by which it is removed together with its counter", async () => {
    const mine = stage.kept(new IdQueue(a, PATH, SAFE));
    await mine.put("poison", "x");
    const failed = Promise.withResolvers<void>();
    const again = Promise.withResolvers<void>();
    mine.consume(async (item, context) => {
      if (context.delivery === 1) return work(item, context);
      failed.resolve();
      await again.promise;
    }, consuming);
    await failed.promise;
    expect(await tree(b, COUNTERS)).toHaveLength(1);
    expect(await mine.remove("x")).toBe(1);
    again.resolve();
    await count(b, COUNTERS, 0);
  });
});

describe("when the session ends during work", () => {
  /**
   * A consumer on a session of its own, which ends while it works.
   *
   * @returns lets the work fail after that
   */
  async function lost(options: QueueOptions<string>, bound: DeliveryBound): Promise<() => void> {
    const { zk, relay } = await stage.relayed();
    const begun = Promise.withResolvers<void>();
    const { promise: ended, resolve: fail } = Promise.withResolvers<void>();
    const consumer = stage.kept(new DistributedQueue(zk, PATH, options)).consume(
      async (item, { delivery }) => {
        given.push(`${item} ${delivery}`);
        begun.resolve();
        await ended;
        throw new Error("too late");
      },
      { onFailure: bound },
    );
    await begun.promise;
    // An item that it has lost is free for others.
    if (options.lockPath !== undefined) consumer.close().catch(() => {});
    await stage.expire(zk);
    relay.cut();
    return fail;
  }

  test("the delivery counts with counted deliveries", async () => {
    await queue(a, SAFE).put("poison");
    const fail = await lost(SAFE, EACH);
    queue(b, SAFE).consume(work, { onFailure: EACH, onError });
    await count(a, DEAD, 1);
    fail();
    expect(given).toEqual(["poison 1", "poison 2", "poison 3"]);
    expect(reported).toEqual(["poisoned", "poisoned"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });

  test("it does not with counted failures, and a late failure has no effect", async () => {
    await queue(a, SAFE).put("poison");
    const fail = await lost(SAFE, BOUND);
    fail();
    queue(b, SAFE).consume(work, { onFailure: BOUND, onError });
    await count(a, DEAD, 1);
    expect(given).toEqual(["poison 1", "poison 1", "poison 2", "poison 3"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });

  test("an item whose last delivery ended so is not delivered again, and is reported", async () => {
    const last: DeliveryBound = { ...EACH, deliveryCountMax: 1 };
    await queue(a, SAFE).put("poison");
    const fail = await lost(SAFE, last);
    queue(b, SAFE).consume(work, { onFailure: last, onError });
    await count(a, DEAD, 1);
    fail();
    expect(given).toEqual(["poison 1"]);
    expect(reported).toEqual(["not delivered: deliveries so far 1, at most 1"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });

  test("an item that was out of the queue is continued by the next session", async () => {
    await queue(a, FAST).put("poison");
    const fail = await lost(FAST, { ...BOUND, deliveryCountMax: 2 });
    fail();
    await count(a, DEAD, 1);
    expect(given).toEqual(["poison 1", "poison 2"]);
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
  });
});

describe("the number of an item that is requeued", () => {
  test("ends with the session that has drawn it", async () => {
    const { zk, relay } = await stage.relayed();
    const name = await failedOnce(FAST);
    const item = await a.get(`${PATH}/${name}`);
    const delivery = await new Deliveries(zk, PATH).of(name, item.stat);
    using next = await delivery.drawNext("queue-");
    expect(await tree(a, PATH)).toHaveLength(2);
    await stage.expire(zk);
    relay.cut();
    const requeue = zk.transaction() as unknown as Transaction<undefined[]>;
    next.fill(requeue, Buffer.from("again"));
    expect(await failure(requeue.commit())).toMatchObject({ code: "NO_NODE" });
    expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[name], [`delivered-${name}`]]);
  });

  test("is released if it is not used", async () => {
    const name = await failedOnce(FAST);
    const item = await a.get(`${PATH}/${name}`);
    const delivery = await new Deliveries(a, PATH).of(name, item.stat);
    {
      using _ = await delivery.drawNext("queue-");
      await count(b, PATH, 2);
    }
    expect(await count(b, PATH, 1)).toEqual([name]);
  });

  test("is not visible as an item meanwhile", async () => {
    const delivery = await new Deliveries(a, PATH).of("queue-0000000000", (await a.get("/")).stat);
    using _ = await delivery.drawNext("queue-");
    await queue(a, FAST).put("good");
    expect(await queue(a, FAST).size()).toBe(1);
    const consumer = queue(b, FAST).consume(work, { onError });
    await count(a, PATH, 1);
    await consumer.close();
    expect([given, reported]).toEqual([["good undefined"], []]);
  });
});

test("an item that was out of the queue gets another number if its own was taken in between", async () => {
  await queue(a, FAST).put("poison");
  const consumer = queue(b, FAST).consume(
    async (item, context) => {
      // The first drew 0 and this creates two, so 2 is drawn next.
      if (given.length === 0) await a.create(`${PATH}/queue-0000000002`, encodeItems([Buffer.from("other")]));
      return work(item, context);
    },
    { onFailure: { ...BOUND, deliveryCountMax: 2 } },
  );
  await count(a, DEAD, 1);
  await consumer.close();
  expect(given).toEqual(["poison 1", "other 1", "poison 2"]);
});

test("the counter of an item that was created after the list stays", async () => {
  const name = await failedOnce(SAFE);
  await new Deliveries(a, PATH).sweep([], new AbortController().signal);
  expect(await tree(a, COUNTERS)).toEqual([`delivered-${name}`]);
});

test("a delivery whose count was not answered is counted once", async () => {
  const { zk, relay } = await stage.relayed();
  await queue(a, SAFE).put("one");
  const [name = ""] = await count(a, PATH, 1);
  await a.create(COUNTERS, "", { mode: "container" });
  const claimed = await new Claims(zk, LOCKS, { onSuspended: "keep" }).claim(`${PATH}/${name}`);
  if (claimed === null) throw new Error("not claimed");
  const delivery = await new Deliveries(zk, PATH).of(name, claimed.item.stat);
  relay.freeze("answers");
  const counting = delivery.begin(claimed.lease);
  await count(a, COUNTERS, 1);
  relay.cut();
  relay.thaw();
  expect(await counting).toBe(true);
  expect(await counter(name)).toBe("1");
  expect(await claimed.finish(delivery.forget)).toBe(true);
  expect([await tree(a, PATH), await tree(a, COUNTERS)]).toEqual([[], []]);
});

test("the count of a delivery is not sent by a later session", async () => {
  const { zk, relay } = await stage.relayed();
  await queue(a, SAFE).put("one");
  const [name = ""] = await count(a, PATH, 1);
  await a.create(COUNTERS, "", { mode: "container" });
  const claimed = await new Claims(zk, LOCKS, { onSuspended: "keep" }).claim(`${PATH}/${name}`);
  if (claimed === null) throw new Error("not claimed");
  const delivery = await new Deliveries(zk, PATH).of(name, claimed.item.stat);
  relay.refuse();
  relay.cut();
  await enters(zk, "suspended");
  const counting = failure(delivery.begin(claimed.lease));
  await stage.expire(zk);
  expect(await new Claims(b, LOCKS).claim(`${PATH}/${name}`)).not.toBeNull();
  relay.accept();
  expect(await counting).toMatchObject({ code: "LEASE_LOST" });
  await zk.sync();
  expect(await tree(a, COUNTERS)).toEqual([]);
});

test.each<[string, QueueOptions<string>, unknown, RegExp]>([
  [
    "no deliveries",
    SAFE,
    { ...BOUND, deliveryCountMax: 0 },
    /deliveryCountMax is a whole number from 1 to \d+, found 0/,
  ],
  ["half a delivery", SAFE, { ...BOUND, deliveryCountMax: 1.5 }, /from 1 to \d+, found 1.5/],
  ["a text", SAFE, { ...BOUND, deliveryCountMax: "3" }, /from 1 to \d+, found "3"/],
  ["no end", SAFE, { ...BOUND, deliveryCountMax: Number.POSITIVE_INFINITY }, /from 1 to \d+, found Infinity/],
  ["nothing after the last", SAFE, { deliveryCountMax: 3 }, /afterLast is "drop" or { moveTo }, found undefined/],
  ["a requeue after the last", SAFE, { ...BOUND, afterLast: "requeue" }, /afterLast .* found "requeue"/],
  [
    "a path that is none",
    SAFE,
    { ...BOUND, afterLast: { moveTo: "dead" } },
    /moveTo is an absolute path, found "dead"/,
  ],
  [
    "the queue itself",
    SAFE,
    { ...BOUND, afterLast: { moveTo: PATH } },
    /moveTo is a path outside of those of the queue and its claims, found/,
  ],
  ["another count", SAFE, { ...BOUND, counted: "deaths" }, /counted is "failures" or "deliveries", found "deaths"/],
  ["the claims of the queue", SAFE, { moveTo: LOCKS }, /moveTo is a path outside of those of the queue and its claims/],
  ["the queue itself at once", SAFE, { moveTo: PATH }, /moveTo is a path outside of those of the queue and its claims/],
  ["deliveries without a lockPath", FAST, EACH, /counted is "failures" where the queue has no lockPath/],
  ["another word", SAFE, "requeu", /onFailure is "requeue", "drop", .*, found "requeu"/],
  ["nothing known", SAFE, { moveto: DEAD }, /there is no option "moveto"; did you mean moveTo\?/],
])("an onFailure of %s is refused", (_, options, onFailure, message) => {
  const consume = (): unknown => queue(a, options).consume(work, { onFailure: onFailure as DeliveryBound });
  expect(consume).toThrow(RangeError);
  expect(consume).toThrow(message);
});
