import { hostname } from "node:os";
import type { Client } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { UnfairLock } from "./unfair-lock.ts";

const PATH = "/locks/u";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

test("one holds it under its id; all others are woken when it is released", async () => {
  const mine = await new UnfairLock(a, PATH, { id: "me" }).acquire();
  expect(await tree(a, PATH)).toEqual(["grants", "lock"]);
  expect(await new UnfairLock(b, PATH).holder()).toEqual({ id: "me", host: hostname(), pid: process.pid });
  expect(mine.token).toBe((await b.exists(mine.path))?.czxid);
  const others = Array.from({ length: 5 }, () => new UnfairLock(b, PATH).acquire());
  while (b.watchCount < 5) await b.sync();
  await mine.release();
  expect(mine.isValid()).toBe(false);
  const first = await Promise.race(others);
  expect(first.token).toBeGreaterThan(mine.token);
  await first.release();
  // Any of them may be the fastest; the rest gets its turn too.
  for (const lease of await Promise.all(
    others.map((each) => each.then((lease) => lease.release().then(() => lease))),
  )) {
    expect(lease.token).toBeGreaterThanOrEqual(first.token);
  }
});

test("it has one holder at a time", async () => {
  let held = 0;
  const work = Array.from({ length: 20 }, (_, i) => {
    const client = i % 2 === 0 ? a : b;
    return new UnfairLock(client, PATH, { spreadMs: i % 3 }).use(async () => {
      expect(++held).toBe(1);
      await client.sync();
      held--;
    });
  });
  await Promise.all(work);
  expect(await new UnfairLock(a, PATH).holder()).toBeNull();
  expect((await a.exists(`${PATH}/grants`))?.version).toBe(40);
  expect([a.watchCount, b.watchCount]).toEqual([0, 0]);
});

describe("trying", () => {
  test("leaves no node if it is held", async () => {
    const mine = await new UnfairLock(a, PATH).acquire();
    const { stat } = await a.children(PATH);
    expect(await new UnfairLock(b, PATH).tryAcquire()).toBeNull();
    expect(await failure(new UnfairLock(b, PATH).acquire({ timeoutMs: 20 }))).toMatchObject({ code: "LOCK_TIMEOUT" });
    expect((await a.children(PATH)).stat).toEqual(stat);
    expect(b.watchCount).toBe(0);
    await mine.release();
    expect((await new UnfairLock(b, PATH).tryAcquire())?.isValid()).toBe(true);
  });

  test("a grant for a cancelled call is released", async () => {
    const { zk, relay } = await stage.relayed();
    await (await new UnfairLock(a, PATH).acquire()).release();
    relay.freeze("answers");
    const error = failure(new UnfairLock(zk, PATH).acquire({ timeoutMs: 50 }));
    await count(b, PATH, 2);
    expect(isRecipeError(await error, "LOCK_TIMEOUT")).toBe(true);
    relay.thaw();
    await count(b, PATH, 1);
  });
});

describe("the connection", () => {
  test("that loses the answer leaves a known outcome", async () => {
    const { zk, relay } = await stage.relayed();
    await (await new UnfairLock(a, PATH).acquire()).release();
    relay.freeze("answers");
    const acquiring = new UnfairLock(zk, PATH).acquire();
    await count(b, PATH, 2);
    relay.cut();
    relay.thaw();
    const lease = await acquiring;
    expect(lease.token).toBe((await b.exists(lease.path))?.czxid);
    await b.create("/state");
    await lease.guard().set("/state", "mine").commit();
    await lease.release();
    await count(b, PATH, 1);
  });

  test("that is lost ends the grant, which is released", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new UnfairLock(zk, PATH).acquire();
    relay.refuse();
    relay.cut();
    await aborted(lease.signal);
    expect(lease.lostReason).toBe("suspended");
    const waiting = new UnfairLock(b, PATH).acquire();
    const released = lease.release();
    relay.accept();
    await Promise.all([released, waiting]);
  });
});

describe("the session", () => {
  test("releases the lock when it ends, and leaves another client's", async () => {
    const { zk, relay } = await stage.relayed();
    const lease = await new UnfairLock(zk, PATH, { onSuspended: "keep" }).acquire();
    const waiting = new UnfairLock(b, PATH).acquire();
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    const theirs = await waiting;
    const guarded = lease.guard().create("/late").commit();
    const released = lease.release();
    relay.accept();
    await expect(guarded).rejects.toMatchObject({ code: "BAD_VERSION" });
    await released;
    await zk.sync();
    expect([lease.isValid(), theirs.isValid()]).toEqual([false, true]);
    expect((await a.exists(theirs.path))?.czxid).toBe(theirs.token);
  });

  test("of a waiter: it waits in the next session", async () => {
    const { zk, relay } = await stage.relayed();
    const first = await new UnfairLock(b, PATH).acquire();
    const waiting = new UnfairLock(zk, PATH).acquire();
    while (zk.watchCount === 0) await zk.sync();
    await stage.expire(zk);
    relay.cut();
    await enters(zk, "lost");
    await first.release();
    const lease = await waiting;
    expect([lease.sessionId, lease.isValid()]).toEqual([zk.sessionId, true]);
  });
});

test("a node that another program made in its place is no grant, and its release leaves it", async () => {
  const lease = await new UnfairLock(a, PATH).acquire();
  await b.transaction().delete(lease.path).create(lease.path, "theirs").commit();
  await aborted(lease.signal);
  expect(lease.lostReason).toBe("deleted");
  await lease.release();
  expect(Buffer.from((await b.get(lease.path)).data ?? []).toString()).toBe("theirs");
});

test("a deleted lock is lost, and its release does not affect another holder", async () => {
  const lease = await new UnfairLock(a, PATH).acquire();
  await b.delete(lease.path);
  const theirs = await new UnfairLock(b, PATH).acquire();
  await aborted(lease.signal);
  expect(lease.lostReason).toBe("deleted");
  await lease.release();
  expect((await a.exists(theirs.path))?.czxid).toBe(theirs.token);
  expect(() => lease.assertValid()).toThrow(/released/);
});
