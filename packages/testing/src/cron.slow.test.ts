/** The schedules of `@zooid/recipes` in virtual time. */
import { Cron, type CronOptions, type CronRun } from "@zooid/recipes";
import { describe, expect, test } from "vitest";
import { forSeeds, TestEnsemble } from "./index.ts";

const MINUTE_MS = 60_000;

/** The minutes of the schedule that had a run, in the order of the runs. */
function minutesOf(runs: readonly Pick<CronRun, "dueMs">[]): readonly number[] {
  return runs.map(({ dueMs }) => (dueMs / MINUTE_MS) % 60);
}

async function cronIn(
  ensemble: TestEnsemble,
  name: string,
  runs: CronRun[],
  options: CronOptions & { readonly work?: (run: CronRun, signal: AbortSignal) => unknown } = {},
): Promise<Cron> {
  const zk = await ensemble.connect({ name, sessionTimeoutMs: 8_000 });
  const work = (run: CronRun, signal: AbortSignal): unknown => {
    runs.push(run);
    return options.work?.(run, signal);
  };
  return new Cron(zk, "/jobs/report", { ...options, id: name, schedule: "* * * * *", work });
}

describe("a schedule", () => {
  test("has one run for each time, whichever processes live, with a token that grows", async () => {
    await forSeeds({ seeds: 6, servers: 3, deadlineMs: 40 * MINUTE_MS }, async (ensemble) => {
      const runs: CronRun[] = [];
      let running = 0;
      const work = async ({ lease }: CronRun): Promise<void> => {
        if (lease.isValid()) expect(++running).toBe(1);
        await ensemble.sleep(ensemble.below(5_000));
        running = 0;
      };
      const faults = ensemble.randomFaults({ everyMs: 20_000 });
      let crons = await Promise.all(
        ["a", "b", "c"].map((name) => cronIn(ensemble, name, runs, { missed: "all", work })),
      );
      for (let i = 0; i < 10; i++) {
        await ensemble.sleep(90_000 + ensemble.below(60_000));
        // A process dies, and another one takes its place.
        const dead = crons[ensemble.below(3)];
        const name = `${i}`;
        if (dead !== undefined) await dead.close({ timeoutMs: 1 }).catch(() => {});
        const made = await cronIn(ensemble, name, runs, { missed: "all", work });
        crons = crons.map((cron) => (cron === dead ? made : cron));
      }
      await faults.stop();
      await ensemble.sleep(2 * MINUTE_MS);
      await Promise.all(crons.map((cron) => cron.close()));
      const due = runs.map(({ dueMs }) => dueMs);
      expect(due).toEqual([...new Set(due)].sort((x, y) => x - y));
      expect(runs.map(({ token }) => token)).toEqual(runs.map(({ token }) => token).sort((x, y) => x - y));
      // None was missed: runs of processes that died had begun.
      expect(due.length).toBe(((due.at(-1) ?? 0) - (due[0] ?? 0)) / MINUTE_MS + 1);
      expect(due.length).toBeGreaterThan(15);
    });
  }, 120_000);

  test("has no run twice where the servers' clocks are set back by an hour, and continues when they have caught up", async () => {
    await TestEnsemble.run({ servers: 3, deadlineMs: 180 * MINUTE_MS }, async (ensemble) => {
      const runs: CronRun[] = [];
      await using _ = await cronIn(ensemble, "a", runs);
      await ensemble.sleep(2.5 * MINUTE_MS);
      for (const server of ensemble.servers) ensemble.skewClock(server, -60 * MINUTE_MS);
      // Another leader of the servers, for which the time goes back.
      ensemble.crashLeader({ forMs: 5_000 });
      await ensemble.sleep(62 * MINUTE_MS);
      const due = runs.map(({ dueMs }) => dueMs);
      expect(due).toEqual([...new Set(due)].sort((x, y) => x - y));
      expect(minutesOf(runs).slice(0, 2)).toEqual([1, 2]);
      expect(runs.length).toBeGreaterThanOrEqual(3);
    });
  }, 60_000);

  test.each([
    ["skip", [1, 2]],
    ["latest", [1, 2, 12]],
    ["all", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  ] as const)("that was not served for ten minutes, with missed: %s", async (missed, expected) => {
    await TestEnsemble.run({ servers: 1, deadlineMs: 60 * MINUTE_MS }, async (ensemble) => {
      const runs: CronRun[] = [];
      const first = await cronIn(ensemble, "a", runs, { missed, lateMs: 10_000 });
      await ensemble.sleep(2.5 * MINUTE_MS);
      await first.close();
      await ensemble.sleep(10 * MINUTE_MS);
      await using _ = await cronIn(ensemble, "b", runs, { missed, lateMs: 10_000 });
      await ensemble.sleep(20_000);
      expect(minutesOf(runs)).toEqual(expected);
    });
  });

  test.each([
    ["skip", [1, 2]],
    ["repeat", [1, 1, 2]],
  ] as const)("whose process dies in a run, with interrupted: %s", async (interrupted, expected) => {
    await TestEnsemble.run({ servers: 1 }, async (ensemble) => {
      const runs: CronRun[] = [];
      const work = (_: CronRun, signal: AbortSignal): Promise<void> | undefined => {
        if (runs.length > 1) return undefined;
        const interrupt = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        ensemble.link("a").refuse();
        ensemble.link("a").cut();
        return interrupt;
      };
      await using first = await cronIn(ensemble, "a", runs, { interrupted, work });
      await ensemble.sleep(1_000);
      await using _ = await cronIn(ensemble, "b", runs, { interrupted, work });
      await ensemble.sleep(2.5 * MINUTE_MS);
      ensemble.heal();
      expect(minutesOf(runs)).toEqual(expected);
      expect(runs.map(({ attempt }) => attempt)).toEqual(interrupted === "skip" ? [1, 1] : [1, 2, 1]);
      expect(first.isLeading).toBe(false);
    });
  });
});
