import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  allMutants,
  describeMutant,
  mutantsOf,
  mutated,
  REPLICATION,
  ROOT,
  SURROUNDINGS,
  sampleOf,
} from "./generate.ts";

/** The mutations of a text, each as the text with it. */
function mutations(source: string): readonly string[] {
  return mutantsOf("a.ts", source).map((mutant) => mutated(source, mutant));
}

/** An assignment of a text that has two parts. */
function keyOf(first: string, second: string): string {
  return ["k = `$", "{", first, "} $", "{", second, "}`;"].join("");
}

describe("a mutation", () => {
  test.each([
    ["if (a) b();", ["if (false) b();", "if (true) b();", "if (a) ;"]],
    ["const x = a < b;", ["const x = (a) <= (b);"]],
    ["const x = a && !b;", ["const x = (a) || (!b);", "const x = a && (b);"]],
    ["const x: number = a + 1;", ["const x: number = (a) - (1);"]],
    ["const x = true;", ["const x = false;"]],
    ["a += 1;", [";", "a -= 1;"]],
    ["const x = 'n' + b;", []],
    ['assert(a === b, "equal");', []],
    ["throw new Error(a + 1);", []],
  ])("of %s", (source, expected) => {
    expect(mutations(source).map((text) => text.replaceAll(/\(\((.*?)\)\)/g, "($1)"))).toEqual(expected);
  });

  test.each([
    ["await f();", ["(f());", ";"]],
    [keyOf("a", "b"), [";", keyOf('""', "b"), keyOf("a", '""')]],
    ["const x = a.b === c.b;", ["const x = (a.b) !== (c.b);", "const x = a.b === a.b;"]],
    ["const x = a === null;", ["const x = (a) !== (null);"]],
    [`log(\`\${a} has no \${b}\`);`, [";"]],
  ])("around the replication, of %s", (source, expected) => {
    const texts = mutantsOf("a.ts", source, SURROUNDINGS).map((mutant) => mutated(source, mutant));
    expect(texts.sort()).toEqual([...expected].sort());
  });

  test("is described by its place and the lines before and after", () => {
    const source = "function f() {\n  if (a) return;\n}\n";
    const [first] = mutantsOf("a.ts", source);
    if (first === undefined) throw new Error("no mutation");
    expect(describeMutant(first, source)).toBe("a.ts:2 (condition)\n-   if (a) return;\n+   if (false) return;");
  });
});

test("every package is mutated, but for those that test and measure", () => {
  const folders = [...REPLICATION.folders, ...SURROUNDINGS.folders];
  const places = globSync("{packages,apps}/*/src", { cwd: ROOT });
  expect(places.filter((place) => !folders.includes(place)).sort()).toEqual([
    "apps/bench/src",
    ...["conformance", "simulator", "testing", "trials"].map((name) => `packages/${name}/src`),
  ]);
});

describe("the mutations of the replication", () => {
  const mutants = allMutants();

  test("are thousands, in all four packages, and what is left is code", () => {
    const packages = new Set(mutants.map(({ file }) => file.split("/")[1]));
    expect([...packages].sort()).toEqual(["data-tree", "election", "replica", "zab"]);
    expect(mutants.length).toBeGreaterThan(2000);
    for (const mutant of sampleOf(mutants, 60, 1)) {
      stripTypeScriptTypes(mutated(readFileSync(join(ROOT, mutant.file), "utf8"), mutant));
    }
  });

  test("have the same sample for the same seed", () => {
    expect(sampleOf(mutants, 20, 3)).toEqual(sampleOf(mutants, 20, 3));
    expect(sampleOf(mutants, 20, 3)).not.toEqual(sampleOf(mutants, 20, 4));
  });
});
