import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mutantsOf, ROOT } from "@zooid/simulator/internal/mutants/generate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AROUND } from "./surroundings.ts";
import { inSource, inTurn, judgementOf, readTried, type TriedMutant, triedAs } from "./tried-mutants.ts";

const SOURCE = "export function f(a: number): number {\n  if (a < 1) return 1;\n  return a + 2;\n}\n";
const MUTANTS = mutantsOf("a.ts", SOURCE, AROUND);

function triedOf(name: string, outcome: TriedMutant["outcome"] = "noticed"): TriedMutant {
  return { file: name, operator: "condition", before: "if (a) b();", after: "if (true) b();", outcome };
}

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "zooid-tried-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("each mutation is found again by its lines where others have moved it", () => {
  writeFileSync(join(root, "a.ts"), `// A new line.\n${SOURCE}`);
  for (const mutant of MUTANTS) {
    const found = inSource({ ...triedAs(mutant, SOURCE), outcome: "noticed" }, root, AROUND);
    expect(found).toMatchObject({ operator: mutant.operator, line: mutant.line + 1, text: mutant.text });
  }
});

test("a mutation of lines that stand there twice, or of lines or of a file that are no longer there, is not found", () => {
  writeFileSync(join(root, "c.ts"), "if (a) b();\nif (a) b();\n");
  expect(inSource(triedOf("c.ts"), root, AROUND)).toBeUndefined();
  writeFileSync(join(root, "b.ts"), SOURCE);
  expect(inSource(triedOf("b.ts"), root, AROUND)).toBeUndefined();
  expect(inSource(triedOf("absent.ts"), root, AROUND)).toBeUndefined();
});

test("a judgement is the one of the same lines of the same file", () => {
  const [first, second] = MUTANTS;
  if (first === undefined || second === undefined) throw new Error("two mutations expected");
  const judged: TriedMutant = { ...triedAs(first, SOURCE), outcome: "harmless", why: "it is equal" };
  const noticed: TriedMutant = { ...triedAs(second, SOURCE), outcome: "noticed" };
  expect(judgementOf(first, SOURCE, [judged, noticed])).toBe(judged);
  expect(judgementOf(second, SOURCE, [judged, noticed])).toBeUndefined();
  expect(judgementOf({ ...first, file: "b.ts" }, SOURCE, [judged])).toBeUndefined();
});

describe("mutations in turn", () => {
  const tried = ["a", "b", "x", "c", "d", "e"].map((name) => triedOf(name, name === "x" ? "harmful" : "noticed"));
  const names = (count: number, turn: number): string =>
    inTurn(tried, count, turn)
      .map(({ file }) => file)
      .join("");

  test("are others each turn until all that tests noticed had theirs", () => {
    expect([0, 1, 2, 3].map((turn) => names(2, turn))).toEqual(["ab", "cd", "ea", "bc"]);
  });

  test("are none without an await", () => {
    expect(inTurn([{ ...triedOf("a"), operator: "await" }, triedOf("b")], 2, 0)).toEqual([triedOf("b")]);
  });

  test("are all where there are fewer", () => {
    expect(names(8, 3)).toBe("abcde");
    expect(inTurn([], 8, 3)).toEqual([]);
  });
});

test("each survivor in the list is judged in a sentence", () => {
  for (const { file, before, outcome, why } of readTried(join(ROOT, "tools/mutants/tried-mutants.json"))) {
    expect(["noticed", "harmless", "harmful"]).toContain(outcome);
    expect(why === undefined, `${file}: ${before}`).toBe(outcome === "noticed");
    expect(why).not.toBe("not judged yet");
  }
});
