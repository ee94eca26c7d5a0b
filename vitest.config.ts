import { mergeConfig } from "vitest/config";
import { shared } from "./vitest.shared.ts";

/**
 * All packages as one project: with a project for each package, every package starts worker processes of its own, and
 * each loads again what the packages share.
 */
export default mergeConfig(shared, {
  test: {
    include: [
      "packages/*/{src,page/src}/**/*.test.ts",
      "apps/*/src/**/*.test.ts",
      "examples/src/**/*.test.ts",
      "tools/**/*.test.ts",
    ],
  },
});
