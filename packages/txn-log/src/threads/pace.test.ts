import { expect, test } from "vitest";
import { BRISK, CALM, HURRIED, Pace } from "./pace.ts";

/** Counts the rests of work whose pieces take `piece.ms` each. */
function restsOf(pieces: number, piece: { readonly ms: number; readonly bytes: number }, rhythm = BRISK): number {
  let nowMs = 1000;
  let rests = 0;
  const pace = new Pace({
    nowMs: () => nowMs,
    rest: (ms) => {
      rests++;
      nowMs += ms;
    },
  });
  pace.rhythm = rhythm;
  for (let i = 0; i < pieces; i++) {
    nowMs += piece.ms;
    pace.step(piece.bytes);
  }
  return rests;
}

test("small pieces rest once a slice is over, and large ones after each", () => {
  expect(restsOf(160, { ms: 0.01, bytes: 100 })).toBe(5);
  expect(restsOf(10, { ms: 1, bytes: 1_000_000 })).toBe(10);
});

test("calm work rests sooner", () => {
  expect(restsOf(160, { ms: 0.01, bytes: 100 }, CALM)).toBe(10);
});

test("work that is behind does not rest", () => {
  expect(restsOf(10, { ms: 1, bytes: 1_000_000 }, HURRIED)).toBe(0);
});

test("the rhythm may change after a rest", () => {
  let rests = 0;
  let nowMs = 1000;
  const pace = new Pace({ nowMs: () => nowMs++, rest: () => rests++ });
  pace.rested = () => {
    if (rests === 3) pace.rhythm = HURRIED;
  };
  for (let i = 0; i < 100; i++) pace.step(1_000_000);
  expect(rests).toBe(3);
});
