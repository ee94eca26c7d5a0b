import { expect, test } from "vitest";
import { scenarioNames, scenarioTexts } from "./stored-scenarios.ts";

test.each(scenarioNames("slow"))("%s", (name) => {
  const { written, now } = scenarioTexts(name);
  expect(now).toBe(written);
});
