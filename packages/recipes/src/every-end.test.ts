/** A permanent error that ends a recipe is visible without a subscriber to its streams. */
import { type Client, Permission } from "@zooid/client";
import { isObservable, type Observable } from "rxjs";
import { expect, test } from "vitest";
import { Registration } from "./discovery/service-discovery.ts";
import { WorkQueue } from "./queues/work-queue.ts";
import { eachStaged } from "./testing/each-staged.ts";
import { classNames, EVERY_RECIPE, type Open, OTHER_CLASSES } from "./testing/every-recipe.ts";
import type { Stage } from "./testing/stage.ts";
import { Warnings } from "./testing/warnings.ts";

const PATH = "/denied";

let stage: Stage;
let a: Client;
eachStaged(
  (staged) => {
    ({ stage, a } = staged);
  },
  { ttlNodes: true },
);

/** From now on only its access list can be changed. */
async function deny(path: string): Promise<void> {
  await a.setAcl(path, [{ scheme: "world", id: "anyone", perms: Permission.ADMIN }]);
}

/** @returns the recipe if it has a life that a permanent error can end, which has come */
async function failing(open: Open, zk: Client): Promise<{ close(): unknown } | undefined> {
  const allowed = await open(zk, "/allowed");
  if (!("close" in allowed) || typeof allowed.close !== "function") return undefined;
  if (allowed instanceof Registration) {
    await deny(allowed.path);
    allowed.update({ port: 1 });
    return allowed;
  }
  await allowed.close();
  await zk.create(`${PATH}/app/env`, "", { parents: "persistent" });
  await zk.create(`${PATH}/a`, "");
  for (const path of [`${PATH}/app/env`, `${PATH}/app`, `${PATH}/a`, PATH]) await deny(path);
  const denied = (await open(zk, PATH)) as { close(): unknown };
  if (denied instanceof WorkQueue) denied.consume(() => {});
  return denied;
}

test("every class of the package has a row", () => {
  expect([...Object.keys(EVERY_RECIPE), ...OTHER_CLASSES].sort()).toEqual(classNames());
});

/** A discovery has what it makes, which have rows. */
const ROWS = Object.entries(EVERY_RECIPE).filter(([name]) => name !== "ServiceDiscovery");

test.each(ROWS)("its end without subscribers is a warning: %s", async (_, open) => {
  const warnings = new Warnings();
  const zk = await stage.client({ logger: warnings.logger });
  const recipe = await failing(open, zk);
  if (recipe === undefined) return;
  expect(await warnings.first).toMatch(/\/(denied|allowed).* (has ended|is kept no more|is followed no more)/);
  expect(await warnings.first).toContain("(NO_AUTH)");
  await recipe.close();
  expect(warnings.codes).toContainEqual(["ZOOID_FAILED", "NO_AUTH"]);
  expect(new Set(warnings.messages).size, "one for each node").toBe(warnings.messages.length);
});

/** Its streams, its own and those that it inherits. */
function streamsOf(recipe: object): ReadonlyMap<string, Observable<unknown>> {
  const streams = new Map<string, Observable<unknown>>();
  for (let part = recipe; part !== Object.prototype; part = Object.getPrototypeOf(part)) {
    for (const name of Object.getOwnPropertyNames(part)) {
      const value = name.endsWith("$") ? (recipe as Record<string, unknown>)[name] : undefined;
      if (isObservable(value)) streams.set(name, value);
    }
  }
  return streams;
}

/** Subscribes to each. @returns the names of those that have not ended */
function subscribed(recipe: object): ReadonlySet<string> {
  const open$ = new Set<string>();
  for (const [name, stream$] of streamsOf(recipe)) {
    open$.add(name);
    stream$.subscribe({ complete: () => open$.delete(name), error: () => open$.delete(name) });
  }
  return open$;
}

test.each(ROWS)("its streams end when it is closed: %s", async (_, open) => {
  const recipe = await open(a, "/closed");
  if (!("close" in recipe) || typeof recipe.close !== "function") return;
  const open$ = subscribed(recipe);
  await recipe.close();
  await expect.poll(() => [...open$]).toEqual([]);
});

test.each(ROWS)("its streams end when its client is closed: %s", async (_, open) => {
  const zk = await stage.client();
  const open$ = subscribed(await open(zk, "/closed"));
  await zk.close();
  await expect.poll(() => [...open$]).toEqual([]);
});
