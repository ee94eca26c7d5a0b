import { type Client, ZkError } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { revoke } from "../leases/hold.ts";
import type { Lease } from "../leases/lease.ts";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage } from "../testing/stage.ts";
import { Mutex } from "./mutex.ts";
import { inOrder } from "./sequence.ts";

const PATH = "/locks/m";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

test("one holds it, the next gets it when it is released", async () => {
  const mine = await new Mutex(a, PATH).acquire();
  expect(mine.path).toMatch(/^\/locks\/m\/_c_[0-9a-f-]{36}-lock-0000000000$/);
  expect(mine.token).toBe((await b.exists(mine.path))?.czxid);
  const waiting = new Mutex(b, PATH).acquire();
  await count(b, PATH, 2);
  await mine.release();
  const theirs = await waiting;
  expect(theirs.token).toBeGreaterThan(mine.token);
  expect([mine.isValid(), theirs.isValid()]).toEqual([false, true]);
  await theirs.release();
  expect((await a.children(PATH)).names).toEqual([]);
});

test("it is granted in order of arrival, one at a time", async () => {
  const order: number[] = [];
  let held = 0;
  const waiting: Promise<unknown>[] = [];
  const first = await new Mutex(a, PATH).acquire();
  for (let i = 0; i < 20; i++) {
    const client = i % 2 === 0 ? a : b;
    const work = async (): Promise<void> => {
      expect(++held).toBe(1);
      order.push(i);
      await client.sync();
      held--;
    };
    waiting.push(new Mutex(client, PATH).use(work));
    await count(a, PATH, i + 2);
  }
  await first.release();
  await Promise.all(waiting);
  expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect((await a.children(PATH)).names).toEqual([]);
});

test("a waiter watches only its predecessor, and leaves no watch behind", async () => {
  const first = await new Mutex(a, PATH).acquire();
  const watches = b.watchCount;
  const giveUp = new AbortController();
  const waiting = Array.from({ length: 3 }, () =>
    new Mutex(b, PATH).acquire({ signal: giveUp.signal }).catch(() => {}),
  );
  await count(a, PATH, 4);
  while (b.watchCount < watches + 3) await b.sync();
  expect(b.watchCount).toBe(watches + 3);
  giveUp.abort();
  await Promise.all(waiting);
  await count(a, PATH, 1);
  expect(b.watchCount).toBe(watches);
  await first.release();
});

test("a waiter whose predecessor gives up is not granted the lock by that", async () => {
  const first = await new Mutex(a, PATH).acquire();
  const giveUp = new AbortController();
  const second = failure(new Mutex(b, PATH).acquire({ signal: giveUp.signal }));
  await count(a, PATH, 2);
  let third: Lease | undefined;
  const waiting = new Mutex(b, PATH).acquire().then((lease) => {
    third = lease;
  });
  await count(a, PATH, 3);
  giveUp.abort();
  await second;
  await count(a, PATH, 2);
  await b.sync();
  expect(third).toBeUndefined();
  await first.release();
  await waiting;
  expect(third?.isValid()).toBe(true);
});

