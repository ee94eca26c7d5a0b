import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { allMutants, mutantsOf, mutated, ROOT, sampleOf } from "@zooid/simulator/internal/mutants/generate";
import { expect, test } from "vitest";
import { AROUND, partReplacementsOf } from "./surroundings.ts";

/** The texts with a mutation of one of the classes that only the surroundings have. */
function texts(source: string): readonly string[] {
  const of = { replacementsOf: partReplacementsOf };
  return mutantsOf("a.ts", source, of).map((mutant) => mutated(source, mutant));
}

test.each([
  ["if (a && b) c();", ["if (a) c();", "if (b) c();"]],
  ["const x = a || !b;", ["const x = a;", "const x = !b;"]],
  ["const x = a && b && c;", ["const x = a && b;", "const x = c;", "const x = a && c;", "const x = b && c;"]],
  ["const x = a ?? b;", []],
  ["const key = [a, b.c].join();", ["const key = [b.c].join();", "const key = [a].join();"]],
  ['const key = [a, "x", ...c].join(" ");', ["x", "a", "both"]],
  [
    "const key: string = JSON.stringify([a, b as string]);",
    ["const key: string = JSON.stringify([b]);", "const key: string = JSON.stringify([a]);"],
  ],
  ["const key = [a].join();", []],
  ["const both = [a, b];", []],
  ["const text = [a, 'was not found'].join();", []],
  ["const text = JSON.stringify({ a, b });", []],
  ["const parts = join([a, b]);", []],
])("parts are dropped in %s", (source, expected) => {
  const found = texts(source);
  if (expected.includes("both")) {
    expect(found).toEqual([
      'const key = ["x", ...c].join(" ");',
      'const key = [a, ...c].join(" ");',
      'const key = [a, "x"].join(" ");',
    ]);
  } else expect([...found].sort()).toEqual([...expected].sort());
});

test("the mutations of the surroundings have those of each class, and what is left is code", () => {
  const mutants = allMutants(AROUND);
  const counts = Map.groupBy(mutants, ({ operator }) => operator);
  for (const operator of ["operand", "key element", "key part", "await", "wrong neighbour", "condition", "statement"])
    expect([operator, (counts.get(operator)?.length ?? 0) > 10]).toEqual([operator, true]);
  const sample = sampleOf([...(counts.get("operand") ?? []), ...(counts.get("key element") ?? [])], 60, 1);
  for (const mutant of sample) stripTypeScriptTypes(mutated(readFileSync(join(ROOT, mutant.file), "utf8"), mutant));
});
