import type { Client } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { LeaderLatch, type LeaderLatchOptions } from "./leader-latch.ts";

const PATH = "/leaders/latch";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

function latch(zk: Client, options?: LeaderLatchOptions): LeaderLatch {
  return stage.kept(new LeaderLatch(zk, PATH, options));
}

test("one leads until it is closed, then the next, in order of arrival", async () => {
  const first = latch(a, { id: "first" });
  await first.leadership();
  const second = latch(b, { id: "second" });
  await count(a, PATH, 2);
  const third = latch(a, { id: "third" });
  await count(a, PATH, 3);
  expect(await tree(a, PATH)).toEqual([0, 1, 2].map((i) => `_c_UUID-latch-000000000${i}`));
  expect((await third.participants()).map(({ id, isLeader }) => [id, isLeader])).toEqual([
    ["first", true],
    ["second", false],
    ["third", false],
  ]);
  expect([first.isLeader, second.isLeader, third.isLeader]).toEqual([true, false, false]);
  await first.close();
  await second.leadership();
  expect([first.isLeader, second.isLeader, third.isLeader]).toEqual([false, true, false]);
  expect(isRecipeError(await failure(first.leadership()), "RECIPE_CLOSED")).toBe(true);
});

test("foreign children of its path are no candidates", async () => {
  for (const name of ["0", "-x", "lock-0000000000"]) await a.create(`${PATH}/${name}`, "", { parents: "container" });
  const first = latch(a, { id: "first" });
  await first.leadership();
  expect(await first.participants()).toEqual([expect.objectContaining({ id: "first", isLeader: true })]);
});

test("each term's beginning and end are emitted once", async () => {
  const seen: boolean[] = [];
  const first = latch(a);
  first.isLeader$.subscribe({ next: (leads) => seen.push(leads), complete: () => seen.push(false) });
  await first.leadership();
  await first.close();
  await first.close();
  expect(seen).toEqual([false, true, false, false]);
  expect((await b.children(PATH)).names).toEqual([]);
});

test("a candidate whose predecessor leaves does not lead while another one does", async () => {
  const first = latch(a);
  await first.leadership();
  const second = latch(b);
  await count(a, PATH, 2);
  const third = latch(b);
  await count(a, PATH, 3);
  await second.close();
  await b.sync();
  expect(third.isLeader).toBe(false);
  await first.close();
  await third.leadership();
});

test("a leader that releases its term goes to the end of the queue", async () => {
  const first = latch(a);
  const term = await first.leadership();
  const second = latch(b);
  await count(a, PATH, 2);
  await term.release();
  const next = await second.leadership();
  expect(next.token).toBeGreaterThan(term.token);
  await count(a, PATH, 2);
  expect(first.isLeader).toBe(false);
  await next.release();
  expect((await first.leadership()).token).toBeGreaterThan(next.token);
});

describe("when the connection is lost", () => {
  test("it leads no more, and again with the same node when it comes back in time", async () => {
    const { zk, relay } = await stage.relayed();
    const first = latch(zk);
    const term = await first.leadership();
    latch(b);
    await count(b, PATH, 2);
    relay.refuse();
    relay.cut();
    await aborted(term.signal);
    expect([term.lostReason, first.isLeader]).toEqual(["suspended", false]);
    relay.accept();
    const again = await first.leadership();
    expect(again.path).toBe(term.path);
    await zk.sync();
    expect(zk.watchCount, "the watch of the term that is over is gone").toBe(1);
  });

  test("the node of a session that has ended is not its own any more", async () => {
    const { zk, relay } = await stage.relayed();
    const first = latch(zk);
    const term = await first.leadership();
    const second = latch(b);
    await count(b, PATH, 2);
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    const next = await second.leadership();
    relay.accept();
    await enters(zk, "connected");
    await count(b, PATH, 2);
    expect([first.isLeader, second.isLeader, next.isValid()]).toEqual([false, true, true]);
    await second.close();
    const again = await first.leadership();
    expect(again.path).not.toBe(term.path);
    expect(again.sessionId).toBe(zk.sessionId);
  });

  test("a term may outlive it, with onSuspended keep", async () => {
    const { zk, relay } = await stage.relayed();
    const first = latch(zk, { onSuspended: "keep" });
    const term = await first.leadership();
    relay.cut();
    await enters(zk, "suspended");
    await enters(zk, "connected");
    expect(term.isValid()).toBe(true);
  });
});

test("a leader whose node is deleted enters the queue again", async () => {
  const first = latch(a);
  const term = await first.leadership();
  await b.delete(term.path);
  await aborted(term.signal);
  expect(term.lostReason).toBe("deleted");
  const again = await firstValueFrom(first.term$.pipe(filter((next) => next !== undefined && next !== term)));
  expect(again?.token).toBeGreaterThan(term.token);
});

test("closed at once, it leaves nothing behind", async () => {
  await latch(a).close();
  const names = await b.children(PATH).then(
    ({ names }) => names,
    () => [],
  );
  expect(names).toEqual([]);
  while (a.pendingDeleteCount > 0) await a.sync();
  expect(await tree(b, "/leaders").catch(() => [])).not.toContain("latch/_c_UUID-latch-0000000000");
});

test("it ends with its client", async () => {
  const first = latch(a);
  await first.leadership();
  await a.close();
  expect(first.isLeader).toBe(false);
  await first.close();
});
