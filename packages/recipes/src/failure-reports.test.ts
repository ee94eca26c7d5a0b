/** Failures of callers' work are reported once, when they happen; ends do not repeat them. */
import { type Client, text } from "@zooid/client";
import { lastValueFrom } from "rxjs";
import { describe, expect, test } from "vitest";
import { LeaderSelector } from "./elections/leader-selector.ts";
import { FailureReports } from "./failure-reports.ts";
import { revoke } from "./leases/hold.ts";
import { Mutex } from "./locks/mutex.ts";
import { SetPartitioner } from "./members/set-partitioner.ts";
import { DistributedQueue } from "./queues/distributed-queue.ts";
import { Cron } from "./schedules/cron.ts";
import { eachStaged } from "./testing/each-staged.ts";
import { aborted, failure, type Stage } from "./testing/stage.ts";
import { Warnings } from "./testing/warnings.ts";

let stage: Stage;
eachStaged((staged) => {
  ({ stage } = staged);
});

const PATH = "/failing";
type Work = (signal: AbortSignal) => void | Promise<void>;
type OnError = (error: unknown) => void;

interface Recipe {
  close(): Promise<void>;
  finished?(): Promise<void>;
}

interface Kind {
  readonly open: (zk: Client, work: Work, onError?: OnError) => Promise<Recipe>;
  /** Whether it ends with a failure that has no listener. */
  readonly ends: boolean;
  readonly hasListener: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "a selector": {
    open: async (zk, work, onError) => {
      const listening = onError === undefined ? {} : { onError };
      const selector = new LeaderSelector(zk, PATH, (_, signal) => work(signal), { autoRequeue: true, ...listening });
      selector.start();
      return selector;
    },
    ends: true,
    hasListener: true,
  },
  "a schedule": {
    open: async (zk, work, onError) => {
      const listening = onError === undefined ? {} : { onError };
      return new Cron(zk, PATH, { schedule: { everyMs: 10 }, work: (_, signal) => work(signal), ...listening });
    },
    ends: true,
    hasListener: true,
  },
  "a partitioned set": {
    open: async (zk, work) =>
      new SetPartitioner(zk, PATH, { items: ["1"], work: (_, signal) => work(signal), quietMs: 10 }),
    ends: true,
    hasListener: false,
  },
  "a queue": {
    open: async (zk, work, onError) => {
      const queue = new DistributedQueue(zk, PATH, { codec: text, lockPath: `${PATH}-locks` });
      await queue.put("item");
      return queue.consume((_, { signal }) => work(signal), { onError, onFailure: "requeue" });
    },
    ends: false,
    hasListener: true,
  },
};

describe.each(Object.entries(KINDS))("of %s", (_, { open, ends }) => {
  test("a failure without a listener is one warning when it happens, and the end succeeds", async () => {
    const warnings = new Warnings();
    const zk = await stage.client({ logger: warnings.logger });
    const recipe = await open(zk, () => {
      throw new Error("no paper");
    });
    expect(await warnings.first).toContain(PATH);
    expect(await warnings.first).toContain("no paper");
    if (ends && recipe.finished !== undefined) await expect(recipe.finished()).rejects.toThrow("no paper");
    await recipe.close();
    await recipe.close();
    expect(warnings.messages).toHaveLength(1);
  });

  test("work that ends with its signal's reason has not failed", async () => {
    const warnings = new Warnings();
    const zk = await stage.client({ logger: warnings.logger });
    const begun = Promise.withResolvers<void>();
    const recipe = await open(zk, async (signal) => {
      begun.resolve();
      // The signal of a queue's work aborts with the lease only.
      if (ends) await aborted(signal);
      signal.throwIfAborted();
    });
    await begun.promise;
    await recipe.close();
    expect(warnings.messages).toEqual([]);
  });
});

/** Thrown values whose text cannot be read. */
const TEXTLESS: Readonly<Record<string, unknown>> = {
  "an object without a prototype": Object.create(null),
  "an error whose fields cannot be read": Object.defineProperties(
    new Error(),
    Object.fromEntries(
      ["message", "stack", "cause"].map((name) => [
        name,
        {
          get: (): never => {
            throw new Error("unreadable");
          },
        },
      ]),
    ),
  ),
};

describe.each(Object.entries(KINDS))("of %s whose work throws a value without text", (_, { open, ends }) => {
  test.each(Object.entries(TEXTLESS))(
    "there is a warning, and the recipe ends as for others: %s",
    async (_, thrown) => {
      const warnings = new Warnings();
      const zk = await stage.client({ logger: warnings.logger });
      const recipe = await open(zk, () => {
        throw thrown;
      });
      expect(await warnings.first).toMatch(/: a value without text$/);
      if (ends && recipe.finished !== undefined) {
        expect((await failure(recipe.finished())) === thrown).toBe(true);
      }
      if (recipe instanceof SetPartitioner) expect((await failure(lastValueFrom(recipe.share$))) === thrown).toBe(true);
      await recipe.close();
    },
  );
});

const LISTENING = Object.entries(KINDS).filter(([, { hasListener }]) => hasListener);

test.each(LISTENING)(
  "failures of %s go to the listener, and the work continues, whatever the listener does",
  async (_, { open }) => {
    const warnings = new Warnings();
    const errors: unknown[] = [];
    const thrice = Promise.withResolvers<void>();
    const zk = await stage.client({ logger: warnings.logger });
    const recipe = await open(
      zk,
      () => {
        throw new Error("no paper");
      },
      (error) => {
        if (errors.push(error) === 3) thrice.resolve();
        throw new Error("of the listener");
      },
    );
    await thrice.promise;
    await recipe.close();
    expect(errors.slice(0, 3)).toEqual([1, 2, 3].map(() => new Error("no paper")));
    expect(warnings.messages).toEqual([]);
  },
);

test("a failure of a listener to revocations is a warning, and the lease stays", async () => {
  const warnings = new Warnings();
  const zk = await stage.client({ logger: warnings.logger });
  const failing = async (): Promise<void> => {
    throw new Error("no time");
  };
  const lease = await new Mutex(zk, PATH, { onRevoke: failing }).acquire();
  await revoke(zk, lease.path);
  expect(await warnings.first).toContain("no time");
  expect(lease.isValid()).toBe(true);
  await lease.release();
});

test("failures that follow each other are one line, and the end is another", async () => {
  const warnings = new Warnings();
  const reports = new FailureReports(await stage.client({ logger: warnings.logger }), undefined);
  for (let i = 0; i < 1000; i++) reports.report("the work has failed", new Error("again"));
  reports.reportEnd("the work has ended", "because");
  expect(warnings.messages).toEqual(["the work has failed: again", "the work has ended: because"]);
});
