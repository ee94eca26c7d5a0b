import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // One less than there are cores is the default: a single one where there are two, though those files that take long mostly wait.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      "packages/*/vitest.config.ts",
      "apps/*/vitest.config.ts",
      "examples/vitest.config.ts",
      "tools/vitest.config.ts",
    ],
  },
});
