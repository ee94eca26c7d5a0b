import { defineConfig, type ViteUserConfig } from "vitest/config";

/** What every package's tests share: sources run as they are, through the `@zooid/source` condition. */
export const shared: ViteUserConfig = defineConfig({
  ssr: { resolve: { conditions: ["@zooid/source", "module", "node", "development|production"] } },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts"],
    execArgv: ["--conditions=@zooid/source"],
    testTimeout: 60_000,
  },
});
