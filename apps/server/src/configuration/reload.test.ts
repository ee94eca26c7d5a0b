import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, type ReloadMode, type ReloadResult, type ServerOptions } from "@zooid/embedded-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processLog } from "../logs/logger.ts";
import { type Command, parseCommandLine, type ServeCommand } from "./command-line.ts";
import type { KeyRule } from "./keys/key-rule.ts";
import { KEY_RULES } from "./keys/known-keys.ts";
import { isReloaded, type ReloadOutcome, type ReloadRequest, reload } from "./reload.ts";

function serve(...argv: string[]): ServeCommand {
  const command = parseCommandLine(argv);
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

let directory: string;
let lines: string[];
let reloads: (ServerOptions | undefined)[];
let audits: string[];
let log: ReturnType<typeof processLog>;
let result: ReloadResult;
const NOTHING: ReloadResult = { changes: [], certificates: [], notices: [], problems: [] };
const server = {
  reload: (options?: ServerOptions, { isDryRun = false }: ReloadMode = {}): ReloadResult => {
    if (!isDryRun) reloads.push(options);
    return result;
  },
};
/** It notes what becomes of each file. */
const audit = {
  check: (file: string | undefined): void => void audits.push(`check ${file}`),
  prepare: (file: string | undefined) => ({
    apply: () => void audits.push(`apply ${file}`),
    drop: () => void audits.push(`drop ${file}`),
  }),
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-reload-"));
  writeFileSync(join(directory, "myid"), "1\n");
  lines = [];
  reloads = [];
  audits = [];
  result = NOTHING;
  const write = (line: string): void => void lines.push((JSON.parse(line) as { readonly msg: string }).msg);
  log = processLog("info", { write });
});

afterEach(() => rmSync(directory, { recursive: true }));

const ask = (next: () => Command, started: ServeCommand, request?: ReloadRequest): ReloadOutcome =>
  reload({ server, read: next, optionsOf: ({ options }) => options, audit, log }, started, request);
const run = (next: () => Command, started: ServeCommand): ServeCommand => ask(next, started).inForce;

test("log level and four-letter words take effect; other changes are named", () => {
  const next = serve("--log-level", "warn", "--set", "4lw.commands.whitelist=ruok", "--set", "tickTime=700");
  const inForce = run(() => next, serve("--port", "2182"));
  expect(log.level).toBe("warn");
  expect(reloads).toEqual([{ ...next.options, fourLetterWords: "ruok" }]);
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
  run(() => next, serve());
  expect([log.level, said.logLevel]).toEqual(["error", "debug"]);
  expect(lines).toEqual(["the configuration is reloaded: the log level is error, was info"]);
});

test("a level that --log-level keeps from taking effect is a change, too", () => {
  const [started, next] = [serve("--log-level", "info"), serve("--log-level", "info", "--set", "zooid.logLevel=error")];
  run(() => next, started);
  expect(lines).toEqual([
    'the configuration is reloaded: zooid.logLevel is "error", was not set, and --log-level info wins',
  ]);
});

test.each(["warn", "error"] as const)("the answer is written at the level %s, too", (level) => {
  log.level = level;
  const [started, next] = [serve("--log-level", level), serve("--log-level", level, "--set", "tickTime=700")];
  run(() => next, started);
  run(() => started, started);
  expect(lines).toEqual([
    'the configuration is reloaded: tickTime is "700", was not set, from the next start on',
    "the configuration is reloaded: nothing has changed",
  ]);
  expect(log.level).toBe(level);
});

test("a configuration without the list allows no more words than the default", () => {
  run(() => serve(), serve("--set", "4lw.commands.whitelist=*"));
  expect(reloads).toEqual([expect.objectContaining({ fourLetterWords: "" })]);
});

test("a configuration with mistakes changes nothing, and each is named on a line that has no escapes", () => {
  const started = serve();
  const failing = (): Command => {
    throw new ConfigError(["tickTime is a number, found x", "clientPort is a port"]);
  };
  expect(run(failing, started)).toBe(started);
  expect([log.level, reloads]).toEqual(["info", []]);
  expect(lines).toEqual(["the configuration is not reloaded: tickTime is a number, found x; clientPort is a port"]);
});

