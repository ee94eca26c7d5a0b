import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, failure, type Stage, tree } from "../testing/stage.ts";
import { Cron, type CronOptions, type CronRun, type CronWork } from "./cron.ts";
import { type CronRecord, recordCodec } from "./cron-record.ts";

const PATH = "/jobs/report";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

function cron(zk: Client, work: CronWork, options: CronOptions = {}): Cron {
  return stage.kept(new Cron(zk, PATH, { schedule: { everyMs: 20 }, work, ...options }));
}

/** The last run, as a process sees it whose schedule is closed. */
async function lastRecord(): Promise<CronRecord> {
  return recordCodec.decode((await a.get(`${PATH}/last`)).data);
}

/** Work that resolves after a number of runs. */
function runs(count: number): { readonly work: CronWork; readonly done: Promise<readonly CronRun[]> } {
  const { promise, resolve } = Promise.withResolvers<readonly CronRun[]>();
  const seen: CronRun[] = [];
  const work = (run: CronRun): void => {
    if (seen.push(run) === count) resolve(seen.slice(0, count));
  };
  return { work, done: promise };
}

test("runs at its times, once for all processes, with tokens and guards", async () => {
  const { work, done } = runs(5);
  const [first, second] = [cron(a, work, { id: "a" }), cron(b, work, { id: "b" })];
  const seen = await done;
  const due = seen.map(({ dueMs }) => dueMs);
  expect(due).toEqual([...new Set(due)].sort((x, y) => x - y));
  expect(due.every((dueMs) => dueMs % 20 === 0)).toBe(true);
  expect(seen.map(({ token }) => token)).toEqual(seen.map(({ token }) => token).sort((x, y) => x - y));
  expect(await tree(b, PATH)).toEqual([
    "clock",
    "last",
    "leader",
    "leader/_c_UUID-lock-0000000000",
    "leader/_c_UUID-lock-0000000001",
  ]);
  await Promise.all([first.close(), second.close()]);
  expect(await lastRecord()).toMatchObject({ state: "done", attempt: 1 });
  await expect(seen[0]?.lease.guard().create("/late").commit()).rejects.toMatchObject({ code: "NO_NODE" });
});

test("takes a cron expression, a function or an interval, and refuses others", () => {
  const make = (schedule: unknown): Cron => stage.kept(new Cron(a, PATH, { schedule, work: () => {} } as never));
  make("0 0 1 1 *");
  make((atMs: number) => atMs + 5_000);
  make({ everyMs: 60_000 });
  for (const wrong of [undefined, 5, {}, { everyMs: 0 }, { everyMs: 1.5 }, { everyMs: 5, offset: 2 }, "every day"])
    expect(() => make(wrong)).toThrow(RangeError);
});

test("an error of the work is reported, and the next run follows; without a listener it ends the schedule", async () => {
  const error = new Error("no paper");
  const failing = (): never => {
    throw error;
  };
  const reported = Promise.withResolvers<unknown>();
  const lasting = cron(a, failing, { onError: reported.resolve });
  expect(await reported.promise).toBe(error);
  expect(lasting.isLeading).toBe(true);
  await lasting.close();
  expect(await lastRecord()).toMatchObject({ state: "failed" });
  const ending = cron(b, failing);
  expect(await failure(ending.finished())).toBe(error);
  await ending.close();
});

test("times that pass while a run works have no run of their own", async () => {
  const release = Promise.withResolvers<void>();
  const seen: number[] = [];
  const three = Promise.withResolvers<void>();
  cron(a, async ({ dueMs }) => {
    if (seen.push(dueMs) === 1) await release.promise;
    if (seen.length === 3) three.resolve();
  });
  await expect.poll(() => seen.length).toBe(1);
  const [first = 0] = seen;
  while ((await b.set(`${PATH}/clock`, "")).mtimeMs < first + 100) await b.sync();
  release.resolve();
  await three.promise;
  expect(seen[1]).toBeGreaterThanOrEqual(first + 100);
});

test("between its runs a schedule asks for the time once", async () => {
  const schedule = stage.kept(new Cron(a, PATH, { schedule: { everyMs: 86_400_000 }, work: () => {} }));
  await expect.poll(async () => (await b.exists(`${PATH}/clock`)) !== null).toBe(true);
  // The time of many requests.
  for (let i = 0; i < 50; i++) await b.sync();
  const { version } = (await b.get(`${PATH}/clock`)).stat;
  expect(version).toBeLessThan(3);
  await schedule.close();
});

test("close interrupts a run and waits for it; from inside of the work it returns at once", async () => {
  const begun = Promise.withResolvers<void>();
  const steps: string[] = [];
  const outside = cron(a, (_, signal) => {
    begun.resolve();
    return new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => {
        steps.push("interrupted");
        resolve();
      });
    });
  });
  await begun.promise;
  await outside.close();
  steps.push("closed");
  const inside: Cron = cron(b, async () => {
    await inside.close();
    steps.push("closed from inside");
  });
  await inside.finished();
  expect(steps).toEqual(["interrupted", "closed", "closed from inside"]);
});

const INTERRUPTIONS: Readonly<Record<string, (schedule: Cron) => Promise<unknown>>> = {
  "is closed": (schedule) => schedule.close(),
  "loses its lock": async () => {
    const { names } = await b.children(`${PATH}/leader`);
    for (const name of names) await b.delete(`${PATH}/leader/${name}`);
  },
};

test.each(Object.entries(INTERRUPTIONS))(
  "an error of work that ends late, as its process %s, ends the schedule",
  async (_, interrupt) => {
    const begun = Promise.withResolvers<void>();
    const error = new Error("half a page");
    const schedule = cron(a, async (_, signal) => {
      begun.resolve();
      await aborted(signal);
      throw error;
    });
    await begun.promise;
    await interrupt(schedule);
    expect(await failure(schedule.finished())).toBe(error);
  },
);

test("the limit of its close names the schedule, and a wrong interval is named", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const busy = cron(a, () => {
    begun.resolve();
    return release.promise;
  });
  await begun.promise;
  const late = await failure(busy.close({ timeoutMs: 1 }));
  expect(late).toMatchObject({ code: "LOCK_TIMEOUT", message: `close the schedule on ${PATH}: not within 1 ms` });
  release.resolve();
  await busy.close();
  const wrong = { schedule: { everyMs: 0 }, work: () => {} };
  expect(() => new Cron(a, PATH, wrong)).toThrow(/everyMs is a whole number from 1 .* found 0/);
});

test("other data in its node are NOT_OURS", async () => {
  await b.create(`${PATH}/last`, "yesterday", { parents: "persistent" });
  expect(await failure(cron(a, () => {}).finished())).toMatchObject({ code: "NOT_OURS" });
});
