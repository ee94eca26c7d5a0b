import type { Client } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, Stage } from "../testing/stage.ts";
import { AtomicLong } from "./atomic-number.ts";
import { IdGenerator, type IdStrategy } from "./id-generator.ts";

const PATH = "/ids/orders";
const STRATEGIES: readonly IdStrategy[] = ["sequential", "version", "block"];

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

test.each(STRATEGIES)("no id is given twice: %s", async (strategy) => {
  const generators = [a, b].map((zk) => new IdGenerator(zk, PATH, { strategy, blockSize: 7 }));
  const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => generators[i % 2]?.next()));
  expect(new Set(ids).size).toBe(40);
  const { names } = await a.children(PATH);
  expect(names).toEqual([]);
});

test.each(STRATEGIES)("ids begin small and grow: %s", async (strategy) => {
  const mine = new IdGenerator(a, PATH, { strategy });
  const ids = [await mine.next(), await mine.next(), await mine.next()];
  const first = strategy === "block" ? 1 : 0;
  expect(ids).toEqual([first, first + 1, first + 2]);
});

test.each(STRATEGIES)("an id whose answer was lost is skipped, if that: %s", async (strategy) => {
  const { zk, relay } = await stage.relayed();
  const mine = new IdGenerator(zk, PATH, { strategy, blockSize: 1 });
  const before = await mine.next();
  relay.freeze("answers");
  const asked = mine.next();
  const written = await b.exists(PATH);
  relay.cut();
  relay.thaw();
  const after = await asked;
  expect(after).toBeGreaterThan(before);
  expect(after - before).toBeLessThanOrEqual(2);
  expect(written).not.toBeNull();
  expect((await b.children(PATH)).names).toEqual([]);
});

test("no id is repeated after the parent was empty for a while", async () => {
  await using reaping = await Stage.start({ reaping: { checkIntervalMs: 20 } });
  const zk = await reaping.client();
  const mine = new IdGenerator(zk, PATH, { strategy: "sequential" });
  expect(await mine.next()).toBe(0);
  await zk.create("/empty/below", "", { parents: "container" });
  await zk.delete("/empty/below");
  await firstValueFrom(zk.watchExists$("/empty").pipe(filter((stat) => stat === null)));
  expect(await mine.next()).toBe(1);
});

test("it fails when no id is left", async () => {
  await new AtomicLong(a, PATH).forceSet(BigInt(Number.MAX_SAFE_INTEGER) - 1n);
  const mine = new IdGenerator(b, PATH, { blockSize: 5 });
  expect(await mine.next()).toBe(Number.MAX_SAFE_INTEGER);
  expect(isRecipeError(await failure(mine.next()), "SEQUENCE_OVERFLOW")).toBe(true);
});
