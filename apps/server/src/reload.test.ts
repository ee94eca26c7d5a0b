import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, type ReloadOptions, type ReloadResult } from "@zooid/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Command, parseCommandLine } from "./command-line.ts";
import { reload } from "./reload.ts";

type ServeCommand = Extract<Command, { kind: "serve" }>;

function serve(...argv: string[]): ServeCommand {
  const command = parseCommandLine(argv);
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

let directory: string;
let lines: string[];
let reloads: ReloadOptions[];
let log: Parameters<typeof reload>[3];
let result: ReloadResult;
const server = {
  reload: (options: ReloadOptions = {}): ReloadResult => {
    reloads.push(options);
    return result;
  },
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-reload-"));
  writeFileSync(join(directory, "myid"), "1\n");
  lines = [];
  reloads = [];
  result = { changes: [], certificates: [], problems: [] };
  const note = (text: string): void => void lines.push(text);
  log = { level: "info", info: note, warn: note, error: note };
});

afterEach(() => rmSync(directory, { recursive: true }));

test("log level and four-letter words take effect; other changes are named", () => {
  const next = serve("--log-level", "warn", "--set", "4lw.commands.whitelist=ruok", "--set", "tickTime=700");
  const inForce = reload(server, () => next, serve("--port", "2182"), log);
  expect(log.level).toBe("warn");
  expect(reloads).toEqual([{ fourLetterWords: "ruok" }]);
  expect(lines).toEqual([
    'the configuration is reloaded: the log level is warn, was info; 4lw.commands.whitelist is "ruok", was not set; ' +
      'clientPort is not set, was "2182", from the next start on; ' +
      'tickTime is "700", was not set, from the next start on',
  ]);
  expect(inForce.options).toMatchObject({ port: 2182, fourLetterWords: "ruok" });
});

test("the level of the log comes from the file, where the command line has none", () => {
  const [next, said] = [
    serve("--set", "zooid.logLevel=error"),
    serve("--log-level", "debug", "--set", "zooid.logLevel=error"),
  ];
  reload(server, () => next, serve(), log);
  expect([log.level, said.logLevel]).toEqual(["error", "debug"]);
  expect(lines).toEqual(["the configuration is reloaded: the log level is error, was info"]);
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

const members = (...settings: string[]): ServeCommand => {
  const lines = [1, 2, 3].flatMap((sid) => ["--set", `server.${sid}=127.0.0.1:${sid}:1${sid};218${sid}`]);
  return serve("--data", directory, ...lines, ...settings.flatMap((setting) => ["--set", setting]));
};

test("the links between servers are reloaded, and the line says what changed of them", () => {
  const next = members("portUnification=true", "ssl.quorum.keyStore.location=/k.pem", "initLimit=7");
  result = { changes: ["peers with and without TLS"], certificates: [], problems: [] };
  reload(server, () => next, members(), log);
  expect(reloads).toEqual([{ fourLetterWords: "", ensemble: next.options.ensemble }]);
  expect(lines).toEqual([
    'the configuration is reloaded: portUnification is "true", was not set; ssl.quorum.keyStore.location is "/k.pem", was not set; ' +
      "for new links between servers: peers with and without TLS; " +
      'initLimit is "7", was not set, from the next start on',
  ]);
});

test("a reload that would cut servers off changes nothing", () => {
  const [next, started] = [members("zooid.peerSecretFile=/secret"), members()];
  result = { changes: [], certificates: [], problems: ["it would cut off server 2"] };
  expect(reload(server, () => next, started, log)).toBe(started);
  expect(lines).toEqual(["the configuration is not reloaded: it would cut off server 2"]);
});

test("certificates are named with their dates where those have changed", () => {
  const [before, after] = [1_800_000_000, 1_900_000_000];
  const read = (notAfter: number): void => {
    result = { changes: [], certificates: [{ shownTo: "clients", notAfter, notAfterBefore: before }], problems: [] };
    reload(server, () => serve(), serve(), log);
  };
  read(before);
  read(after);
  expect(lines).toEqual([
    "the configuration is reloaded: certificates are read again",
    "the configuration is reloaded: the certificate that clients see is valid until 2030-03-17 17:46 UTC, was 2027-01-15 08:00 UTC",
  ]);
});

test("what a change of the ensemble wrote into the files waits for no start", () => {
  const started = members("reconfigEnabled=true");
  const next = members("reconfigEnabled=true", "server.1=127.0.0.1:1:11;2191", "server.4=127.0.0.1:4:14;2184");
  reload(server, () => next, started, log);
  expect(lines).toEqual(["the configuration is reloaded: nothing has changed"]);
});

test("values of secrets are not written down, and a setting that waits is named again by the next reload", () => {
  const [started, next] = [serve(), serve("--set", "ssl.keyStore.password=s3cret", "--set", "superUser.ops=ops-name")];
  const inForce = reload(server, () => next, started, log);
  reload(server, () => next, inForce, log);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("ssl.keyStore.password has another value, from the next start on");
  expect(lines[1]).toBe(lines[0]);
  expect(lines.join()).not.toMatch(/s3cret|ops-name/);
});
