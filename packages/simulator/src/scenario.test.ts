import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runScenario, ScenarioFailure } from "./scenario.ts";

const directory = join(import.meta.dirname, "../scenarios");
/** `UPDATE=1` writes the transcripts down as they are now, to be reviewed as a diff. */
const isUpdating = process.env["UPDATE"] === "1";

describe("scenarios", () => {
  const names = readdirSync(directory).filter((name) => name.endsWith(".txt"));

  test.each(names)("%s", (name) => {
    const path = join(directory, name);
    const text = readFileSync(path, "utf8");
    const now = runScenario(text);
    if (isUpdating) writeFileSync(path, now);
    else expect(now).toBe(text);
  });

  test("an expectation that is not met ends the scenario at its line", () => {
    const text = "# Shows that a majority leads.\n\nservers 3\nstart s1 s2\nsettle\nexpect s1 leads\n";
    expect(() => runScenario(text)).toThrow(ScenarioFailure);
    expect(() => runScenario(text)).toThrow('line 6, "expect s1 leads": ');
  });

  test("a command or an expectation that nobody knows is an error", () => {
    expect(() => runScenario("elect a president\n")).toThrow("nothing is known of the command");
    expect(() => runScenario("expect rain\n")).toThrow("nothing is known of the expectation");
  });
});
