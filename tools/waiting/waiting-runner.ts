/**
 * Runs tests with a limit to what they wait for: 5 s in which the machine could have brought it
 * (`WaitLimit`). The failure names what the test waits for: each `once` of `node:events`, each
 * `expect.poll` with the value that it saw last, and the handles that are open. Tests of the slow
 * tier, and those that give a time limit of their own, have that limit alone.
 */
import events from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { cpus } from "node:os";
import { expect, TestRunner } from "vitest";
import { PendingWaits } from "./pending-waits.ts";
import { type CoreTimes, WaitLimit } from "./wait-limit.ts";

type Test = Parameters<TestRunner["onAfterTryTask"]>[0];
type File = Parameters<TestRunner["onCollectStart"]>[0];

const SLOW = ".slow.test.ts";
/** Tests of this runner take a shorter one. */
const LIMIT_MS = Number(process.env["WAIT_LIMIT_MS"] ?? 5000);
const TICK_MS = 100;
/**
 * Share of the test's own time limit, whose failure names no reason: it ends a test on a machine so
 * busy that the limit to waits has not passed.
 */
const LAST_SHARE = 0.9;
/** Processes and threads of their own take long on a busy machine. */
const SLOW_TEST_MS = 60_000;

/** Tests put their own clocks in the place of these. */
const { setInterval, clearInterval } = globalThis;
const nowMs = performance.now.bind(performance);
const loopUse = performance.eventLoopUtilization.bind(performance);

const waits = new PendingWaits(nowMs);
nameOnce();
namePolls();

export default class WaitingRunner extends TestRunner {
  readonly #fastTestMs = this.config.testTimeout;

  override onCollectStart(file: File): void {
    const isSlow = file.filepath.endsWith(SLOW);
    this.config.testTimeout = isSlow ? SLOW_TEST_MS : this.#fastTestMs;
    super.onCollectStart(file);
  }

  async runTask(test: Test): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (test.timeout !== this.#fastTestMs || test.file.filepath.endsWith(SLOW)) return await run();
    const wait = Promise.withResolvers<never>();
    const limit = new WaitLimit(LIMIT_MS, TICK_MS, coreTimes());
    const startMs = nowMs();
    let loop = loopUse();
    const timer = setInterval(() => {
      const spentMs = nowMs() - startMs;
      const { utilization } = loopUse(loop);
      loop = loopUse();
      if (limit.tick(coreTimes(), utilization) || spentMs > LAST_SHARE * test.timeout) wait.reject(failure(spentMs));
    }, TICK_MS);
    try {
      await Promise.race([run(), wait.promise]);
    } finally {
      clearInterval(timer);
      waits.clear();
    }
  }
}

function failure(spentMs: number): Error {
  const pending = waits.describe();
  const handles = Map.groupBy(process.getActiveResourcesInfo(), (name) => name);
  const open = [...handles].map(([name, { length }]) => `${length} ${name}`).join(", ");
  const lines = [
    `the test takes ${Math.round(spentMs / 1000)} s, and what it waits for has not come`,
    ...(pending.length === 0 ? ["it waits for a promise that it does not name"] : pending),
    `open: ${open}`,
  ];
  const error = new Error(lines.join("\n"));
  // The place of this timer says nothing.
  error.stack = "";
  return error;
}

function coreTimes(): CoreTimes {
  const cores = cpus();
  let idleMs = 0;
  let spentMs = 0;
  for (const { times } of cores) {
    idleMs += times.idle;
    for (const each of Object.values(times)) spentMs += each;
  }
  return { count: cores.length, idleMs, spentMs };
}

/** Each `once` that a test calls is a wait. */
function nameOnce(): void {
  const once = events.once;
  events.once = async (emitter: object, name: string | symbol, options?: object) => {
    const wait = waits.begin(`once "${String(name)}" of ${emitter.constructor.name}`, new Error("here").stack);
    try {
      return await Reflect.apply(once, events, [emitter, name, options]);
    } finally {
      wait.end();
    }
  };
  syncBuiltinESMExports();
}

/** Each `expect.poll` that a test calls is a wait. */
function namePolls(): void {
  const poll = expect.poll;
  expect.poll = (ask, options) => {
    const wait = waits.begin("expect.poll", new Error("here").stack);
    const asking: typeof ask = (context) => {
      const value = ask(context);
      wait.saw(value);
      return value;
    };
    return poll(asking, options);
  };
}
