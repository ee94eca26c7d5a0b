/** The client's end is the end of its recipes: their streams complete, and nothing is reported. */
import type { Client } from "@zooid/client";
import { lastValueFrom, type Observable } from "rxjs";
import { expect, test } from "vitest";
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

test.each(Object.entries(EVERY_RECIPE))("%s ends with its client", async (_, open) => {
  const warnings = new Warnings();
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
  // In time, and again.
  if ("close" in recipe && typeof recipe.close === "function") await recipe.close();
  if ("finished" in recipe && typeof recipe.finished === "function") await failure(recipe.finished());
  expect(warnings.messages).toEqual([]);
});
