import type { Client } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { SharedCount } from "../counters/shared-value.ts";
import { revoke } from "../leases/hold.ts";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { Semaphore, SemaphoreMutex } from "./semaphore.ts";
import { inOrder } from "./sequence.ts";

const PATH = "/locks/s";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

test("the number of leases is limited, on Curator's nodes", async () => {
  const [mine, theirs] = [new Semaphore(a, PATH, { leases: 2 }), new Semaphore(b, PATH, { leases: 2 })];
  const first = await mine.acquire();
  await theirs.acquire();
  await count(a, `${PATH}/locks`, 0);
  expect(await tree(a, PATH)).toEqual([
    "leases",
    "leases/_c_UUID-lease-0000000000",
    "leases/_c_UUID-lease-0000000001",
    "locks",
  ]);
  expect(await theirs.tryAcquire()).toBeNull();
  const waiting = theirs.acquire();
  await count(a, `${PATH}/leases`, 3);
  await first.release();
  expect((await waiting).isValid()).toBe(true);
  expect(await mine.participants()).toHaveLength(2);
});

test("foreign children of its directories are no leases and no turns", async () => {
  for (const name of ["0", "note-0000000000"]) {
    await a.create(`${PATH}/leases/${name}`, "", { parents: "container" });
    await a.create(`${PATH}/locks/${name}`, "", { parents: "container" });
  }
  const mine = new Semaphore(a, PATH, { leases: 1 });
  const first = await mine.tryAcquire();
  expect([first?.isValid(), await mine.tryAcquire(), (await mine.participants()).length]).toEqual([true, null, 1]);
  const waiting = mine.acquire();
  await first?.release();
  expect((await waiting).isValid()).toBe(true);
});

test("several leases are granted together or none is", async () => {
  const semaphore = new Semaphore(a, PATH, { leases: 3 });
  const two = await semaphore.acquire({ count: 2 });
  expect(two.paths).toHaveLength(2);
  expect(await new Semaphore(b, PATH, { leases: 3 }).tryAcquire({ count: 2 })).toBeNull();
  const error = await failure(new Semaphore(b, PATH, { leases: 3 }).acquire({ count: 2, timeoutMs: 20 }));
  expect(isRecipeError(error, "LOCK_TIMEOUT")).toBe(true);
  await count(a, `${PATH}/leases`, 2);
  await count(a, `${PATH}/locks`, 0);
  await two.release();
  expect(await b.children(`${PATH}/leases`)).toMatchObject({ names: [] });
  await expect(semaphore.acquire({ count: 4 })).rejects.toThrow(/from 1 to 3, found 4/);
});

test("two callers that want more than is left do not block each other", async () => {
  const work = (zk: Client) =>
    Promise.all(
      Array.from({ length: 10 }, () => new Semaphore(zk, PATH, { leases: 3 }).use(() => zk.sync(), { count: 2 })),
    );
  await Promise.all([work(a), work(b)]);
  await count(a, `${PATH}/leases`, 0);
  await count(a, `${PATH}/locks`, 0);
});

test("there are never more holders than leases", async () => {
  let held = 0;
  let most = 0;
  const work = (zk: Client) =>
    Array.from({ length: 12 }, () =>
      new Semaphore(zk, PATH, { leases: 3 }).use(async () => {
        most = Math.max(most, ++held);
        // The first ones are in contention.
        while (most < 3) await zk.sync();
        await zk.sync();
        held--;
      }),
    );
  await Promise.all([...work(a), ...work(b)]);
  expect(most).toBe(3);
});

