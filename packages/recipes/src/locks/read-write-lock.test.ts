import type { Client } from "@zooid/client";
import { describe, expect, test } from "vitest";
import type { Lease } from "../leases/lease.ts";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { count, failure, type Stage, tree } from "../testing/stage.ts";
import { ReadWriteLock } from "./read-write-lock.ts";

const PATH = "/locks/rw";

let stage: Stage;
let a: Client;
let b: Client;
let mine: ReadWriteLock;
let theirs: ReadWriteLock;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
  [mine, theirs] = [new ReadWriteLock(a, PATH), new ReadWriteLock(b, PATH)];
});

/** The grants so far, by name. */
class Granted {
  readonly names: string[] = [];
  readonly leases = new Map<string, Lease>();

  async note(name: string, lease: Promise<Lease>): Promise<void> {
    this.leases.set(name, await lease);
    this.names.push(name);
  }

  async release(name: string): Promise<void> {
    await this.leases.get(name)?.release();
  }
}

test("many read, or one writes, in order of arrival", async () => {
  const granted = new Granted();
  await granted.note("r0", mine.read.acquire());
  await granted.note("r1", theirs.read.acquire());
  expect(await theirs.write.tryAcquire()).toBeNull();
  const waiting: Promise<void>[] = [];
  const wait = async (name: string, lease: Promise<Lease>): Promise<void> => {
    waiting.push(granted.note(name, lease));
    await count(a, PATH, 2 + waiting.length);
  };
  await wait("w2", theirs.write.acquire());
  await wait("r3", mine.read.acquire());
  await wait("r4", theirs.read.acquire());
  await wait("w5", mine.write.acquire());
  expect(await tree(a, PATH)).toEqual([
    "_c_UUID-__READ__0000000000",
    "_c_UUID-__READ__0000000001",
    "_c_UUID-__WRIT__0000000002",
    "_c_UUID-__READ__0000000003",
    "_c_UUID-__READ__0000000004",
    "_c_UUID-__WRIT__0000000005",
  ]);
  await granted.release("r0");
  await b.sync();
  expect(granted.names, "a writer waits for all readers before it").toEqual(["r0", "r1"]);
  await granted.release("r1");
  await waiting[0];
  expect(granted.names, "readers wait for the writer before them").toEqual(["r0", "r1", "w2"]);
  await granted.release("w2");
  await Promise.all([waiting[1], waiting[2]]);
  expect(granted.names.slice(3).sort()).toEqual(["r3", "r4"]);
  await granted.release("r3");
  await granted.release("r4");
  await waiting[3];
  expect(granted.names.at(-1)).toBe("w5");
});

test("a writer excludes all others, readers exclude writers", async () => {
  let reading = 0;
  let writing = 0;
  const read = (lock: ReadWriteLock, zk: Client) =>
    lock.read.use(async () => {
      reading++;
      expect(writing).toBe(0);
      await zk.sync();
      reading--;
    });
  const write = (lock: ReadWriteLock, zk: Client) =>
    lock.write.use(async () => {
      writing++;
      expect([reading, writing]).toEqual([0, 1]);
      await zk.sync();
      writing--;
    });
  const work = Array.from({ length: 30 }, (_, i) => {
    const [lock, zk] = i % 2 === 0 ? ([mine, a] as const) : ([theirs, b] as const);
    return i % 5 === 0 ? write(lock, zk) : read(lock, zk);
  });
  await Promise.all(work);
  await count(a, PATH, 0);
});

