import { join } from "node:path";
import { test } from "vitest";
import { TemporaryDirectory } from "./temporary-directory.ts";
import { leavesWhatWasCompleted } from "./test-killed-process.ts";

test.each([2, 3])("a killed process leaves every completed batch and a free directory, run %i", async () => {
  using place = new TemporaryDirectory();
  await leavesWhatWasCompleted(join(place.path, "data"));
});
