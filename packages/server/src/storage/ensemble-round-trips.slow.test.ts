import { expect, test } from "vitest";
import { type EnsembleAct, StoredEnsemble } from "../testing/stored-ensemble.ts";

test("three servers serve what the answers promised after each leader change, SNAP and TRUNC, without a repair", async () => {
  const kinds: readonly EnsembleAct["kind"][] = [
    ...(["open session", "create", "create", "multi", "fill", "miss much", "set", "log alone"] as const),
    ...([
      "open session",
      "create",
      "crash and start one",
      "delete",
      "miss much",
      "close session",
      "log alone",
    ] as const),
  ];
  const acts = kinds.map((kind, i) => ({ kind, a: 7 * i, b: 13 * i }));
  const { startCount, snapCount, truncCount } = await StoredEnsemble.run(acts);
  // The founding, and one for each act that stops a member; the last act is the run's own.
  expect(startCount).toBe(3 + 6);
  expect(snapCount).toBeGreaterThanOrEqual(2);
  expect(truncCount).toBe(2);
});

test("a member without room and an ensemble that is founded on a snapshot serve what the answers promised", async () => {
  const acts: readonly EnsembleAct[] = [
    { kind: "open session", a: 0, b: 0 },
    { kind: "create", a: 0, b: 2 },
    // The leader's log, in one process, then at a crash; then a follower's state.
    { kind: "run out of room", a: 2, b: 0 },
    { kind: "run out of room", a: 2, b: 1 },
    { kind: "run out of room", a: 0, b: 3 },
    { kind: "snapshot and found again", a: 1, b: 0 },
    { kind: "create", a: 1, b: 3 },
    { kind: "export and found again", a: 2, b: 0 },
  ];
  const { fullCount, restoreCount } = await StoredEnsemble.run(acts);
  expect([fullCount, restoreCount]).toEqual([3, 2]);
});
