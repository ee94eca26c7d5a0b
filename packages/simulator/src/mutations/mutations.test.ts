import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../scenarios/scenario-file.ts";
import { fileOfMarker, findMarkers, mutatedFiles } from "./mutate-source.ts";
import { BROKEN_CODE, tryMutation } from "./mutation-table.ts";
import { MUTATIONS } from "./mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");
const SCENARIOS = join(import.meta.dirname, "..", "..", "scenarios");

const mutations = [
  ...MUTATIONS.map((mutation) => [mutation.name, mutation] as const),
  ...readdirSync(SCENARIOS)
    .filter((file) => file.endsWith(".txt"))
    .flatMap((file) =>
      parseScenario(readFileSync(join(SCENARIOS, file), "utf8")).mutations.map(
        (mutation) => [`${file}: ${mutation.name}`, mutation] as const,
      ),
    ),
];

const markers = findMarkers(ROOT);

test.each(mutations)("%s changes the source, and what is left is code", (_, mutation) => {
  for (const [file, text] of mutatedFiles(mutation, ROOT, markers)) {
    expect(text).not.toBe(readFileSync(join(ROOT, file), "utf8"));
    stripTypeScriptTypes(text);
  }
});

describe("markers", () => {
  test.each([...markers.keys()])("%s marks one statement", (marker) => {
    expect(fileOfMarker(marker, markers)).toMatch(/^packages\/[a-z-]+\/src\//);
  });

  test("each is named by a mutation or a scenario", () => {
    const named = new Set(mutations.flatMap(([, { edits }]) => edits.map(({ marker }) => marker)));
    expect([...markers.keys()].filter((marker) => !named.has(marker))).toEqual([]);
  });
});

test("code that names what is not there does not count as noticed, a rule that is broken does", () => {
  expect(BROKEN_CODE.test("seed 3: core: server 1 threw: ReferenceError: learner is not defined")).toBe(true);
  expect(BROKEN_CODE.test("seed 3: core: server 1 threw: TypeError: log.append is not a function")).toBe(true);
  expect(BROKEN_CODE.test("seed 3: core: server 5 threw: InvariantError: entry 34359738401 is not held")).toBe(false);
});

test("a rule that is taken out is noticed", () => {
  expect(tryMutation("ack-before-sync", 20, 1)).toBeDefined();
});
