import type { Client } from "@zooid/client";
import { ArgumentError, joinPath } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { count, failure, type Stage } from "../testing/stage.ts";
import { Barrier } from "./barrier.ts";
import { DoubleBarrier } from "./double-barrier.ts";

const PATH = "/barriers/one";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

describe("a barrier", () => {
  test("blocks all waiters while it is set", async () => {
    const [mine, theirs] = [new Barrier(a, PATH), new Barrier(b, PATH)];
    await theirs.wait();
    await mine.set();
    await mine.set();
    expect(isRecipeError(await failure(theirs.wait({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
    let hasPassed = false;
    const waiting = theirs.wait().then(() => {
      hasPassed = true;
    });
    await b.sync();
    // Not every event of the node is its removal.
    await a.set(PATH, "changed");
    await b.sync();
    await b.sync();
    expect(hasPassed).toBe(false);
    await mine.remove();
    await waiting;
    await mine.remove();
    expect(b.watchCount).toBe(0);
  });

  test("waiters survive lost connections and sessions", async () => {
    const { zk, relay } = await stage.relayed();
    await new Barrier(a, PATH).set();
    const waiting = new Barrier(zk, PATH).wait();
    await zk.sync();
    await stage.expire(zk);
    relay.refuse();
    relay.cut();
    await new Barrier(a, PATH).remove();
    relay.accept();
    await waiting;
  });
});

describe("a double barrier", () => {
  const barrierOf = (zk: Client, members: number): DoubleBarrier => new DoubleBarrier(zk, PATH, { members });
  const barrier = (zk: Client): DoubleBarrier => barrierOf(zk, 3);

  test("all members begin together and end together", async () => {
    const members = [barrier(a), barrier(b), barrier(a)];
    let began = 0;
    let ended = 0;
    const work = members.map(async (member, i) => {
      await member.enter();
      began++;
      while (began < 3) await (i % 2 === 0 ? a : b).sync();
      ended++;
      await member.leave();
      expect(ended).toBe(3);
    });
    await Promise.all(work);
    expect((await a.children(PATH)).names).toEqual([]);
  });

  test("rounds follow each other on one path, however slow a member is to leave", async () => {
    const slow = await stage.client();
    const rounds = async (zk: Client, pace: () => Promise<unknown>): Promise<void> => {
      const member = barrier(zk);
      for (let round = 0; round < 15; round++) {
        await member.enter();
        await pace();
        await member.leave();
      }
    };
    const lag = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await slow.sync();
    };
    await Promise.all([rounds(a, async () => {}), rounds(b, async () => {}), rounds(slow, lag)]);
    expect((await a.children(PATH)).names).toEqual([]);
  });

  test("a member that has begun the next round under its old name, as kazoo's do, is not waited for", async () => {
    const kazoo = joinPath(PATH, "0".repeat(32));
    await a.create(kazoo, "", { mode: "ephemeral", parents: "container" });
    const members = [barrier(a), barrier(b)];
    await Promise.all(members.map((member) => member.enter()));
    const leaving = members.map((member) => member.leave());
    // The others have left, and wait for it.
    await count(a, PATH, 2);
    await a.transaction().delete(kazoo).create(kazoo, "", { mode: "ephemeral" }).commit();
    await Promise.all(leaving);
    expect((await a.children(PATH)).names).toEqual(["0".repeat(32)]);
  });

  test("a member that has entered does not enter again before it has left", async () => {
    const lone = new DoubleBarrier(a, PATH, { members: 1 });
    await lone.enter();
    expect(await failure(lone.enter())).toBeInstanceOf(ArgumentError);
    await lone.leave();
    const one = barrier(a);
    const waiting = failure(one.enter({ timeoutMs: 20 }));
    expect(await failure(one.enter())).toBeInstanceOf(ArgumentError);
    expect(isRecipeError(await waiting, "LOCK_TIMEOUT")).toBe(true);
    expect(isRecipeError(await failure(one.enter({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  });

  test("members wait while one is missing", async () => {
    const [first, second] = [barrier(a), barrier(b)];
    const entering = first.enter();
    const patience = new AbortController();
    const giving = failure(second.enter({ signal: patience.signal }));
    await count(a, PATH, 2);
    patience.abort("enough");
    expect(await giving).toBe("enough");
    // Else the third would begin with one that is no longer there.
    await count(a, PATH, 1);
    const others = [second.enter(), barrier(b).enter()];
    await Promise.all([entering, ...others]);
    const names = (await a.children(PATH)).names;
    expect(names).toHaveLength(4);
    expect(names).toContain("ready");
    expect(names.filter((name) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name))).toHaveLength(3);
  });

  test("members do not leave while one works", async () => {
    const members = [barrier(a), barrier(b), barrier(a)];
    await Promise.all(members.map((member) => member.enter()));
    let left = 0;
    const leaving = members.slice(0, 2).map((member) => member.leave().then(() => left++));
    await a.sync();
    await b.sync();
    expect(left).toBe(0);
    await members[2]?.leave();
    await Promise.all(leaving);
  });

  test("a member whose leave is given up has left: the others need not wait for it", async () => {
    // The one whose name comes first waits for the others, and they for it.
    for (let round = 0; round < 6; round++) {
      const [first, second] = [barrierOf(a, 2), barrierOf(b, 2)];
      await Promise.all([first.enter(), second.enter()]);
      expect(await failure(first.leave({ timeoutMs: 10 }))).toMatchObject({ code: "LOCK_TIMEOUT" });
      await second.leave();
      expect((await a.children(PATH)).names).toEqual([]);
    }
  });

  test("a member whose session ends while it waits fails", async () => {
    const { zk, relay } = await stage.relayed();
    const entering = failure(barrier(zk).enter());
    await count(a, PATH, 1);
    await stage.expire(zk);
    relay.cut();
    expect(isRecipeError(await entering, "BARRIER_BROKEN")).toBe(true);
    await count(a, PATH, 0);
  });

  test("a member whose session has ended leaves its own round, though others are in the next one", async () => {
    const { zk, relay } = await stage.relayed();
    const of = (client: Client): DoubleBarrier => new DoubleBarrier(client, PATH, { members: 2 });
    const [first, second] = [of(zk), of(a)];
    await Promise.all([first.enter(), second.enter()]);
    await stage.expire(zk);
    relay.cut();
    await second.leave({ timeoutMs: 2_000 });
    await Promise.all([second.enter(), of(b).enter()]);
    await first.leave({ timeoutMs: 2_000 });
    const { names } = await a.children(PATH);
    expect(names).toHaveLength(3);
    expect(names, "the next round's").toContain("ready");
  });

  test("a dead member does not block the others from leaving", async () => {
    const { zk, relay } = await stage.relayed();
    const members = [barrier(a), barrier(b), barrier(zk)];
    await Promise.all(members.map((member) => member.enter()));
    const leaving = members.slice(0, 2).map((member) => member.leave());
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    await Promise.all(leaving);
  });
});