test("what the server refuses names the line and the file", () => {
  const file = join(directory, "zoo.cfg");
  writeFileSync(file, `dataDir=${directory}\ntickTime=-5\n`);
  result = { ...NOTHING, problems: ["tickTime is a whole number from 1 to 9, found -5"] };
  run(() => serve(file), serve());
  expect(lines).toEqual([
    `the configuration is not reloaded: ${file}: tickTime (line 2) is a whole number from 1 to 9, found -5`,
  ]);
});

test("an answer of any length is written whole, on several lines", () => {
  const settings = Array.from({ length: 150 }, (_, i) => ["--set", `server.${i}=host-${i}:2888:3888`]);
  run(() => serve(...settings.flat(), "--data", directory, "--set", "zooid.allowUnauthenticatedPeers=true"), serve());
  const answers = lines.filter((line) => !line.includes("servers with a vote"));
  expect(answers.length).toBeGreaterThan(1);
  for (const line of answers) expect(line).toMatch(/^the configuration is reloaded: .{0,1980}$/);
  for (let i = 0; i < 150; i++) expect(lines.join("\n")).toContain(`server.${i} is "host-${i}:2888:3888"`);
});

test("warnings that a start would write are written once", () => {
  result = { ...NOTHING, notices: ["4lw.commands.whitelist has foo"] };
  const next = serve("--set", "snapCount=5");
  let inForce = serve();
  for (let reloads = 0; reloads < 2; reloads++) {
    inForce = run(() => next, inForce);
    expect(lines.filter((line) => line.includes("snapCount (--set) has no effect"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("whitelist has foo"))).toHaveLength(1);
  }
});

const members = (...settings: string[]): ServeCommand => {
  const lines = [1, 2, 3].flatMap((sid) => ["--set", `server.${sid}=127.0.0.1:${sid}:1${sid};218${sid}`]);
  return serve("--data", directory, ...lines, ...settings.flatMap((setting) => ["--set", setting]));
};

test("the links between servers are reloaded, and the line says what changed of them", () => {
  const next = members("portUnification=true", "ssl.quorum.keyStore.location=/k.pem", "initLimit=7");
  result = { ...NOTHING, changes: ["peers with and without TLS"] };
  run(() => next, members());
  expect(reloads).toEqual([expect.objectContaining({ ensemble: next.options.ensemble })]);
  expect(lines).toEqual([
    'the configuration is reloaded: portUnification is "true", was not set; ssl.quorum.keyStore.location is "/k.pem", was not set; ' +
      "for new links between servers: peers with and without TLS; " +
      'initLimit is "7", was not set, from the next start on',
  ]);
});

test("a single server has no links, and its admin port the certificates of them", () => {
  const setting = ["--set", "ssl.quorum.keyStore.location=/k.pem"];
  run(() => serve(...setting), serve());
  const https = ["--set", "admin.forceHttps=true"];
  run(() => serve(...setting, ...https), serve(...https));
  expect(lines).toEqual([
    'the configuration is reloaded: ssl.quorum.keyStore.location is "/k.pem", was not set, without effect on a single server',
    'the configuration is reloaded: ssl.quorum.keyStore.location is "/k.pem", was not set',
  ]);
});

test("a reload that would cut servers off changes nothing", () => {
  const [next, started] = [members("zooid.peerSecretFile=/secret"), members()];
  result = { ...NOTHING, problems: ["it would cut off server 2"] };
  expect(run(() => next, started)).toBe(started);
  expect(lines).toEqual(["the configuration is not reloaded: it would cut off server 2"]);
});

test("certificates are named with their dates where those have changed", () => {
  const [before, after] = [1_800_000_000, 1_900_000_000];
  const read = (notAfter: number): void => {
    result = { ...NOTHING, certificates: [{ shownTo: "clients", notAfter, notAfterBefore: before }] };
    run(() => serve(), serve());
  };
  read(before);
  read(after);
  expect(lines).toEqual([
    "the configuration is reloaded: the certificates that clients see are read again",
    "the configuration is reloaded: the certificate that clients see is valid until 2030-03-17 17:46 UTC, was 2027-01-15 08:00 UTC",
  ]);
});

test("what is written into the files where the ensemble decides waits for no start, and is named", () => {
  const started = members("reconfigEnabled=true");
  const next = members("reconfigEnabled=true", "server.4=127.0.0.1:4:14;2184");
  run(() => next, started);
  expect(lines.slice(0, 1)).toEqual([
    'the configuration is reloaded: server.4 is "127.0.0.1:4:14;2184", was not set, and the ensemble\'s configuration in force decides',
  ]);
});

test("another myid waits for the next start", () => {
  const started = members();
  writeFileSync(join(directory, "myid"), "2\n");
  run(() => members(), started);
  expect(lines).toEqual(["the configuration is reloaded: myid is 2, was 1, from the next start on"]);
});

test("limits take effect, and a dry run says so and changes nothing", () => {
  const settings = ["--set", "maxClientCnxns=5", "--set", "zooid.log.retainMs=1000", "--set", "jute.maxbuffer=2000000"];
  const ignored = ["--set", "snapCount=5"];
  const [started, next] = [serve(), serve("--log-level", "warn", ...settings, ...ignored)];
  const expected = {
    problems: [],
    changed: [
      "the log level is warn, was info",
      'maxClientCnxns is "5", was not set',
      'zooid.log.retainMs is "1000", was not set',
    ],
    notApplied: [
      'jute.maxbuffer is "2000000", was not set, from the next start on',
      'snapCount is "5", was not set, from the next start on',
    ],
    warnings: [expect.stringContaining("snapCount (--set) has no effect")],
  };
  const dry = ask(() => next, started, { isDryRun: true });
  expect([dry, reloads, lines, log.level]).toEqual([{ inForce: started, answer: expected }, [], [], "info"]);
  const { answer, inForce } = ask(() => next, started, { address: "10.0.0.1" });
  expect([answer, log.level]).toEqual([expected, "warn"]);
  expect(lines).toEqual([
    `the configuration is reloaded, as an operator at 10.0.0.1 asked: ${[...expected.changed, ...expected.notApplied].join("; ")}`,
    ...answer.warnings,
  ]);
  expect([...inForce.values.keys()].sort()).toEqual(["maxClientCnxns", "zooid.log.retainMs"]);
});

test("history and backup change while a history is kept, and begin and end at a start", () => {
  const keeping = (retainMs: number, ...more: string[]): ServeCommand =>
    serve("--data", directory, ...[`zooid.history.retainMs=${retainMs}`, ...more].flatMap((each) => ["--set", each]));
  const target = `zooid.backup.target=${directory}`;
  const changes = (next: ServeCommand, started: ServeCommand): readonly (readonly string[])[] => {
    const { changed, notApplied } = ask(() => next, started).answer;
    return [changed, notApplied];
  };
  expect(changes(keeping(7, target, "zooid.history.fileMs=100"), keeping(5))).toEqual([
    [
      'zooid.history.retainMs is "7", was "5"',
      `zooid.backup.target is "${directory}", was not set`,
      'zooid.history.fileMs is "100", was not set',
    ],
    [],
  ]);
  expect(changes(keeping(7, target), serve("--data", directory))).toEqual([
    [],
    [
      'zooid.history.retainMs is "7", was not set, from the next start on',
      `zooid.backup.target is "${directory}", was not set, from the next start on`,
    ],
  ]);
  expect(changes(serve("--data", directory), keeping(7))).toEqual([
    [],
    ['zooid.history.retainMs is not set, was "7", from the next start on'],
  ]);
});

test("mistakes are the answer, and a dry run leaves them out of the log", () => {
  result = { ...NOTHING, problems: ["maxCnxns is a whole number from 0 to 9, found -1"] };
  const next = serve("--set", "maxCnxns=-1");
  for (const isDryRun of [true, false]) {
    const { answer } = ask(() => next, serve(), { isDryRun, address: "10.0.0.1" });
    expect(answer).toEqual({
      problems: ["maxCnxns (--set) is a whole number from 0 to 9, found -1"],
      changed: [],
      notApplied: [],
      warnings: [],
    });
  }
  expect(lines).toEqual([
    "the configuration is not reloaded, as an operator at 10.0.0.1 asked: maxCnxns (--set) is a whole number from 0 to 9, found -1",
  ]);
});

test("another file becomes the audit log with everything else, or with nothing", () => {
  const next = serve("--data", directory, "--set", "audit.enable=true", "--set", "zooid.audit.file=/logs/audit");
  ask(() => next, serve(), { isDryRun: true });
  result = { ...NOTHING, problems: ["it would cut off server 2"] };
  run(() => next, serve());
  result = NOTHING;
  expect(run(() => next, serve()).auditFile).toBe("/logs/audit");
  run(() => serve(), next);
  expect(audits).toEqual(["check /logs/audit", "drop /logs/audit", "apply /logs/audit", "apply undefined"]);
});

describe("values of secrets, and of keys that may hold one, are not written down, but what has become of them:", () => {
  const SECRETS = [
    ["ssl.keyStore.password", ""],
    ["superUser.ops", ""],
    ["DigestAuthenticationProvider.superDigest", "super:"],
    ["keystore.passwd", ""],
    ["some.other.key", ""],
    ["metricsProvider.ssl.keyStore.password", ""],
  ] as const;
  const CHANGES = [
    [undefined, "s3cret", "is set"],
    ["s3cret", "s3cret-of-today", "has another value"],
    ["s3cret", undefined, "is not set any more"],
  ] as const;

  test.each(
    SECRETS.flatMap(([key, head]) => CHANGES.map(([was, is, sentence]) => [key, sentence, { head, was, is }] as const)),
  )("%s %s", (key, sentence, { head, was, is }) => {
    const file = join(directory, "zoo.cfg");
    const write = (value: string | undefined): void =>
      writeFileSync(file, `dataDir=${directory}\n${value === undefined ? "" : `${key}=${head}${value}\n`}`);
    write(was);
    const started = serve(file);
    write(is);
    const next = serve(file);
    const inForce = run(() => next, started);
    run(() => next, inForce);
    const answers = lines.filter((line) => line.startsWith("the configuration is reloaded"));
    // A setting that waits is named again.
    expect(answers).toEqual(Array(2).fill(`the configuration is reloaded: ${key} ${sentence}, from the next start on`));
    expect(lines.join()).not.toContain("s3cret");
  });
});

describe("a key is applied by a reload if the option that it sets is one of the server's that can change:", () => {
  const OF_LINKS = [
    "peerSecretFile",
    "peerSecretMode",
    "peerTls",
    "portUnification",
    "allowUnauthenticatedPeers",
    "sslQuorum",
    "reloadPeerStores",
    "hostnameVerification",
    "clientHostnameVerification",
  ];
  /** Options of the server that `reload` changes, see `LiveSettings`. */
  const CHANGEABLE: ReadonlySet<string> = new Set([
    "fourLetterWords",
    "connectionsPerAddressMax",
    "connectionsMax",
    "connectionThrottle",
    "sessionTimeoutMsMin",
    "sessionTimeoutMsMax",
    "enforceQuota",
    "heldBytesMax",
    "multiPartsMax",
    "childrenBytesMax",
    "watchBytesMax",
    "slowRequestMs",
    "fsyncWarnMs",
    "retention",
    "history",
    "backup",
    "disk",
    "auth.failureDelayMsMax",
  ]);
  const SAMPLES = ["7", "true", "/file", "offer", "text"];

  function isOptionChangeable(key: string, rule: KeyRule): boolean {
    if (rule.kind === "ensemble") {
      const limits = {};
      SAMPLES.find((sample) => rule.set(limits, sample) === undefined);
      return Object.keys(limits).every((name) => OF_LINKS.includes(name)) && Object.keys(limits).length > 0;
    }
    if (rule.kind === "audit") return true;
    if (rule.kind !== "honoured") return false;
    const options: ServerOptions = {};
    SAMPLES.find((sample) => rule.set(options, sample, key) === undefined);
    const names = Object.entries(options).flatMap(([name, value]) =>
      CHANGEABLE.has(name) || typeof value !== "object" ? [name] : Object.keys(value).map((each) => `${name}.${each}`),
    );
    // The stores of links between servers are those of the admin port.
    return names.length > 0 && names.every((name) => CHANGEABLE.has(name) || name.startsWith("admin.tls"));
  }

  const KINDS: ReadonlySet<KeyRule["kind"]> = new Set(["honoured", "ensemble", "console"]);

  test.each([...KEY_RULES].filter(([, { kind }]) => KINDS.has(kind)))("%s", (key, rule) => {
    expect(isReloaded(key)).toBe(isOptionChangeable(key, rule) || key === "zooid.logLevel");
  });
});