describe("a writer that downgrades to a reader", () => {
  test("keeps its place: no writer comes between, readers do", async () => {
    const writing = await mine.write.acquire();
    const granted = new Granted();
    const writer = granted.note("writer", theirs.write.acquire());
    await count(a, PATH, 2);
    const reading = await mine.downgrade(writing);
    expect(await tree(a, PATH)).toEqual(
      expect.arrayContaining([
        "_c_UUID-__WRIT__0000000000",
        "_c_UUID-__READ__0000000000",
        "_c_UUID-__WRIT__0000000001",
      ]),
    );
    expect(reading.token).toBe(writing.token);
    await writing.release();
    await b.sync();
    expect([granted.names, reading.isValid()]).toEqual([[], true]);
    await reading.release();
    await writer;
    expect(granted.names).toEqual(["writer"]);
  });

  test("needs a valid write lease", async () => {
    const writing = await mine.write.acquire();
    await writing.release();
    expect(isRecipeError(await failure(mine.downgrade(writing)), "LEASE_LOST")).toBe(true);
    await count(a, PATH, 0);
  });

  test("does not read where the write lock was lost before its reader's node was there, and another one writes", async () => {
    const { zk, relay } = await stage.relayed();
    const lock = new ReadWriteLock(zk, PATH);
    const writing = await lock.write.acquire();
    const next = theirs.write.acquire();
    await count(a, PATH, 2);
    // The lock is lost before the reader's node is made, and this client learns of both together.
    relay.freeze("answers");
    await a.delete(writing.path);
    const other = await next;
    const downgrading = failure(lock.downgrade(writing));
    await count(a, PATH, 2);
    relay.thaw();
    expect(isRecipeError(await downgrading, "LEASE_LOST")).toBe(true);
    await count(a, PATH, 1);
    expect(other.isValid()).toBe(true);
    await other.release();
  });
});

describe("the same owner", () => {
  test("reads while it writes, and may keep reading", async () => {
    const writing = await mine.write.acquire({ owner: "me" });
    const reading = await mine.read.acquire({ owner: "me" });
    const again = await mine.read.acquire({ owner: "me" });
    await count(b, PATH, 2);
    await writing.release();
    await reading.release();
    expect(again.isValid()).toBe(true);
    expect(await theirs.write.tryAcquire()).toBeNull();
    await again.release();
    await count(b, PATH, 0);
  });

  test("does not write while it reads: it would wait for itself", async () => {
    const reading = await mine.read.acquire({ owner: "me" });
    expect(isRecipeError(await failure(mine.write.acquire({ owner: "me" })), "LOCK_UPGRADE")).toBe(true);
    await reading.release();
    const writing = await mine.write.acquire({ owner: "me" });
    expect((await mine.write.acquire({ owner: "me" })).path).toBe(writing.path);
  });
});

test("kazoo's readers do not keep readers out, its writers do", async () => {
  const mode = { mode: "ephemeral-sequential", parents: "container" } as const;
  const reader = await a.create(`${PATH}/ffffffffffffffffffffffffffffffff__rlock__`, "", mode);
  await (await theirs.read.acquire()).release();
  expect(await theirs.write.tryAcquire()).toBeNull();
  await a.delete(reader.path);
  await a.create(`${PATH}/ffffffffffffffffffffffffffffffff__lock__`, "", mode);
  expect(await theirs.read.tryAcquire()).toBeNull();
});

test("nested work may read under a write lock, and may not write under a read lock", async () => {
  const lock = new ReadWriteLock(a, PATH, { reentrant: "async-context" });
  await lock.write.use((writing) => lock.read.use((reading) => expect(reading.token).toBe(writing.token)));
  await lock.read.use(async () => {
    expect(isRecipeError(await failure(lock.write.use(() => {})), "LOCK_UPGRADE")).toBe(true);
    await lock.read.use((reading) => expect(reading.isValid()).toBe(true));
  });
  await count(b, PATH, 0);
});

test("nodes can have kazoo's format, also a reader's in a writer's place", async () => {
  const lock = new ReadWriteLock(a, PATH, { dialect: "kazoo" });
  const writing = await lock.write.acquire();
  const reading = await lock.downgrade(writing);
  expect(writing.path).toMatch(/\/[0-9a-f]{32}__lock__0000000000$/);
  expect(reading.path).toMatch(/\/[0-9a-f]{32}__rlock__0000000000$/);
  await writing.release();
  const another = await theirs.read.acquire();
  expect(await theirs.write.tryAcquire()).toBeNull();
  await another.release();
  await reading.release();
  expect((await theirs.write.tryAcquire())?.isValid()).toBe(true);
});