describe("with a number of leases that is shared", () => {
  const shared = (zk: Client) => new Semaphore(zk, PATH, { leases: new SharedCount(zk, "/limit", 1) });

  test("a larger number grants more leases at once, to waiters too", async () => {
    const first = await shared(a).acquire();
    expect(await shared(b).tryAcquire()).toBeNull();
    const waiting = shared(b).acquire({ count: 2 });
    await count(a, `${PATH}/leases`, 3);
    await new SharedCount(a, "/limit").set(2);
    expect(await shared(a).tryAcquire()).toBeNull();
    await new SharedCount(a, "/limit").set(3);
    expect((await waiting).isValid()).toBe(true);
    expect(first.isValid()).toBe(true);
  });

  test("a smaller number revokes none, and the next caller waits until enough were released", async () => {
    await new SharedCount(a, "/limit").set(2);
    const [one, other] = [await shared(a).acquire(), await shared(a).acquire()];
    await new SharedCount(a, "/limit").set(1);
    const waiting = shared(b).acquire();
    await count(a, `${PATH}/leases`, 3);
    await one.release();
    expect([other.isValid(), await shared(a).tryAcquire()]).toEqual([true, null]);
    await other.release();
    expect((await waiting).isValid()).toBe(true);
  });

  test("with 0 none is granted", async () => {
    await new SharedCount(a, "/limit").set(0);
    expect(await shared(a).tryAcquire()).toBeNull();
    const error = await failure(shared(b).acquire({ timeoutMs: 20 }));
    expect(isRecipeError(error, "LOCK_TIMEOUT")).toBe(true);
    await count(a, `${PATH}/locks`, 0);
    expect(b.watchCount).toBe(0);
  });
});

describe("when the session ends", () => {
  test("its leases are released, and waiters get them", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new Semaphore(zk, PATH, { leases: 1, onSuspended: "keep" }).acquire();
    const waiting = new Semaphore(b, PATH, { leases: 1 }).acquire();
    await count(b, `${PATH}/leases`, 2);
    await stage.expire(zk);
    relay.cut();
    await aborted(lease.signal);
    expect([lease.lostReason, lease.isValid()]).toEqual(["session-lost", false]);
    expect((await waiting).isValid()).toBe(true);
  });

  test("of a waiter, it waits in the next session", async () => {
    const { zk, relay } = await stage.relayed();
    const held = await new Semaphore(b, PATH, { leases: 1 }).acquire();
    const waiting = new Semaphore(zk, PATH, { leases: 1 }).acquire();
    await count(b, `${PATH}/leases`, 2);
    await stage.expire(zk);
    relay.cut();
    await enters(zk, "lost");
    await enters(zk, "connected");
    await held.release();
    const group = await waiting;
    expect(group.parts.map(({ sessionId }) => sessionId)).toEqual([zk.sessionId]);
    await count(b, `${PATH}/leases`, 1);
    await count(b, `${PATH}/locks`, 0);
  });
});

test("a semaphore mutex has one lease, which any holder may release", async () => {
  const mutex = new SemaphoreMutex(a, PATH);
  const lease = await mutex.acquire();
  expect(await mutex.tryAcquire()).toBeNull();
  const waiting = mutex.acquire();
  await count(b, `${PATH}/leases`, 2);
  await lease.release();
  const next = await waiting;
  expect(next.token).toBeGreaterThan(lease.token);
  await next.guard().create("/made-under-it").commit();
});

test.each([0, -1, 1.5])("%d leases are refused", (leases) => {
  expect(() => new Semaphore(a, PATH, { leases })).toThrow(/whole number of at least 1/);
});

test("another client may request a lease", async () => {
  const asked = Promise.withResolvers<string>();
  const semaphore = new Semaphore(a, PATH, { leases: 2, onRevoke: asked.resolve });
  const [lease] = (await semaphore.acquire()).parts;
  const path = lease?.path ?? "";
  expect((await b.get(path)).stat.dataLength).toBe(0);
  await revoke(b, path);
  expect(await asked.promise).toBe(path);
  expect(lease?.isValid()).toBe(true);
});

test("two holders of the mutex, after a foreign delete of its node, do not block each other", async () => {
  const [mine, theirs] = [new Semaphore(a, PATH, { leases: 1 }), new Semaphore(b, PATH, { leases: 1 })];
  const held = await mine.acquire();
  const waiting = [mine.acquire()];
  await count(b, `${PATH}/leases`, 2);
  waiting.push(theirs.acquire());
  const [turn] = inOrder(await count(b, `${PATH}/locks`, 2));
  await b.delete(`${PATH}/locks/${turn}`);
  const first = await Promise.race([...waiting, held.release().then(() => Promise.race(waiting))]);
  await first.release();
  await Promise.all(waiting.map(async (each) => (await each).release()));
  await count(a, `${PATH}/leases`, 0);
});
