import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runWithoutRule } from "./run-without-rule.ts";
import { parseScenario } from "./scenario-file.ts";

const directory = join(import.meta.dirname, "../../scenarios");
const cases = readdirSync(directory)
  .filter((name) => name.endsWith(".txt"))
  .flatMap((name) =>
    parseScenario(readFileSync(join(directory, name), "utf8")).mutations.map((mutation, i) => ({
      scenario: name.replace(/\.txt$/, ""),
      rule: mutation.name,
      i,
    })),
  );

describe("a rule that is taken out of the source is missed", () => {
  // Two at a time: each has a process of its own.
  test.concurrent.each(cases)("$scenario without $rule", async ({ scenario, i }) => {
    const { isNoticed, text } = await runWithoutRule(join(directory, `${scenario}.txt`), i);
    expect(isNoticed, text).toBe(true);
  });
});
