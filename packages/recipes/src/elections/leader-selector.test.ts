import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, count, type Stage } from "../testing/stage.ts";
import { type Lead, LeaderSelector, type LeaderSelectorOptions } from "./leader-selector.ts";

const PATH = "/leaders/selector";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

function selector(zk: Client, lead: Lead, options?: LeaderSelectorOptions): LeaderSelector {
  const selector = new LeaderSelector(zk, PATH, lead, options);
  stage.kept(selector);
  selector.start();
  return selector;
}

test("all lead in turn, one at a time, and again with autoRequeue", async () => {
  let leading = 0;
  let most = 0;
  const terms = new Map<string, number>();
  const done = Promise.withResolvers<void>();
  const lead = (name: string, zk: Client): Lead => {
    return async (term) => {
      most = Math.max(most, ++leading);
      expect(term.isValid()).toBe(true);
      await zk.sync();
      leading--;
      terms.set(name, (terms.get(name) ?? 0) + 1);
      if ((terms.get("a") ?? 0) >= 5 && (terms.get("b") ?? 0) >= 5) done.resolve();
    };
  };
  selector(a, lead("a", a), { autoRequeue: true });
  selector(b, lead("b", b), { autoRequeue: true });
  await done.promise;
  expect(most).toBe(1);
});

test("it leads once, and again when it is started again, also from within its work", async () => {
  let terms = 0;
  const selected = selector(a, () => {
    if (++terms === 1) selected.start();
  });
  await selected.finished();
  expect(terms).toBe(2);
  selected.start();
  selected.start();
  await selected.finished();
  expect([terms, selected.isLeading]).toEqual([3, false]);
  expect((await b.children(PATH)).names).toEqual([]);
});

test("the next one begins when the work of the one before has returned, not when it is interrupted", async () => {
  const asked = Promise.withResolvers<void>();
  const mayReturn = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  let hasReturned = false;
  const first = selector(
    a,
    async (_term, signal) => {
      began.resolve();
      await aborted(signal);
      asked.resolve();
      await mayReturn.promise;
      hasReturned = true;
    },
    { id: "first" },
  );
  await began.promise;
  const second = selector(b, () => expect(hasReturned).toBe(true), { id: "second" });
  await count(a, PATH, 2);
  expect((await second.participants()).map(({ id, isLeader }) => [id, isLeader])).toEqual([
    ["first", true],
    ["second", false],
  ]);
  first.interruptLeadership();
  first.interruptLeadership();
  await asked.promise;
  await count(a, PATH, 2);
  mayReturn.resolve();
  await second.finished();
  await first.finished();
});

test("a term that is lost is over, and with autoRequeue the next one comes", async () => {
  const terms: bigint[] = [];
  const second = Promise.withResolvers<void>();
  const { zk, relay } = await stage.relayed();
  const selected = selector(
    zk,
    async (term, signal) => {
      terms.push(term.sessionId);
      if (terms.length === 2) second.resolve();
      await aborted(signal);
    },
    { autoRequeue: true },
  );
  while (!selected.isLeading) await zk.sync();
  const before = zk.sessionId;
  await stage.expire(zk);
  relay.cut();
  await second.promise;
  expect(terms).toEqual([before, zk.sessionId]);
});

test("an error of its work ends it, and is thrown by finished", async () => {
  const selected = selector(a, () => {
    throw new Error("no head for this");
  });
  await expect(selected.finished()).rejects.toThrow("no head for this");
  await selected.close();
  expect((await b.children(PATH)).names).toEqual([]);
});

test("an error of its work is passed to onError, and it continues", async () => {
  const errors: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const work = (): void => {
    if (errors.length === 3) done.resolve();
    throw new Error("again");
  };
  selector(a, work, { autoRequeue: true, onError: (error) => errors.push(error) });
  await done.promise;
  expect(errors.slice(0, 3)).toEqual([new Error("again"), new Error("again"), new Error("again")]);
});

test("closed, it aborts its work's signal and waits for the work", async () => {
  let hasReturned = false;
  const began = Promise.withResolvers<void>();
  const selected = selector(a, async (_term, signal) => {
    began.resolve();
    await aborted(signal);
    await a.sync();
    hasReturned = true;
  });
  await began.promise;
  await selected.close();
  expect(hasReturned).toBe(true);
  expect(() => selected.start()).toThrow(/is closed/);
});
