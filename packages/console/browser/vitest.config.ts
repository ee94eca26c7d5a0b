import { defineConfig } from "vitest/config";
import { shared } from "../../../vitest.shared.ts";

/** Tests in a real browser: a step of its own, since they need Chromium. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    name: "console-browser",
    include: ["browser/**/*.browser.ts"],
    // One browser at a time: its pages wait for each other anyway.
    maxWorkers: 1,
    testTimeout: 120_000,
  },
});
