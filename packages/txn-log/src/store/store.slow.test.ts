import { join } from "node:path";
import { test } from "vitest";
import { leavesWhatWasCompleted } from "../testing/killed-process.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

test.each([2, 3])("a killed process leaves every completed batch and a free directory, run %i", async () => {
  using place = new TemporaryDirectory();
  await leavesWhatWasCompleted(join(place.path, "data"));
});
