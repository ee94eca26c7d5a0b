import { ConfigError, type ReloadOptions } from "@zooid/server";
import { beforeEach, expect, test } from "vitest";
import { type Command, parseCommandLine } from "./command-line.ts";
import { reload } from "./reload.ts";

type ServeCommand = Extract<Command, { kind: "serve" }>;

function serve(...argv: string[]): ServeCommand {
  const command = parseCommandLine(argv);
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

let lines: string[];
let reloads: ReloadOptions[];
let log: Parameters<typeof reload>[3];
const server = { reload: (options: ReloadOptions = {}) => void reloads.push(options) };

beforeEach(() => {
  lines = [];
  reloads = [];
  const note = (text: string): void => void lines.push(text);
  log = { level: "info", info: note, warn: note, error: note };
});

test("log level and four-letter words take effect; other changes are named", () => {
  const next = serve("--log-level", "warn", "--set", "4lw.commands.whitelist=ruok", "--set", "tickTime=700");
  const inForce = reload(server, () => next, serve("--port", "2182"), log);
  expect(log.level).toBe("warn");
  expect(reloads).toEqual([{ fourLetterWords: "ruok" }]);
  expect(lines).toEqual([
    "reloaded log level, four-letter words and certificates; changes of port, tickMs take effect at the next start",
  ]);
  expect(inForce.options).toMatchObject({ port: 2182, fourLetterWords: "ruok" });
});

test("a configuration without the list allows no more words than the default", () => {
  reload(server, () => serve(), serve("--set", "4lw.commands.whitelist=*"), log);
  expect(reloads).toEqual([{ fourLetterWords: "" }]);
});

test("a configuration with a mistake changes nothing", () => {
  const started = serve();
  const failing = (): Command => {
    throw new ConfigError(["tickTime is a number, found x"]);
  };
  expect(reload(server, failing, started, log)).toBe(started);
  expect([log.level, reloads]).toEqual(["info", []]);
  expect(lines).toEqual([expect.stringContaining("tickTime is a number, found x")]);
});
