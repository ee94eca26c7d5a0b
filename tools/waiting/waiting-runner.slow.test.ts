import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const CONFIG = join(import.meta.dirname, "testing/vitest.config.ts");

test("a test that waits for what never comes fails with the reason, long before a test's time limit of a minute", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [VITEST, "run", "--config", CONFIG], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", WAIT_LIMIT_MS: "500" },
  });
  const output = stdout + stderr;
  expect(status).toBe(1);
  expect(output.match(/the test takes \d+ s, and what it waits for has not come/g)).toHaveLength(3);
  expect(output).toMatch(/once "close" of EventEmitter at \S*\/never-comes\.ts:5\n/);
  expect(output).toMatch(/expect\.poll at \S*\/never-comes\.ts:10, last seen 3\n/);
  expect(output).toContain("it waits for a promise that it does not name");
}, 120_000);
