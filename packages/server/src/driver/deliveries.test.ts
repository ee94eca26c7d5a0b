import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Deliveries } from "./deliveries.ts";

type Parts = ConstructorParameters<typeof Deliveries>[0];

// A turn has 1 ms.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Given {
  /** Entries that are committed and not applied. */
  readonly waiting: number;
  readonly isDue?: boolean;
  readonly deliverCountMax?: number;
  /** Notifications of one entry. */
  readonly events?: number;
  /** Time that one entry takes. */
  readonly ms?: number;
}

/** Deliveries over parts that note what they are asked for; later turns wait in `later`. */
function fake(given: Given) {
  const { waiting, isDue = false, deliverCountMax = 1_000_000, events = 0 } = given;
  const state = { waiting, applied: 0, checkpoints: 0, wakes: 0 };
  const later: (() => void)[] = [];
  const replies = { eventCount: 0 };
  const parts = {
    config: { deliverCountMax },
    replies,
    replica: {
      deliver: (count: number): boolean => {
        const taken = Math.min(count, state.waiting);
        state.waiting -= taken;
        state.applied += taken;
        replies.eventCount += taken * events;
        vi.advanceTimersByTime(taken * (given.ms ?? 0));
        return state.waiting > 0;
      },
    },
    checkpoints: { isDue, take: () => void state.checkpoints++ },
    turns: { wake: () => void state.wakes++, step: (act: () => void) => act() },
    polls: { later: (act: () => void) => void later.push(act) },
  };
  const deliveries = new Deliveries(parts as unknown as Parts);
  deliveries.beginTurn();
  return { deliveries, state, later };
}

test.each([true, false])("the state file follows what is applied when that is due: %s", (isDue) => {
  const { deliveries, state } = fake({ waiting: 3, isDue });
  deliveries.deliver();
  expect(state).toEqual({ waiting: 0, applied: 3, checkpoints: isDue ? 1 : 0, wakes: 0 });
});

describe("what is not applied in one turn is applied in later ones, once:", () => {
  test.each<readonly [limit: string, given: Given, firstTurn: number]>([
    ["the configured number", { waiting: 20, deliverCountMax: 16 }, 16],
    ["a number that ends between two looks at the clock", { waiting: 20, deliverCountMax: 11 }, 11],
    ["five thousand notifications", { waiting: 40, events: 1000 }, 8],
    ["a millisecond", { waiting: 40, ms: 0.1 }, 12],
  ])("%s", (_, given, firstTurn) => {
    const { deliveries, state, later } = fake({ ...given, isDue: true });
    deliveries.deliver();
    expect([state.applied, deliveries.isContinuing, later.length]).toEqual([firstTurn, true, 1]);
    // Others ask for it meanwhile.
    deliveries.deliver();
    expect([state.applied, later.length]).toEqual([firstTurn, 1]);
    let turns = 1;
    for (let act = later.shift(); act !== undefined; act = later.shift()) {
      deliveries.beginTurn();
      act();
      turns++;
      expect([state.wakes, state.checkpoints]).toEqual([turns - 1, turns]);
    }
    expect([state.waiting, state.applied, deliveries.isContinuing]).toEqual([0, given.waiting, false]);
  });
});

test("entries that take long are applied one by one, and more of them at a time again once they do not", () => {
  const given = { waiting: 40, ms: 1 };
  const { deliveries, state, later } = fake(given);
  const inTurns: number[] = [];
  deliveries.deliver();
  inTurns.push(state.applied);
  for (let act = later.shift(); act !== undefined; act = later.shift()) {
    if (inTurns.length === 5) given.ms = 0;
    const before = state.applied;
    deliveries.beginTurn();
    act();
    inTurns.push(state.applied - before);
  }
  expect(inTurns).toEqual([8, 4, 2, 1, 1, 24]);
});
