import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const READMES = globSync(["packages/*/README.md", "apps/*/README.md"], { cwd: ROOT }).sort();

// Examples leave files where they run. It is inside the repository, so that they find its packages.
let directory = "";
beforeAll(() => {
  const caches = join(ROOT, "node_modules", ".cache");
  mkdirSync(caches, { recursive: true });
  directory = mkdtempSync(join(caches, "readme-examples-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The TypeScript of a README, block by block. */
function examplesOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? "");
}

describe.each(READMES)("%s", (file) => {
  test("runs as it stands", () => {
    for (const code of examplesOf(file)) {
      const { status, stderr } = spawnSync(
        process.execPath,
        ["--conditions=@zooid/source", "--input-type=module-typescript", "--no-warnings"],
        { cwd: directory, input: code, encoding: "utf8", timeout: 30_000 },
      );
      expect([stderr, status]).toEqual(["", 0]);
    }
  });
});

test("every package and application has a README", () => {
  const without = globSync(["packages/*/package.json", "apps/*/package.json"], { cwd: ROOT })
    .map((file) => join(ROOT, dirname(file)))
    .filter((directory) => !existsSync(join(directory, "README.md")));
  expect(without.map((directory) => relative(ROOT, directory))).toEqual([]);
});
