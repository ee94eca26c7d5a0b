import type { Client } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { Mutex } from "../locks/mutex.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage } from "../testing/stage.ts";
import { Warnings } from "../testing/warnings.ts";
import { SetPartitioner, type SetPartitionerOptions, type ShareWork } from "./set-partitioner.ts";

const PATH = "/sets/shards";
const ITEMS = ["1", "2", "3", "4", "5"];

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

/** The member that works on each item; two on one item is the error. */
class AtWork {
  readonly #who = new Map<string, string>();
  clashes = 0;

  work(id: string): ShareWork {
    return async (share, signal) => {
      for (const item of share) {
        if (this.#who.has(item)) this.clashes++;
        this.#who.set(item, id);
      }
      await aborted(signal);
      for (const item of share) this.#who.delete(item);
    };
  }
}

function partitioner(
  zk: Client,
  id: string,
  { work = new AtWork().work(id), ...options }: SetPartitionerOptions & { readonly work?: ShareWork } = {},
): SetPartitioner {
  const made = new SetPartitioner(zk, PATH, { items: ITEMS, id, quietMs: 20, work, ...options });
  return stage.kept(made);
}

async function has(one: SetPartitioner, ...share: readonly string[]): Promise<void> {
  await firstValueFrom(one.share$.pipe(filter((now) => now.join() === share.join())));
}

test("the first member has all items at once, and a later one waits until the members are unchanged", async () => {
  const first = partitioner(a, "a", { quietMs: Number.POSITIVE_INFINITY });
  await has(first, ...ITEMS);
  const second = partitioner(b, "b", { quietMs: 60 * 24 * 60 * 60 * 1000 });
  await has(first);
  for (let i = 0; i < 4; i++) await b.sync();
  expect(await firstValueFrom(second.share$)).toEqual([]);
});

test("a member has all items, then half, then all again, and no item has two members", async () => {
  const atWork = new AtWork();
  const first = partitioner(a, "a", { work: atWork.work("a") });
  await has(first, ...ITEMS);
  const second = partitioner(b, "b", { work: atWork.work("b") });
  await Promise.all([has(first, "1", "3", "5"), has(second, "2", "4")]);
  expect((await a.children(`${PATH}/locks`)).names.sort()).toEqual(ITEMS);
  const { names } = await a.children(`${PATH}/party`);
  expect(names.map((name) => name.replace(/^[0-9a-f]{32}-/, "")).sort()).toEqual(["a", "b"]);
  await first.close();
  await first.close();
  await has(second, ...ITEMS);
  expect(atWork.clashes).toBe(0);
});

test("a member whose work continues is waited for", async () => {
  const done = Promise.withResolvers<void>();
  const first = partitioner(a, "a", { work: () => done.promise });
  await has(first, ...ITEMS);
  const second = partitioner(b, "b");
  const line$ = a.watchChildren$(`${PATH}/locks/2`);
  await firstValueFrom(line$.pipe(filter((names) => names?.length === 2)));
  let share: readonly string[] = [];
  second.share$.subscribe((now) => {
    share = now;
  });
  await a.sync();
  expect(share).toEqual([]);
  done.resolve();
  await has(second, "2", "4");
  await has(first, "1", "3", "5");
});

test("a member's share is empty before the first of its locks is released", async () => {
  const first = partitioner(a, "a");
  await has(first, ...ITEMS);
  const locks: Promise<number>[] = [];
  first.share$.subscribe((share) => {
    if (share.length > 0 || locks.length > 0) return;
    // The server carries these out before the releases, which are sent behind them.
    for (const item of ITEMS) locks.push(a.children(`${PATH}/locks/${item}`).then(({ names }) => names.length));
  });
  const second = partitioner(b, "b");
  await has(second, "2", "4");
  expect(Math.min(...(await Promise.all(locks)))).toBeGreaterThan(0);
  expect(locks).toHaveLength(ITEMS.length);
});

test("a share is lost with the session, and acquired again in the next", async () => {
  const { zk, relay } = await stage.relayed();
  const atWork = new AtWork();
  const first = partitioner(zk, "a", { work: atWork.work("a") });
  const second = partitioner(b, "b", { work: atWork.work("b") });
  await Promise.all([has(first, "1", "3", "5"), has(second, "2", "4")]);
  relay.refuse();
  relay.cut();
  await has(first);
  await stage.expire(zk);
  await has(second, ...ITEMS);
  relay.accept();
  await Promise.all([has(first, "1", "3", "5"), has(second, "2", "4")]);
  expect(atWork.clashes).toBe(0);
});

test("work does not begin with a share of which a lock was lost", async () => {
  const { zk, relay } = await stage.relayed();
  const held = await new Mutex(b, `${PATH}/locks/2`, { dialect: "kazoo" }).acquire();
  const begun: boolean[] = [];
  const work: ShareWork = (_, signal) => {
    begun.push(signal.aborted);
    return aborted(signal);
  };
  const first = partitioner(zk, "a", { work });
  await count(b, `${PATH}/locks/1`, 1);
  await count(b, `${PATH}/locks/2`, 2);
  relay.cut();
  await enters(zk, "suspended");
  await enters(zk, "connected");
  await held.release();
  await has(first, ...ITEMS);
  await first.close();
  expect(begun).toEqual([false]);
});

test("work does not begin with a share whose subscriber closes it", async () => {
  let count = 0;
  const first = partitioner(a, "a", { work: () => count++ });
  const shares: (readonly string[])[] = [];
  const ended = Promise.withResolvers<void>();
  first.share$.subscribe({
    next: (share) => {
      shares.push(share);
      if (share.length > 0) first.close().then(ended.resolve, ended.reject);
    },
  });
  await ended.promise;
  expect(count).toBe(0);
  expect(shares).toEqual([[], ITEMS, []]);
});

test("it may be divided by another function, and an error of the work ends it", async () => {
  const divide = (id: string, members: readonly string[], items: readonly string[]): readonly string[] =>
    [...members].sort()[0] === id ? items : [];
  const first = partitioner(a, "a", { divide });
  const second = partitioner(b, "b", {
    divide,
    work: () => {
      throw new Error("no such work");
    },
  });
  expect(await failure(firstValueFrom(second.share$.pipe(filter((now) => now.length > 9))))).toMatchObject({
    message: "no such work",
  });
  await has(first, ...ITEMS);
  expect((await a.children(`${PATH}/party`)).names).toHaveLength(1);
});

test("a function that leaves items without a member ends it, in words", async () => {
  const first = partitioner(a, "a", { divide: () => ["1"] });
  const ended = failure(firstValueFrom(first.share$.pipe(filter((now) => now.length > 0))));
  expect(await ended).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining('divide gives each item to a member, found none for "2"'),
  });
});

