import { expect, test } from "vitest";
import { allMutants, type Mutant } from "./generate.ts";
import { countReach, isReached } from "./reach.ts";

const _MUTANT: Mutant = { file: "a.ts", line: 1, operator: "boolean", start: 20, end: 24, text: "false" };

test("a seed reaches some of the replication and not all of it", async () => {
  const mutants = allMutants().filter(({ file }) => file.startsWith("packages/zab/"));
  const reach = await countReach(mutants, 1, 1);
  const count = mutants.filter((mutant) => isReached(mutant, reach)).length;
  expect(count).toBeGreaterThan(mutants.length / 2);
  expect(count).toBeLessThan(mutants.length);
});
