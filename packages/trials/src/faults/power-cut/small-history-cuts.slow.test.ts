import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { breakingEnvironment } from "./break-kinds.ts";
import { SMALL_HISTORY_NAMES } from "./small-histories.ts";
import { recordSmallHistory, tryCuts } from "./small-history-cuts.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cuts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each(SMALL_HISTORY_NAMES)(
  "%s: a power cut after each fourth call leaves a disk that starts with what was promised",
  async (name) => {
    const recorded = await recordSmallHistory(name, folder);
    // The nightly step power-cut-calls takes all of them.
    const options = { cutEvery: 4, recentMax: 1, wholeEvery: 30, faultMax: 3 };
    const found = await tryCuts(recorded, join(folder, "disk"), options);
    expect(found.faults).toEqual([]);
    expect(found.cuts).toBeGreaterThan(5);
    expect(found.disks).toBeGreaterThan(found.cuts / 2);
  },
);

test.each(["synchronous-normal", "no-sync"])("a store that is broken by %s loses what it promised", async (kind) => {
  const recorded = await recordSmallHistory("history", folder, breakingEnvironment(kind));
  const { faults } = await tryCuts(recorded, join(folder, "disk"), { recentMax: 1, wholeEvery: 100, faultMax: 1 });
  expect(faults).toHaveLength(1);
});
