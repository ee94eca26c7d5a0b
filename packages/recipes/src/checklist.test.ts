/** What holds for each lock and each election, whatever it is made of. `tools/recipe-rounds` does the same by chance, and longer. */
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

describe.each(RECIPES.map((kind) => [kind.name, kind] as const))("%s", (_, kind) => {
  const contender = makerOf(kind);

  test("as many hold it as may; whoever comes then waits, and is told when one of them gives it back", async () => {
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

  test("what a session held goes to another when it ends, and its holder does not take it for held", async () => {
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

  test("whoever waits does not hold it because somebody else who waited has died", async () => {
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

  test("whoever has given up leaves nothing behind", async () => {
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
    test("those who wait have it in the order in which they came", async () => {
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

/** Always as one who shares with nobody. */
function makerOf(kind: RecipeKind): Make {
  return (zk, name) => kind.make(zk, { path: PATH, name, onSuspended: "keep", below: () => 1 });
}

type Make = (zk: Client, name: string) => Contender;

/** As many as may, each with a session of its own. */
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

/** One who waits already. */
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

/** Who waits has a watch on what it waits for. */
async function watches(zk: Client): Promise<void> {
  while (zk.watchCount === 0) await zk.sync();
}
