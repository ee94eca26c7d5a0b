/**
 * Remedies of check and doctor are typed as they stand: the commands, pages, log events and
 * settings that they name exist.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMAND_BY_NAME } from "zooid-cli/internal/command-table";
import { COMMANDS } from "zooid-server/internal/configuration/command-line";
import { PROCESS_EVENTS } from "./reference-pages/process-events.ts";
import { settingLines } from "./reference-pages/settings-table.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = globSync("{packages/doctor/src/**,apps/server/src/check,apps/cli/src/doctor}/*.ts", { cwd: ROOT })
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(ROOT, file), "utf8"))
  .join("\n");
/** Strings and templates of one line, without the code in them. */
const SENTENCES = [...SOURCES.matchAll(/(["`])((?:(?!\1)[^\n\\])*)\1/g)]
  .map(([, , text = ""]) => text.replaceAll(/\$\{[^}]*\}/g, "…"))
  .join("\n");

function named(pattern: RegExp): readonly string[] {
  return [...new Set([...SENTENCES.matchAll(pattern)].map(([, name = ""]) => name))];
}

test.each<[string, readonly string[], (name: string) => boolean]>([
  ["commands of zooid-cli", named(/zooid-cli (\w[\w-]*)/g), (name) => COMMAND_BY_NAME.has(name)],
  ["commands of zooid-server", named(/zooid-server (\w[\w-]*)/g), (name) => COMMANDS.has(name)],
  ["pages", named(/(docs\/[\w-]+\.md)/g), (name) => existsSync(join(ROOT, name))],
  ["events of the log", named(/\(([a-z]+(?:-[a-z]+)+)\)/g), (name) => name in PROCESS_EVENTS],
  ["settings", named(/((?:zooid|admin|ssl|jute)\.[\w.]*\w)(?==|\b)/g), isSetting],
])("%s that remedies name exist", (_, names, exists) => {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !exists(name))).toEqual([]);
});

test("settings that are compared between members exist", () => {
  const [, list = ""] = /const SHARED: readonly string\[\] = \[([^\]]*)\]/.exec(SOURCES) ?? [];
  const keys = [...list.matchAll(/"([^"]+)"/g)].map(([, key = ""]) => key);
  expect(keys.length).toBeGreaterThan(5);
  expect(keys.filter((key) => !isSetting(key))).toEqual([]);
});

function isSetting(name: string): boolean {
  return settingLines().some(({ key }) => key === name || (key.endsWith("*") && name.startsWith(key.slice(0, -1))));
}
