/**
 * Properties of all locks and elections. `packages/trials/src/recipe-rounds` tests the same at
 * random, and longer.
 */
import { type Client, isZkError } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { type Contender, type Held, RECIPES, type RecipeKind } from "./testing/contenders.ts";
import { eachStaged } from "./testing/each-staged.ts";
import { ephemerals } from "./testing/ephemerals.ts";
import { enters, type Stage } from "./testing/stage.ts";

const PATH = "/checked";

let stage: Stage;

eachStaged((staged) => {
  ({ stage } = staged);
});

// A selector has no call that waits.
test.each(RECIPES.filter(({ name }) => name !== "leader-selector").map((kind) => [kind.name, kind] as const))(
  "%s: limits that are none are refused, and nothing is left behind",
  async (_, kind) => {
    const contender = makerOf(kind);
    const zk = await stage.client();
    const limits: readonly object[] = [
      ...[-1, Number.NaN, "5", null].map((timeoutMs) => ({ timeoutMs })),
      ...[{}, null, "signal"].map((signal) => ({ signal })),
      { timeout: 5 },
    ];
    for (const given of limits) {
      const refused = contender(zk, "refused").acquire(given);
      await expect(refused, JSON.stringify(given)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const held = await contender(zk, "after").acquire({});
    expect(held.grant.isValid()).toBe(true);
    await held.release();
  },
);

describe.each(RECIPES.map((kind) => [kind.name, kind] as const))("%s", (_, kind) => {
  const contender = makerOf(kind);

  test("it has as many holders as allowed; the next contender waits until one of them releases it", async () => {
    const holders = await hold(kind, contender);
    const waiter = await wait(contender, "late");
    expect(holders.map(({ grant }) => grant.isValid())).toEqual(holders.map(() => true));
    expect(waiter.held).toBeUndefined();
    await holders[0]?.release();
    const next = await waiter.acquiring;
    expect(next.grant.isValid()).toBe(true);
    expect(holders[0]?.grant.isValid()).toBe(false);
    for (const { token } of holders) expect(next.token).toBeGreaterThan(token);
    await Promise.all([next, ...holders].map((held) => held.release()));
  });

  test("a lock of an ended session goes to another client, and its former holder knows that it is lost", async () => {
    const { zk, relay } = await stage.relayed();
    const first = await contender(zk, "first").acquire({});
    const others = kind.holderCountMax - 1;
    const rest = await Promise.all(
      Array.from({ length: others }, async (_, i) => contender(await stage.client(), `rest-${i}`).acquire({})),
    );
    const waiter = await wait(contender, "late");
    relay.refuse();
    relay.cut();
    await enters(zk, "suspended");
    await stage.expire(zk);
    const next = await waiter.acquiring;
    const late = first.guard().create("/late").commit();
    relay.accept();
    await expect(late).rejects.toSatisfy((error) => isZkError(error, "NO_NODE") || isZkError(error, "BAD_VERSION"));
    expect([first.grant.isValid(), next.grant.isValid()]).toEqual([false, true]);
    await next.guard().create("/in-time").commit();
    await Promise.all([first, next, ...rest].map((held) => held.release()));
  });

  test("a waiter is not granted it because another waiter has died", async () => {
    const holders = await hold(kind, contender);
    const dying = await stage.client();
    const gone = contender(dying, "dying").acquire({});
    gone.catch(() => {});
    await watches(dying);
    const waiter = await wait(contender, "late");
    await dying.close();
    await (await stage.client()).sync();
    await waiter.zk.sync();
    expect(waiter.held).toBeUndefined();
    await Promise.all(holders.map((held) => held.release()));
    await (await waiter.acquiring).release();
  });

  test("a waiter that gives up leaves nothing behind", async () => {
    const holders = await hold(kind, contender);
    const zk = await stage.client();
    await expect(contender(zk, "late").acquire({ timeoutMs: 30 })).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
    await Promise.all(holders.map((held) => held.release()));
    const witness = await stage.client();
    while ((await ephemerals(witness, PATH)).length > 0 || zk.watchCount > 0) await witness.sync();
    expect(zk.pendingDeleteCount).toBe(0);
  });
});

describe.each(RECIPES.filter(({ line }) => line !== undefined).map((kind) => [kind.name, kind] as const))(
  "%s, which has a line",
  (_, kind) => {
    test("waiters are granted it in order of arrival", async () => {
      const contender = makerOf(kind);
      const holders = await hold(kind, contender);
      const order: number[] = [];
      const waiters: Promise<void>[] = [];
      for (let i = 0; i < 5; i++) {
        const waiter = await wait(contender, `late-${i}`);
        const turn = waiter.acquiring.then(async (held) => {
          order.push(i);
          await held.release();
        });
        waiters.push(turn);
      }
      await holders[0]?.release();
      await Promise.all(waiters);
      expect(order).toEqual([0, 1, 2, 3, 4]);
      await Promise.all(holders.map((held) => held.release()));
    });
  },
);

/** In exclusive mode. */
function makerOf(kind: RecipeKind): Make {
  return (zk, name) => kind.make(zk, { path: PATH, name, onSuspended: "keep", below: () => 1 });
}

type Make = (zk: Client, name: string) => Contender;

/** As many as allowed, each with a session of its own. */
async function hold({ holderCountMax }: RecipeKind, make: Make): Promise<readonly Held[]> {
  return Promise.all(
    Array.from({ length: holderCountMax }, async (_, i) => make(await stage.client(), `early-${i}`).acquire({})),
  );
}

interface Waiter {
  readonly zk: Client;
  readonly acquiring: Promise<Held>;
  held: Held | undefined;
}

/** A contender that is already waiting. */
async function wait(make: Make, name: string): Promise<Waiter> {
  const zk = await stage.client();
  const waiter: Waiter = { zk, acquiring: make(zk, name).acquire({}), held: undefined };
  waiter.acquiring.then(
    (held) => {
      waiter.held = held;
    },
    () => {},
  );
  await watches(zk);
  return waiter;
}

/** Waits until the contender has armed a watch. */
async function watches(zk: Client): Promise<void> {
  while (zk.watchCount === 0) await zk.sync();
}
