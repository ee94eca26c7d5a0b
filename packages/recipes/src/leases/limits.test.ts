/** A call ends at its limits while no server answers, wherever it is at that moment. */
import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";
import { MultiLock } from "../locks/multi-lock.ts";
import { Mutex } from "../locks/mutex.ts";
import { type LockedItem, LockingQueue } from "../queues/locking-queue.ts";
import { SimpleQueue } from "../queues/simple-queue.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, type Stage } from "../testing/stage.ts";
import type { WaitOptions } from "./deadline.ts";

let stage: Stage;
let a: Client;
eachStaged((staged) => {
  ({ stage, a } = staged);
});

interface Row {
  /** The nodes that the call finds; it returns the call. */
  readonly of: (zk: Client) => Promise<(options: WaitOptions) => Promise<unknown>>;
  /** The answer after which there is no further one: that to the first request of this kind. */
  readonly last?: "children" | "get";
}

const ROWS: Readonly<Record<string, Row>> = {
  "a registration": { of: async (zk) => (options) => new ServiceDiscovery(zk, "/d").register({ name: "a" }, options) },
  "a take of an item that is being read": {
    of: async (zk) => {
      const queue = new SimpleQueue(zk, "/q");
      await queue.offer("item");
      return (options) => queue.take(options);
    },
    last: "children",
  },
  "an acquisition of several locks, one of which it has": {
    of: async (zk) => {
      await new Mutex(a, "/m/2").tryAcquire();
      const locks = [new Mutex(zk, "/m/1"), new Mutex(zk, "/m/2")];
      return (options) => new MultiLock(zk, locks).acquire(options);
    },
    last: "get",
  },
  "an attempt at several locks, one of which it has": {
    of: async (zk) => {
      const lock = new MultiLock(zk, [new Mutex(zk, "/m/1"), new Mutex(zk, "/m/2")]);
      return ({ signal = AbortSignal.timeout(50) }) => lock.tryAcquire({ signal }).catch(asTimeout);
    },
    last: "get",
  },
  "the consumption of an item": { of: async (zk) => (await taken(zk)).consume },
  "the return of an item": { of: async (zk) => (await taken(zk)).release },
};

async function taken(zk: Client): Promise<Pick<LockedItem, "consume" | "release">> {
  const queue = new LockingQueue(zk, "/l");
  await queue.put("item");
  const item = await queue.take();
  return { consume: (options) => item.consume(options), release: (options) => item.release(options) };
}

/** For calls that have a signal only. */
function asTimeout(error: unknown): never {
  const isTimeout = error instanceof Error && error.name === "TimeoutError" && !isRecipeError(error);
  throw isTimeout ? new RecipeError("LOCK_TIMEOUT", error.message) : error;
}

/** A call whose servers do not answer any more, and a promise of that. */
async function frozen({ of, last }: Row): Promise<{ call: Awaited<ReturnType<Row["of"]>>; isFrozen: Promise<void> }> {
  const { zk, relay } = await stage.relayed();
  const call = await of(zk);
  const froze = Promise.withResolvers<void>();
  const freeze = (): void => {
    relay.freeze("answers");
    froze.resolve();
  };
  if (last === undefined) freeze();
  else {
    const request = zk[last].bind(zk) as (...args: unknown[]) => Promise<unknown>;
    const freezing = async (...args: unknown[]): Promise<unknown> => await request(...args).finally(freeze);
    Object.assign(zk, { [last]: freezing });
  }
  return { call, isFrozen: froze.promise };
}

test.each(Object.entries(ROWS))("%s ends at a signal, and within a time limit", async (_, row) => {
  const { call, isFrozen } = await frozen(row);
  const stop = new AbortController();
  const stopped = failure(call({ signal: stop.signal }));
  await isFrozen;
  stop.abort(new Error("enough"));
  expect(await stopped).toMatchObject({ message: "enough" });
  const late = await frozen(row);
  expect(isRecipeError(await failure(late.call({ timeoutMs: 50 })), "LOCK_TIMEOUT")).toBe(true);
});