test("two members without ids share the items, also of one client", async () => {
  const work = new AtWork().work("");
  const [first, second] = [1, 2].map(() =>
    stage.kept(new SetPartitioner(a, PATH, { items: ["1", "2"], quietMs: 20, work })),
  ) as [SetPartitioner, SetPartitioner];
  const one = (share: readonly string[]): boolean => share.length === 1;
  const shares = await Promise.all([first, second].map(({ share$ }) => firstValueFrom(share$.pipe(filter(one)))));
  expect(shares.flat().sort()).toEqual(["1", "2"]);
});

test("a client with one request at a time comes to its share", async () => {
  const zk = await stage.client({ inFlightMax: 1, waitingMax: 1 });
  await has(partitioner(zk, "a", { quietMs: 0 }), ...ITEMS);
});

test("a second member of an id waits with a warning, fails if it is to, and follows the first one", async () => {
  const warnings = new Warnings();
  const zk = await stage.client({ logger: warnings.logger });
  const first = partitioner(a, "a");
  await has(first, ...ITEMS);
  const second = partitioner(zk, "a");
  expect(await warnings.first).toMatch(/set \/sets\/shards has the id a, and is waited for/);
  const third = partitioner(b, "a", { whenTaken: "fail" });
  expect(await failure(firstValueFrom(third.share$.pipe(filter(({ length }) => length > 0))))).toMatchObject({
    code: "NAME_TAKEN",
  });
  expect((await a.children(`${PATH}/party`)).names).toHaveLength(1);
  await first.close();
  await has(second, ...ITEMS);
  expect(warnings.codes).toEqual([["ZOOID_NAME_TAKEN", undefined]]);
});

test("of two members of an id that begin at one moment, one remains, and the other follows it", async () => {
  const both = [partitioner(a, "a"), partitioner(b, "a")] as const;
  const all = ({ share$ }: SetPartitioner): Promise<unknown> =>
    firstValueFrom(share$.pipe(filter(({ length }) => length === ITEMS.length)));
  const [first, second] = await Promise.race([
    all(both[0]).then(() => both),
    all(both[1]).then(() => both.toReversed()),
  ]);
  await count(a, `${PATH}/party`, 1);
  await first?.close();
  await all(second as SetPartitioner);
});

test("a member that comes back with a new session leaves its id to the one that has taken it", async () => {
  const warnings = new Warnings();
  const { zk, relay } = await stage.relayed({ logger: warnings.logger });
  const first = partitioner(zk, "a");
  await has(first, ...ITEMS);
  const second = partitioner(await stage.client({ logger: new Warnings().logger }), "a");
  relay.refuse();
  relay.cut();
  await has(first);
  await stage.expire(zk);
  await has(second, ...ITEMS);
  relay.accept();
  await warnings.coded("ZOOID_NAME_TAKEN");
  await count(b, `${PATH}/party`, 1);
  await has(second, ...ITEMS);
  await second.close();
  await has(first, ...ITEMS);
});
