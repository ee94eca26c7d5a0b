import { describe, expect, test } from "vitest";
import { runScenario, ScenarioFailure } from "./run-scenario.ts";
import { scenarioNames, scenarioTexts } from "./stored-scenarios.ts";

describe("scenarios", () => {
  test.each(scenarioNames("fast"))("%s", (name) => {
    const { written, now } = scenarioTexts(name);
    expect(now).toBe(written);
  });

  test("an expectation that is not met ends the scenario at its line", () => {
    const text = "# Shows that a majority leads.\n\nservers 3\nstart s1 s2\nsettle\nexpect s1 leads\n";
    expect(() => runScenario(text)).toThrow(ScenarioFailure);
    expect(() => runScenario(text)).toThrow('line 6, "expect s1 leads": ');
  });

  test("an unknown command or expectation is an error", () => {
    expect(() => runScenario("elect a president\n")).toThrow("unknown command");
    expect(() => runScenario("expect rain\n")).toThrow("unknown expectation");
  });
});
