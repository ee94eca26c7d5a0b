import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isZkError } from "@zooid/client";
import { Mutex, RecipeError } from "@zooid/recipes";
import { describe, expect, test } from "vitest";
import { forSeeds, TestEnsemble } from "./index.ts";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const CACHE = new URL("../../../node_modules/.cache/", import.meta.url).pathname;

function blocksOf(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, code]) => code ?? "");
}

/** The tests that a block declares with `test(name, body)`, as vitest and jest have it. */
function testsOf(code: string): readonly (readonly [string, () => Promise<void>])[] {
  const found: [string, () => Promise<void>][] = [];
  const declare = (name: string, body: () => Promise<void>): void => void found.push([name, body]);
  const names = { test: declare, expect, TestEnsemble, forSeeds, Mutex, RecipeError, isZkError };
  new Function(...Object.keys(names), code)(...Object.values(names));
  return found;
}

describe("the README's tests for vitest and jest", () => {
  test.each(blocksOf("js").flatMap(testsOf))("%s", (_, body) => body());
});

test("the README's test for node:test passes", () => {
  const [code = ""] = blocksOf("ts");
  mkdirSync(CACHE, { recursive: true });
  // Inside of the repository, so that it finds its packages.
  const folder = mkdtempSync(join(CACHE, "node-test-"));
  try {
    const file = join(folder, "lock.test.mjs");
    writeFileSync(file, code);
    const args = ["--conditions=@zooid/source", "--no-warnings", "--test", "--test-reporter=tap", file];
    // Without the variables that a runner sets for its own children.
    const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
    const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: 30_000 });
    expect(stdout).toContain("ok 1 - a lock holder that loses its session");
    expect(status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
