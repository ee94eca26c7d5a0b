import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/**
 * docs/hostile-input.md promises a test for each kind of input: this looks whether those are there.
 */
const ROOT = join(import.meta.dirname, "../../../..");
const PLACES = [join(ROOT, "packages/server/src"), ROOT];
const ADMIN_HEADING = "## The admin port";
const ADMIN_FILE = "admin/admin-server.test.ts";

interface Row {
  readonly input: string;
  /** Files, with the beginnings of names that are quoted behind each. */
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

function rowsOf(text: string): readonly Row[] {
  const [clients = "", admin = ""] = text.split(ADMIN_HEADING);
  return [...tableOf(clients, ""), ...tableOf(admin, ADMIN_FILE)];
}

/** @param file where names are that stand behind no file */
function tableOf(text: string, file: string): readonly Row[] {
  // Tables of what a request may cost stand beside those of inputs.
  const inputs = text.split("\n\n").filter((block) => block.includes("| input |"));
  const lines = inputs.flatMap((block) => block.split("\n")).filter((line) => /^\| (?!input \||---)/.test(line));
  return lines.map((line) => {
    const [input = "", , tests = ""] = line.slice(2, -2).split(" | ");
    let at = file;
    const named = [...tests.matchAll(/`([\w./-]+\.ts)`|"([^"]+)"/g)].map(([, path, name = ""]) => {
      at = path ?? at;
      return { file: at, name };
    });
    return { input, tests: named };
  });
}

function exists({ file, name }: Row["tests"][number]): boolean {
  const path = PLACES.map((place) => join(place, file)).find((one) => file !== "" && existsSync(one));
  return path !== undefined && readFileSync(path, "utf8").includes(name);
}

test("every kind of hostile input names a test, and every test that is named exists", () => {
  const rows = rowsOf(readFileSync(join(ROOT, "docs/hostile-input.md"), "utf8"));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  expect(rows.flatMap(({ tests }) => tests).filter((one) => !exists(one))).toEqual([]);
});

const DOCUMENT = readFileSync(join(ROOT, "docs/hostile-input.md"), "utf8");

test("every price names the source that enforces it", () => {
  const prices = DOCUMENT.split("\n\n").find((block) => block.includes("| enforced in |")) ?? "";
  const sources = [...prices.matchAll(/`(\w[\w-]*)\/([\w/-]+\.ts)`/g)].map(
    ([, name, file]) => `packages/${name}/src/${file}`,
  );
  expect(sources.length).toBeGreaterThan(15);
  expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
});

test("every setting that bounds an input is in the table of limits", () => {
  const limits = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const settings = DOCUMENT.matchAll(/`((?:zooid|jute|netty)\.[\w.]+|maxClientCnxns|maxCnxns)`/g);
  const missing = [...settings].filter(([, setting = ""]) => !limits.includes(setting));
  expect(missing.map(([, setting]) => setting)).toEqual([]);
});
