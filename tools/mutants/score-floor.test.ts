import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@zooid/simulator/internal/mutants/generate";
import { FLOORS_REACHED, holdFloor, type ScoreFile } from "@zooid/simulator/internal/mutants/score-floor";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-floor-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(content: unknown): string {
  const path = join(folder, "score.json");
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function contentOf(path: string): ScoreFile {
  return JSON.parse(readFileSync(path, "utf8"));
}

test("scores that slide night by night fail as soon as they are below the floor, which stays", () => {
  const path = fileWith({ floor: 80, score: 95 });
  const results = [95, 88, 81, 80, 79.9, 75, 90].map((score) => holdFloor(path, { score }) === undefined);
  expect(results).toEqual([true, true, true, true, false, false, true]);
  expect(contentOf(path)).toEqual({ floor: 80, score: 90 });
});

test("a run that fails leaves the file unchanged, and says what is needed", () => {
  const path = fileWith({ floor: 80, score: 95, sample: 100 });
  expect(holdFloor(path, { score: 79, sample: 3, floor: 10 })).toContain("the score is 79, and at least 80 is needed");
  expect(contentOf(path)).toEqual({ floor: 80, score: 95, sample: 100 });
});

test("the facts of a run are kept, and none of them is the floor", () => {
  const path = fileWith({ floor: 80, score: 95, old: true });
  expect(holdFloor(path, { score: 85, sample: 3, floor: 10 })).toBeUndefined();
  expect(contentOf(path)).toEqual({ floor: 80, score: 85, sample: 3 });
});

test("a score that is no number is below every floor", () => {
  expect(holdFloor(fileWith({ floor: 0, score: 1 }), { score: Number.NaN })).toContain("at least 0");
});

test.each([{}, { floor: "80" }, { floor: null }, { floor: 101 }, { floor: -1 }])("%j has no floor", (content) => {
  expect(() => holdFloor(fileWith(content), { score: 100 })).toThrow("expected a floor from 0 to 100");
});

test("no floor was lowered", () => {
  for (const [file, reached] of Object.entries(FLOORS_REACHED)) {
    const { floor, score } = contentOf(join(ROOT, file));
    expect([file, floor >= reached, score >= floor]).toEqual([file, true, true]);
  }
});
