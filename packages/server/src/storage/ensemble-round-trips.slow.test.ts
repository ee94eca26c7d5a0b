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
