/**
 * The client's end is the end of its recipes: their streams complete, nothing is reported, and no
 * timer is left.
 */
import { type Client, isZkError } from "@zooid/client";
import { filter, firstValueFrom, lastValueFrom, type Observable } from "rxjs";
import { expect, test, vi } from "vitest";
import { AtomicLong } from "./counters/atomic-number.ts";
import { PersistentNode } from "./members/persistent-node.ts";
import { RateLimiter } from "./rates/rate-limiter.ts";
import { eachStaged } from "./testing/each-staged.ts";
import { EVERY_RECIPE } from "./testing/every-recipe.ts";
import { failure, type Stage } from "./testing/stage.ts";
import { Warnings } from "./testing/warnings.ts";

let stage: Stage;
let a: Client;
eachStaged(
  (staged) => {
    ({ stage, a } = staged);
  },
  { ttlNodes: true },
);

/** Every stream of a recipe, by name; those that are methods are called with a key. */
function streamsOf(recipe: object): readonly (readonly [string, Observable<unknown>])[] {
  const streams: [string, Observable<unknown>][] = [];
  for (let at = recipe; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at).filter((name) => name.endsWith("$"))) {
      const value: unknown = Reflect.get(recipe, name);
      streams.push([name, typeof value === "function" ? value.call(recipe, "a", "b") : value]);
    }
  }
  return streams;
}

/** Timers that keep the process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test.each(Object.entries(EVERY_RECIPE))("%s ends with its client", async (_, open) => {
  const warnings = new Warnings();
  // The server's own timer, which looks for empty containers, runs from the first one on.
  await a.create("/container", "", { mode: "container" });
  const before = timers();
  const zk = await stage.client({ logger: warnings.logger });
  const recipe = await open(zk, "/ended");
  const ends = streamsOf(recipe).map(async ([name, stream$]) => {
    const end = await lastValueFrom(stream$, { defaultValue: undefined }).then(
      () => "completes",
      (error: unknown) => error,
    );
    return `${name} ${end}`;
  });
  for (let i = 0; i < 5; i++) await a.sync();
  await zk.close();
  const completed = streamsOf(recipe).map(([name]) => `${name} completes`);
  expect(await Promise.all(ends)).toEqual(completed);
  await a.sync();
  expect(timers()).toBeLessThanOrEqual(before);
  // In time, and again.
  if ("close" in recipe && typeof recipe.close === "function") await recipe.close();
  if ("finished" in recipe && typeof recipe.finished === "function") await failure(recipe.finished());
  expect(warnings.messages).toEqual([]);
});

/** Work that pauses, and what it comes to at the client's end. */
const PAUSES: Readonly<Record<string, (zk: Client) => Promise<{ readonly ended: Promise<unknown> }>>> = {
  "a repair of a node that another program changes": async (zk) => {
    const node = new PersistentNode(zk, { path: "/paused", data: "x" });
    await node.ready();
    const isRepaired = firstValueFrom(a.watchExists$("/paused").pipe(filter((stat) => stat?.version === 2)));
    await a.set("/paused", "not x");
    await isRepaired;
    await node.ready();
    const isPaused = firstValueFrom(node.state$.pipe(filter((state) => state === "making")));
    await a.set("/paused", "not x");
    await isPaused;
    return { ended: lastValueFrom(node.state$) };
  },
  "a wait for tokens of a rate": async (zk) => {
    const limiter = new RateLimiter(zk, "/paused", { rate: 1 });
    await limiter.acquire();
    return { ended: failure(limiter.acquire()) };
  },
  "a change of a number in the place of a quicker one": async (zk) => {
    const slower = Promise.withResolvers<void>();
    const retry = (): number => {
      slower.resolve();
      return 60_000;
    };
    const number = new AtomicLong(zk, "/paused", { retry });
    await number.add(1n);
    const both = Promise.all([number.add(1n), failure(number.add(1n))]);
    await slower.promise;
    return { ended: both.then(([, slow]) => slow) };
  },
};

test.each(Object.entries(PAUSES))("%s is not waited for after the client's end", async (_, begin) => {
  const zk = await stage.client();
  // From here on a pause does not end.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { ended } = await begin(zk);
    await a.sync();
    await zk.close();
    expect(await ended).toSatisfy((end) => end === "closed" || isZkError(end, "CLIENT_CLOSED"));
  } finally {
    vi.useRealTimers();
  }
});
