import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

// Tests start hundreds of threads and processes: compiled code that is kept between them halves what each start costs.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url));

/** The configuration of each package's tests. Node.js runs the sources as they are, through the `@zooid/source` condition. */
export const shared: ViteUserConfig = defineConfig({
  test: {
    environment: "node",
    include: ["src/**/*.test.ts"],
    execArgv: ["--conditions=@zooid/source"],
    // Ends a wait after 5 s in which the machine could have brought it; these limits are for a busy machine.
    runner: fileURLToPath(new URL("tools/waiting/waiting-runner.ts", import.meta.url)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One second by default: too short on a machine with much load.
    expect: { poll: { timeout: 30_000 } },
    // Test files that run one after the other in a process share its modules, and so no module keeps state that a test changes.
    isolate: false,
    // One more than there are cores: files that take long mostly wait, for disks, threads and processes.
    maxWorkers: availableParallelism() + 1,
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});

export default shared;
