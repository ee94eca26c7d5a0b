import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, failure } from "../testing/stage.ts";
import { MultiLock } from "./multi-lock.ts";
import { Mutex } from "./mutex.ts";
import { Semaphore } from "./semaphore.ts";

let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ a, b } = staged);
});

const both = (zk: Client): MultiLock => new MultiLock(zk, [new Mutex(zk, "/locks/2"), new Mutex(zk, "/locks/1")]);

test("all are acquired in the order of their paths, and released together", async () => {
  const locks = await both(a).acquire();
  expect(locks.paths.map((path) => path.slice(0, "/locks/1".length))).toEqual(["/locks/1", "/locks/2"]);
  expect(await both(b).tryAcquire()).toBeNull();
  expect(await new Mutex(b, "/locks/2").tryAcquire()).toBeNull();
  const waiting = both(b).acquire();
  await count(a, "/locks/1", 2);
  await locks.guard().create("/made-under-both").commit();
  await locks.release();
  const next = await waiting;
  expect([locks.isValid(), next.isValid()]).toEqual([false, true]);
});

test("two clients of the same locks do not block each other, in any order of the locks", async () => {
  const work = Array.from({ length: 10 }, (_, i) => {
    const zk = i % 2 === 0 ? a : b;
    const locks = [new Mutex(zk, "/locks/1"), new Mutex(zk, "/locks/2")];
    return new MultiLock(zk, i % 3 === 0 ? locks : locks.reverse()).use(() => zk.sync());
  });
  await Promise.all(work);
  await Promise.all([count(a, "/locks/1", 0), count(a, "/locks/2", 0)]);
});

test("acquired locks are released when the rest is not available", async () => {
  const held = await new Mutex(a, "/locks/2").acquire();
  expect(isRecipeError(await failure(both(b).acquire({ timeoutMs: 50 })), "LOCK_TIMEOUT")).toBe(true);
  expect(await both(b).tryAcquire()).toBeNull();
  await count(a, "/locks/1", 0);
  await count(a, "/locks/2", 1);
  await held.release();
});

test("locks are the same by their nodes, whatever the namespaces of their clients", async () => {
  const [one, two] = [a.namespace("/one"), a.namespace("/two")];
  for (const root of ["/one", "/two"]) await a.create(root);
  expect(() => new MultiLock(a, [new Mutex(one, "/x"), new Mutex(a, "/one/x")])).toThrow("/one/x is the path of two");
  const inner = new MultiLock(a, [new Mutex(one, "/x")]);
  expect(() => new MultiLock(a, [inner, new Mutex(a, "/one/x")])).toThrow("/one/x is the path of two");
  const order: string[] = [];
  const noting = (lock: Mutex, place: string): Mutex => {
    const { acquire } = lock;
    lock.acquire = (options) => {
      order.push(place);
      return acquire.call(lock, options);
    };
    return lock;
  };
  const locks = [noting(new Mutex(two, "/a"), "/two/a"), noting(new Mutex(one, "/z"), "/one/z")];
  await using both = await new MultiLock(a, locks).acquire();
  expect(both.isValid()).toBe(true);
  expect(order).toEqual(["/one/z", "/two/a"]);
  await using same = await new MultiLock(a, [new Mutex(one, "/x"), new Mutex(two, "/x")]).acquire();
  expect(same.isValid()).toBe(true);
});

test("it is lost when one of its locks is", async () => {
  const locks = await new MultiLock(a, [
    new Mutex(a, "/locks/1"),
    new Semaphore(a, "/locks/s", { leases: 2 }),
  ]).acquire();
  await b.delete(locks.paths[1] ?? "");
  await aborted(locks.signal);
  expect([locks.lostReason, locks.isValid()]).toEqual(["deleted", false]);
  await expect(locks.guard().create("/late").commit()).rejects.toMatchObject({ code: "NO_NODE", failedIndex: 1 });
  await locks.release();
  await count(b, "/locks/1", 0);
});
