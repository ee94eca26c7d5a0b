/**
 * Remedies of check and doctor are typed as they stand: the commands, pages, log events and
 * settings that they name exist.
 */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLI, FOUND_BY, MEMBERS } from "@zooid/doctor/testing/spoiled-facts";
import { ConfigError } from "@zooid/embedded-server";
import { parseNamedServer, parseSid } from "@zooid/model/membership";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWords } from "zooid-cli/internal/command";
import { parseCommandLine as parseCliLine } from "zooid-cli/internal/command-line";
import { COMMAND_BY_NAME } from "zooid-cli/internal/command-table";
import { COMMANDS, parseCommandLine } from "zooid-server/internal/configuration/command-line";
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
  ["commands of zooid-server", named(/zooid-server (\w[\w-]*)/g), (name) => COMMANDS.has(name)],
  ["pages", named(/(docs\/[\w-]+\.md)/g), (name) => existsSync(join(ROOT, name))],
  ["events of the log", named(/\(([a-z]+(?:-[a-z]+)+)\)/g), (name) => name in PROCESS_EVENTS],
  ["settings", named(/((?:zooid|admin|ssl|jute)\.[\w.]*\w)(?==|\b)/g), isSetting],
])("%s that remedies name exist", (_, names, exists) => {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !exists(name))).toEqual([]);
});

test("no sentence has a command of zooid-cli in its text: cliCommand repeats the operator's call", () => {
  expect(named(/zooid-cli (\S+)/g)).toEqual([]);
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

describe("each command in a remedy is typed as it stands", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "zooid-remedies-"));
    writeFileSync(join(folder, "zoo.cfg"), `dataDir=${folder}\nclientPort=2181\n`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const commands = Object.entries(FOUND_BY).flatMap(([id, find]) =>
    find().flatMap(({ remedy }) => commandsIn(remedy).map((command) => [id, command] as const)),
  );

  test("there are some of both programs, and a shell would end none of them early", () => {
    const programs = commands.map(([, command]) => command.split(" ", 1).join());
    expect(new Set(programs)).toEqual(new Set(["zooid-cli", "zooid-server"]));
    for (const find of Object.values(FOUND_BY))
      for (const { remedy } of find()) {
        const behind = commandsIn(remedy).map((command) => remedy.split(command)[1] ?? "");
        for (const text of behind) expect(text).toMatch(/^(?:$|[,;] |\))/);
      }
  });

  test.each(commands)("of %s: %s", (_, command) => {
    const [program = "", ...words] = wordsOf(command);
    if (program === "zooid-server")
      expectServerCommand(words.map((word) => word.replace(/^zoo\.cfg$/, join(folder, word))));
    else expectCliCommand(words);
  });

  test("a command with a word too many, an unknown one or no server is found", () => {
    expect(() => expectServerCommand(["check", join(folder, "zoo.cfg"), "measures", "the", "disk"])).toThrow();
    expect(() => expectCliCommand(["-server", CLI.servers, "member", "ad", "4=h:1:2;3"])).toThrow();
    expect(() => expectCliCommand(["-server", CLI.servers, "upgrade", "status", "soon"])).toThrow();
    expect(() => expectCliCommand(["member", "demote", "4"])).toThrow();
  });
});

/** Words of a command end at a comma, a semicolon or a parenthesis outside of quotes. */
function commandsIn(remedy: string): readonly string[] {
  const word = /'[^']*'|[^\s'(),;]+(?:,[^\s'(),;]+)*/.source;
  return remedy.match(new RegExp(`zooid-(?:cli|server)(?: (?:${word}))+`, "g")) ?? [];
}

/** The words that a shell makes of it. */
function wordsOf(command: string): readonly string[] {
  const script = `zooid-cli() { printf '%s\\n' zooid-cli "$@"; }; zooid-server() { printf '%s\\n' zooid-server "$@"; }; ${command}`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
}

function expectServerCommand(words: readonly string[]): void {
  const command = parseCommandLine(words);
  expect(command.kind).not.toBe("serve");
  if (command.kind === "check") expect(command.server).not.toBeInstanceOf(ConfigError);
}

function expectCliCommand(words: readonly string[]): void {
  const { server, configurationFile, command: [name = "", ...rest] = [] } = parseCliLine(words);
  expect([CLI.servers, ...MEMBERS.map(({ address }) => address)]).toContain(server);
  expect(configurationFile).toBe("my tls.cfg");
  const command = COMMAND_BY_NAME.get(name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const { operands, flags } = readWords(command, rest);
  if (name !== "member") return;
  const [verb = "", named = ""] = operands;
  if (verb === "add") parseNamedServer(named);
  else parseSid(named);
  expect(["add", "demote", "promote", "remove", "replace"]).toContain(verb);
  if (verb === "replace") parseNamedServer(flags.value("with") ?? "");
}
