import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = join(ROOT, "docs/hostile-input.md");
/** Where files lie that the document names without a folder. */
const HOME = "packages/server/src";
const ADMIN = `${HOME}/admin/admin-server.test.ts`;

/** Each name of a test that a table quotes, with the file that is named before it; files alone have an empty name. */
function namedTests(markdown: string): { readonly file: string; readonly name: string }[] {
  const named: { file: string; name: string }[] = [];
  let isAdmin = false;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("## ")) isAdmin = line === "## The admin port";
    if (!line.startsWith("|")) continue;
    const cell = line.split("|").at(-2) ?? "";
    let file = isAdmin ? ADMIN : undefined;
    for (const [, path, name] of cell.matchAll(/`([^`]+\.test\.ts)`|"([^"]+)"/g)) {
      if (path !== undefined) file = /^(packages|apps)\//.test(path) ? path : join(HOME, path);
      if (file !== undefined) named.push({ file, name: name ?? "" });
    }
  }
  return named;
}

test("every test that the threat model names exists", () => {
  const named = namedTests(readFileSync(DOCUMENT, "utf8"));
  expect(named.length).toBeGreaterThan(60);
  const missing = named.filter(({ file, name }) => {
    if (!existsSync(join(ROOT, file))) return true;
    // The name of a test may go on over lines of source, and stand in a table of cases.
    return !readFileSync(join(ROOT, file), "utf8").replaceAll(/\s+/g, " ").includes(name);
  });
  expect(missing.map(({ file, name }) => `${basename(dirname(file))}/${basename(file)}: ${name}`)).toEqual([]);
});

test("every limit that the threat model names is in the table of limits", () => {
  const limits = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const settings = new Set(
    [...readFileSync(DOCUMENT, "utf8").matchAll(/`((?:zooid|jute|netty)\.[\w.]+|maxClientCnxns|maxCnxns)`/g)].map(
      ([, setting]) => setting as string,
    ),
  );
  expect([...settings].filter((setting) => !limits.includes(setting))).toEqual([]);
});