describe("trying", () => {
  test("leaves no node if there are other contenders", async () => {
    const first = await new Mutex(a, PATH).acquire();
    const { cversion } = (await a.children(PATH)).stat;
    expect(await new Mutex(b, PATH).tryAcquire()).toBeNull();
    expect((await a.children(PATH)).stat.cversion).toBe(cversion);
    await first.release();
    expect((await new Mutex(b, PATH).tryAcquire())?.isValid()).toBe(true);
  });

  test.each(["0", "-x", "config", "ready", "note-0000000000", "lock", "lock-1"])(
    "a foreign child of its path, %s, neither blocks nor is a participant",
    async (name) => {
      await a.create(`${PATH}/${name}`, "", { parents: "container" });
      const lease = await new Mutex(a, PATH).tryAcquire();
      expect(lease?.isValid()).toBe(true);
      expect(await new Mutex(b, PATH).tryAcquire()).toBeNull();
      expect(await new Mutex(b, PATH).participants()).toHaveLength(1);
      await lease?.release();
      await (await new Mutex(b, PATH).acquire()).release();
    },
  );

  test.each([2 ** 31, 60 * 24 * 60 * 60 * 1000, Number.POSITIVE_INFINITY])(
    "a waiter has %d ms where it asks for them",
    async (timeoutMs) => {
      const first = await new Mutex(a, PATH).acquire();
      const second = new Mutex(b, PATH).acquire({ timeoutMs });
      while ((await a.children(PATH)).names.length < 2) await a.sync();
      for (let i = 0; i < 4; i++) await b.sync();
      await first.release();
      expect((await second).isValid()).toBe(true);
    },
  );

  test("a waiter that times out leaves nothing behind", async () => {
    const first = await new Mutex(a, PATH).acquire();
    const error = await failure(new Mutex(b, PATH).acquire({ timeoutMs: 20 }));
    expect(isRecipeError(error, "LOCK_TIMEOUT") && error.name).toBe("TimeoutError");
    await count(a, PATH, 1);
    const reason = new Error("enough");
    expect(await failure(new Mutex(b, PATH).acquire({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    await first.release();
  });
});

describe("the same owner", () => {
  test("gets the lock again, and releases it with the last lease", async () => {
    const mutex = new Mutex(a, PATH);
    const first = await mutex.acquire({ owner: "me" });
    const second = await mutex.acquire({ owner: "me" });
    const third = second.reenter();
    expect((await b.children(PATH)).names).toHaveLength(1);
    await first.release();
    await first.release();
    await second.release();
    expect([first, second, third].map((lease) => lease.isValid())).toEqual([false, false, true]);
    expect((await b.children(PATH)).names).toHaveLength(1);
    await third.release();
    expect((await b.children(PATH)).names).toEqual([]);
    expect(() => third.reenter()).toThrow(/was released/);
  });

  test("is in the queue once, however many of its calls wait", async () => {
    const held = await new Mutex(b, PATH).acquire();
    const mutex = new Mutex(a, PATH);
    const giveUp = new AbortController();
    const first = failure(mutex.acquire({ owner: "me", signal: giveUp.signal }));
    const second = mutex.acquire({ owner: "me" });
    await count(b, PATH, 2);
    giveUp.abort(new Error("enough"));
    expect(await first).toEqual(new Error("enough"));
    await held.release();
    expect((await second).isValid()).toBe(true);
    await count(b, PATH, 1);
  });

  test("starts again when its lease is lost", async () => {
    const mutex = new Mutex(a, PATH);
    const first = await mutex.acquire({ owner: "me" });
    await b.delete(first.path);
    await aborted(first.signal);
    expect(first.lostReason).toBe("deleted");
    const second = await mutex.acquire({ owner: "me" });
    expect(second.path).not.toBe(first.path);
    expect([first.isValid(), second.isValid()]).toEqual([false, true]);
  });

  test("gets at once a lock that it holds", async () => {
    const mutex = new Mutex(a, PATH);
    const first = await mutex.acquire({ owner: "me" });
    const second = await mutex.tryAcquire({ owner: "me" });
    expect(await mutex.tryAcquire({ owner: "you" })).toBeNull();
    await first.release();
    expect(second?.isValid()).toBe(true);
    await second?.release();
    expect((await b.children(PATH)).names).toEqual([]);
    expect((await mutex.tryAcquire({ owner: "me" }))?.isValid()).toBe(true);
  });

  test("is distinct from other owners", async () => {
    const mutex = new Mutex(a, PATH);
    await mutex.acquire({ owner: "me" });
    expect(isRecipeError(await failure(mutex.acquire({ owner: "you", timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  });
});

describe("in the async context of its holder", () => {
  test("nested work gets the lock again, and no other work does", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const inner = async (): Promise<number> => {
      await a.sync();
      return mutex.use(async (lease) => {
        expect((await b.children(PATH)).names).toHaveLength(1);
        return lease.token;
      });
    };
    await mutex.use(async (lease) => {
      expect(await inner()).toBe(lease.token);
      const [again, tried] = [await mutex.acquire(), await mutex.tryAcquire()];
      expect([again.token, tried?.token]).toEqual([lease.token, lease.token]);
      await again.release();
      await tried?.release();
      expect(lease.isValid()).toBe(true);
    });
    expect((await b.children(PATH)).names).toEqual([]);
    const tokens = await Promise.all([inner(), inner()].map((own) => own.catch(() => -1)));
    expect(new Set([...tokens, -1]).size).toBe(2);
  });

  test("concurrent nested work runs one after the other", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const steps: string[] = [];
    const step = (name: string, below?: () => Promise<void>): Promise<void> =>
      mutex.use(async () => {
        steps.push(`${name} begins`);
        await a.sync();
        await below?.();
        steps.push(`${name} ends`);
      });
    await mutex.use(() => Promise.all([step("one", () => step("within")), step("two")]));
    expect(steps).toEqual(["one begins", "within begins", "within ends", "one ends", "two begins", "two ends"]);
  });

  test("nested work that waits for a sibling can be cancelled", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const order: string[] = [];
    await mutex.use(async () => {
      const gate = Promise.withResolvers<void>();
      const first = mutex.use(() => gate.promise);
      const error = await failure(mutex.use(() => order.push("never"), { timeoutMs: 20 }));
      expect(isRecipeError(error, "LOCK_TIMEOUT")).toBe(true);
      const third = mutex.use(() => order.push("third"));
      await a.sync();
      expect(order).toEqual([]);
      gate.resolve();
      await Promise.all([first, third]);
    });
    expect(order).toEqual(["third"]);
  });

  test("work that outlives its section enters the queue", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const ended = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    await mutex.use(() => {
      late = ended.promise.then(() => mutex.acquire({ timeoutMs: 20 }));
    });
    const held = await new Mutex(b, PATH).acquire();
    ended.resolve();
    expect(isRecipeError(await failure(late), "LOCK_TIMEOUT")).toBe(true);
    await held.release();
  });

  test("nested work that is not awaited keeps the lock", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const gate = Promise.withResolvers<void>();
    let inner: Promise<unknown> = Promise.resolve();
    const begun = Promise.withResolvers<Lease>();
    await mutex.use(async () => {
      inner = mutex.use((lease) => {
        begun.resolve(lease);
        return gate.promise;
      });
      await begun.promise;
    });
    expect((await begun.promise).isValid()).toBe(true);
    expect(await new Mutex(b, PATH).tryAcquire()).toBeNull();
    gate.resolve();
    await inner;
    expect((await b.children(PATH)).names).toEqual([]);
  });

  test("work whose lock is lost does not pass it on", async () => {
    const mutex = new Mutex(a, PATH, { reentrant: "async-context" });
    const used = mutex.use(async (lease) => {
      await b.delete(lease.path);
      await aborted(lease.signal);
      await mutex.use((again) => expect(again.token).toBeGreaterThan(lease.token));
    });
    expect(isRecipeError(await failure(used), "LEASE_LOST")).toBe(true);
    expect((await b.children(PATH)).names).toEqual([]);
  });
});

describe("the session", () => {
  test("releases the lock when it ends; the holder's signal aborts, and the next contender gets it", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new Mutex(zk, PATH, { onSuspended: "keep" }).acquire();
    const waiting = new Mutex(b, PATH).acquire();
    await count(b, PATH, 2);
    await stage.expire(zk);
    relay.cut();
    await aborted(lease.signal);
    expect(lease.lostReason).toBe("session-lost");
    expect(() => lease.assertValid()).toThrow(/session-lost/);
    expect((await waiting).isValid()).toBe(true);
    await lease.release();
  });

  test("of a waiter: it goes to the end of the queue", async () => {
    const { zk, relay } = await stage.relayed();
    const first = await new Mutex(b, PATH).acquire();
    const waiting = new Mutex(zk, PATH).acquire();
    const [, before] = inOrder(await count(b, PATH, 2));
    await stage.expire(zk);
    relay.cut();
    await enters(zk, "lost");
    await enters(zk, "connected");
    const after = await count(b, PATH, 2);
    expect(after).not.toContain(before);
    await first.release();
    const lease = await waiting;
    expect([lease.sessionId, lease.isValid()]).toEqual([zk.sessionId, true]);
  });

  test("a grant whose connection is lost is lost at once, and released", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new Mutex(zk, PATH).acquire();
    relay.refuse();
    relay.cut();
    await aborted(lease.signal);
    expect([lease.lostReason, lease.isValid()]).toEqual(["suspended", false]);
    const released = lease.release();
    relay.accept();
    await released;
    expect((await b.children(PATH)).names).toEqual([]);
  });

  test("a grant may outlive its connection, with onSuspended keep", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new Mutex(zk, PATH, { onSuspended: "keep" }).acquire();
    relay.cut();
    await enters(zk, "suspended");
    expect(lease.isValid()).toBe(true);
    await enters(zk, "connected");
    expect(lease.isValid()).toBe(true);
    await b.delete(lease.path);
    await aborted(lease.signal);
    expect(lease.lostReason).toBe("deleted");
  });

  test("a node of an ended session is not granted the lock", async () => {
    const { zk, relay } = await stage.relayed();
    const first = await new Mutex(b, PATH).acquire();
    const waiting = new Mutex(zk, PATH).acquire();
    const name = inOrder(await count(b, PATH, 2))[1] ?? "";
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    await count(b, PATH, 1);
    // As on a server that has not yet applied the session's end.
    const stale = await b.create(`${PATH}/${name}`, "", { mode: "ephemeral" });
    await first.release();
    relay.accept();
    const lease = await waiting;
    expect(lease.path).not.toBe(stale.path);
    expect((await b.exists(lease.path))?.ephemeralOwner).toBe(zk.sessionId);
  });

  test("a list that was read in an ended session grants nothing", async () => {
    const { zk, relay } = await stage.relayed();
    const first = await new Mutex(b, PATH).acquire();
    const waiting = new Mutex(zk, PATH).acquire();
    await count(b, PATH, 2);
    relay.freeze("answers");
    await first.release();
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    relay.thaw();
    relay.accept();
    const lease = await waiting;
    expect((await b.exists(lease.path))?.ephemeralOwner).toBe(zk.sessionId);
    expect((await b.children(PATH)).names).toHaveLength(1);
  });
});

describe("while it is held", () => {
  test("a transaction happens only if it is", async () => {
    await b.create("/state", "old");
    const lease = await new Mutex(a, PATH).acquire();
    await lease.guard().set("/state", "new").commit();
    await b.delete(lease.path);
    await expect(lease.guard().set("/state", "late").commit()).rejects.toMatchObject({
      code: "NO_NODE",
      failedIndex: 0,
    });
    expect(Buffer.from((await b.get("/state")).data ?? []).toString()).toBe("new");
  });

  test("another client may request a release, as Curator's Revoker does", async () => {
    const asked = Promise.withResolvers<string>();
    const lease = await new Mutex(a, PATH, { onRevoke: asked.resolve }).acquire();
    expect((await b.get(lease.path)).stat.dataLength).toBe(0);
    await b.set(lease.path, "something else");
    await revoke(b, lease.path);
    expect(await asked.promise).toBe(lease.path);
    expect(lease.isValid()).toBe(true);
  });

  test("work under a lock that is lost has failed", async () => {
    const used = new Mutex(a, PATH).use(async (lease) => {
      await b.delete(lease.path);
      await aborted(lease.signal);
    });
    expect(isRecipeError(await failure(used), "LEASE_LOST")).toBe(true);
  });
});

test("contenders are listed in order, with their data", async () => {
  const first = await new Mutex(a, PATH, { data: "first" }).acquire();
  const waiting = new Mutex(b, PATH, { data: "second" }).acquire();
  await count(a, PATH, 2);
  const participants = await new Mutex(b, PATH).participants();
  expect(participants[0]?.path).toBe(first.path);
  expect(participants.map(({ data }) => String(data === null ? null : Buffer.from(data)))).toEqual(["first", "second"]);
  await first.release();
  await waiting;
});

test("a queue with overflown numbers is refused", async () => {
  await a.create(`${PATH}/_c_a4b60a39-f3c3-41f4-a45e-9f55dd36402d-lock--2147483648`, "", { parents: "container" });
  expect(isRecipeError(await failure(new Mutex(b, PATH).acquire()), "SEQUENCE_OVERFLOW")).toBe(true);
  await count(a, PATH, 1);
});

test.each([
  ["curator", /^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-\d{10}$/],
  ["kazoo", /^[0-9a-f]{32}__lock__\d{10}$/],
  ["zookeeper-recipes", /^x--?\d+-[0-9a-f]{32}-\d{10}$/],
] as const)("nodes can be read as those of %s, and all wait for all", async (dialect, name) => {
  const { zk, relay } = await stage.relayed();
  const order: string[] = [];
  const first = await new Mutex(b, PATH).acquire();
  relay.freeze("answers");
  const mutex = new Mutex(zk, PATH, { dialect });
  const waiting = mutex.use((lease) => {
    order.push(dialect);
    expect(lease.path.slice(PATH.length + 1)).toMatch(name);
  });
  await count(b, PATH, 2);
  relay.cut();
  relay.thaw();
  const third = new Mutex(a, PATH).use(() => order.push("third"));
  // A node whose answer was lost was found, and not created twice.
  await count(b, PATH, 3);
  await first.release();
  await Promise.all([waiting, third]);
  expect(order).toEqual([dialect, "third"]);
  await count(b, PATH, 0);
});

test("earlier contenders are waited for, of any client library", async () => {
  const go = await a.create(`${PATH}/_c_a4b60a39f3c341f4a45e9f55dd36402d-lock-`, "", {
    mode: "ephemeral-sequential",
    parents: "container",
  });
  const kazoo = await a.create(`${PATH}/ffffffffffffffffffffffffffffffff__lock__`, "", {
    mode: "ephemeral-sequential",
  });
  const mutex = new Mutex(b, PATH);
  expect(await mutex.tryAcquire()).toBeNull();
  const waiting = mutex.acquire();
  await count(a, PATH, 3);
  await a.delete(go.path);
  expect(isRecipeError(await failure(mutex.acquire({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  await a.delete(kazoo.path);
  expect((await waiting).isValid()).toBe(true);
});

test("a read of the own node that is refused for now is repeated: the node's deletion is noticed", async () => {
  let refusedCount = 0;
  const zk = a.with({
    intercept: (call, next) => {
      if (call.op !== "get" || refusedCount > 0) return next();
      refusedCount++;
      return Promise.reject(new ZkError({ code: "THROTTLED_OP", op: "get", path: call.path, outcome: "rejected" }));
    },
  });
  const lease = await new Mutex(zk, PATH).acquire();
  expect(refusedCount).toBe(1);
  await b.delete(lease.path);
  await aborted(lease.signal);
  expect(lease.isValid()).toBe(false);
});
