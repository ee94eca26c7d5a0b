import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const READMES = globSync(["packages/*/README.md", "apps/*/README.md"], { cwd: ROOT }).sort();

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
        { cwd: dirname(join(ROOT, file)), input: code, encoding: "utf8", timeout: 30_000 },
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
