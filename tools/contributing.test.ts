import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GUIDE = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
const PATH = /(?<![\w./@])(?:packages|apps|tools|docs|examples)\/[\w./-]+[\w]/g;
/** Files that a command makes, and a name to be replaced. */
const BUILT = /\/dist\/|PACKAGE|^docs\/(?:api|site)$/;

test("every file and folder that the contributors' guide names exists", () => {
  const named = [...new Set(GUIDE.match(PATH))].filter((path) => !BUILT.test(path));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every script that the contributors' guide runs is one of the root's, or of the package that it names", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const run = [...GUIDE.matchAll(/npm run ([\w:-]+)(?![\w:-]| -w )/g)].map(([, name]) => name);
  expect(run.filter((name) => !Object.hasOwn(scripts, name ?? ""))).toEqual([]);
  for (const [, name = "", place = ""] of GUIDE.matchAll(/npm run ([\w:-]+) -w ([\w/-]+)/g)) {
    const manifest = JSON.parse(readFileSync(join(ROOT, place, "package.json"), "utf8")) as { scripts: object };
    expect(Object.hasOwn(manifest.scripts, name)).toBe(true);
  }
});
