import type { QuorumVerifier, ServerId } from "@zooid/model";
import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { CounterRun } from "./counter-run.ts";

const SERVERS = new Set<ServerId>([1, 2, 3].map(serverId));

/** Wrong on purpose: two such quorums need not intersect. */
const ONE_IS_ENOUGH: QuorumVerifier = {
  voters: SERVERS,
  candidates: SERVERS,
  isQuorum: (acked) => [...acked].length >= 1,
};

test("no acknowledged increment is lost, whatever crashes", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { acknowledged, crashes, total } = new CounterRun(seed).run();
    expect(crashes).toBeGreaterThan(5);
    expect(acknowledged).toBeGreaterThan(500);
    expect(total).toBeGreaterThanOrEqual(acknowledged);
  }
});

test("equal seeds give equal runs", () => {
  expect(new CounterRun(7).run()).toEqual(new CounterRun(7).run());
});

test("a quorum of one server loses increments, and the check sees it", () => {
  const runs = (): void => {
    for (let seed = 1; seed <= 5; seed++) new CounterRun(seed, ONE_IS_ENOUGH).run();
  };
  expect(runs).toThrow(/has lost acknowledged increments|differ/);
});
