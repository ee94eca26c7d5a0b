import { resolve } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { type ConfigFile, parseConfigFile } from "../configuration/config-file.ts";
import { type OfflineCommand, parseOfflineCommand } from "./offline-command.ts";

const FILE = "dataDir=/data\ndataLogDir=/log\nserver.1=a:1:2;3\nserver.2=b:1:2:observer\n";
const MEMBER = "2=zk-2:2888:3888;2181";

function parse(...argv: readonly string[]): OfflineCommand | undefined {
  const readFile = (file: string): ConfigFile => {
    if (file !== "zoo.cfg") throw new ConfigError([`cannot read ${file}`]);
    return parseConfigFile(FILE, () => "");
  };
  return parseOfflineCommand(argv, readFile);
}

function problemsOf(...argv: readonly string[]): readonly string[] {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("recover takes a data directory, the member that it becomes, and a confirmation", () => {
  expect(parse("recover", "--data", "d", "--as-member", MEMBER, "--confirm", "id")).toMatchObject({
    kind: "recover",
    directories: [{ dataDir: resolve("d") }],
    member: {
      sid: 2,
      host: "zk-2",
      quorumPort: 2888,
      electionPort: 3888,
      isObserver: false,
      clientAddress: { port: 2181 },
    },
    isPlan: false,
    confirmed: "id",
    takesDamaged: false,
    listed: [],
  });
  expect(parse("recover", "--data", "d", "--as-member", `server.${MEMBER}`, "--force")).toMatchObject({
    member: { sid: 2 },
    takesDamaged: true,
    confirmed: undefined,
  });
});

test("a zoo.cfg names the directories and the members, and --data another directory", () => {
  const command = parse("recover", "zoo.cfg", "--plan");
  expect(command).toMatchObject({ directories: [{ dataDir: "/data", logDir: "/log" }], isPlan: true });
  expect(command?.kind === "recover" ? command.listed : []).toMatchObject([
    { sid: 1, host: "a", clientAddress: { port: 3 } },
    { sid: 2, host: "b", isObserver: true, clientAddress: undefined },
  ]);
  const other = parse("recover", "zoo.cfg", "--data", "/other", "--plan");
  expect(other).toMatchObject({ directories: [{ dataDir: "/other", logDir: undefined }] });
  expect(parse("snapshot", "zoo.cfg", "--log", "/l", "--out", "o")).toEqual({
    kind: "snapshot",
    directories: { dataDir: "/data", logDir: "/l" },
    out: resolve("o"),
    takesDamaged: false,
  });
});

test("a plan takes several directories", () => {
  expect(parse("recover", "--plan", "--data", "/a", "--data", "/b")).toMatchObject({
    directories: [{ dataDir: "/a" }, { dataDir: "/b" }],
  });
});

test.each<[string, readonly string[], string]>([
  ["no directory", ["recover", "--as-member", MEMBER], "--data names the data directory"],
  ["no member", ["recover", "--data", "d"], "recover takes --as-member"],
  ["several directories", ["recover", "--data", "a", "--data", "b", "--as-member", MEMBER], "are for --plan"],
  ["a log directory for several", ["recover", "--plan", "--data", "a", "--data", "b", "--log", "l"], "without --log"],
  ["a member without ports", ["recover", "--data", "d", "--as-member", "2=zk-2"], "server.2 is of the form"],
  ["a member without a number", ["recover", "--data", "d", "--as-member", "zk-2:1:2"], "--as-member takes N="],
  ["an observer", ["recover", "--data", "d", "--as-member", "2=b:1:2:observer"], "an observer alone is no ensemble"],
  ["a port for two uses", ["recover", "--data", "d", "--as-member", "2=b:1:1;2"], "it has a port twice: 1, 1, 2"],
  ["a client port in use", ["recover", "--data", "d", "--as-member", "2=b:1:2;b:2"], "it has a port twice: 1, 2, 2"],
  ["a number that is too large", ["recover", "--data", "d", "--as-member", "300=b:1:2"], "0 to 254, found 300"],
  ["two members", ["recover", "--data", "d", "--as-member", MEMBER, "--as-member", "3=b:1:2"], "is given twice: 2="],
  ["two files", ["recover", "zoo.cfg", "more.cfg", "--plan"], "recover takes one zoo.cfg"],
  ["an unknown option", ["recover", "--datta", "d"], "unknown option --datta; the nearest is --data"],
  ["an unknown option of snapshot", ["snapshot", "--data", "d", "--as-member", MEMBER], "unknown option --as-member"],
  ["no file to inspect", ["inspect", "--verify"], "inspect takes files of a history"],
  ["values without changes", ["inspect", "f", "--data"], "--data shows the values of --entries"],
  ["a comparison of nothing", ["inspect", "--diff"], "--diff takes two states, found none"],
  ["a comparison of one", ["inspect", "--diff", "a"], "--diff takes two states, found a"],
  ["a comparison of three", ["inspect", "--diff", "a", "b", "c"], "--diff takes two states, found a, b, c"],
  [
    "a comparison at a zxid that is none",
    ["inspect", "--diff", "a@0xzz", "b"],
    "the moment behind @ takes a zxid like",
  ],
  ["a comparison with changes", ["inspect", "--diff", "a", "b", "--entries"], "--diff compares whole states"],
  ["an unknown option of inspect", ["inspect", "f", "--entris"], "the nearest is --entries"],
  ["no archive", ["restore", "--data", "d"], "--from names a data directory that has a history"],
  [
    "a confirmation without a member",
    ["restore", "--from", "a", "--data", "d", "--confirm", "1"],
    "go with --as-member",
  ],
  ["no place for what is restored", ["restore", "--from", "a"], "--data names the directory that gets the data"],
  ["a moment that is none", ["restore", "--from", "a", "--data", "d", "--to", "yesterday"], "--to takes a zxid like"],
  ["a day without a time", ["restore", "--from", "a", "--data", "d", "--to", "2026-05-31"], "--to takes a zxid like"],
  ["nothing to import", ["import", "--data", "d"], "--apache names the data directory of the stopped Apache server"],
  ["no place for what is imported", ["import", "--apache", "a"], "--data names the directory that gets the data"],
  ["a word to import", ["import", "a", "--data", "d"], "import takes options alone, found a"],
  ["a member of the import without ports", ["import", "--as-member", "2=b"], "server.2 is of the form"],
  ["logs of one of two servers", ["import", "--apache", "a,b", "--apache-log", "c"], "expected 2, found 1"],
  ["a directory twice", ["import", "--apache", "a,./a", "--plan"], `--apache names ${resolve("a")} twice`],
  ["no directory behind a comma", ["import", "--apache", "a,", "--plan"], "found an empty one"],
  [
    "neither keep nor drop",
    ["import", "--apache", "a", "--sessions", "yes"],
    "--sessions takes keep or drop, found yes",
  ],
  ["an unknown option of import", ["import", "--apach", "a"], "the nearest is --apache"],
  ["no place for an export", ["export", "--data", "d"], "--apache names the directory that gets the data"],
  [
    "nothing to export",
    ["export", "--apache", "a"],
    "--data names the data directory of the stopped server, or --from",
  ],
  ["two sources", ["export", "--apache", "a", "--data", "d", "--from", "f"], "give one"],
  ["a moment of a data directory", ["export", "--apache", "a", "--data", "d", "--to", "0x1"], "--to goes with --from"],
  ["a log of a history", ["export", "--apache", "a", "--from", "f", "--log", "l"], "--log and --force go with --data"],
  ["a moment of an export that is none", ["export", "--from", "f", "--to", "now"], "--to takes a zxid like"],
  [
    "sessions that are neither",
    ["export", "--apache", "a", "--data", "d", "--sessions", "all"],
    "--sessions takes keep or drop, found all",
  ],
  ["a word to export", ["export", "a", "--data", "d"], "export takes options alone, found a"],
  ["no history", ["history"], "history takes a data directory that has a history, and the path of a node, found none"],
  ["no path for a history", ["history", "d"], "and the path of a node, found d"],
  ["two paths for a history", ["history", "d", "/a", "/b"], "and the path of a node, found d, /a, /b"],
  ["a time to begin behind", ["history", "d", "/a", "--after", "2026-05-31T23:59:00Z"], "--after takes a zxid"],
  ["a moment of all nodes below", ["history", "d", "/a", "--at", "0x1", "--recursive"], "--at shows one node"],
  ["a moment of a node that is none", ["history", "d", "/a", "--at", "now"], "--at takes a zxid like"],
  ["no directory for a snapshot", ["snapshot"], "--data names the data directory"],
])("%s is refused", (_, argv, problem) => {
  expect(problemsOf(...argv)).toContainEqual(expect.stringContaining(problem));
});

test("inspect takes files and folders", () => {
  expect(parse("inspect", "f", "/g", "--entries", "--data")).toEqual({
    kind: "inspect",
    paths: [resolve("f"), "/g"],
    hasEntries: true,
    isVerified: false,
    hasData: true,
  });
});

test("history takes a directory, a path, and where to begin or a moment", () => {
  expect(parse("history", "d", "/a", "-R", "--after", "0x300000007", "--data")).toEqual({
    kind: "history",
    from: resolve("d"),
    path: "/a",
    isRecursive: true,
    after: 0x3_0000_0007,
    at: undefined,
    hasData: true,
  });
  expect(parse("history", "d", "/a", "--at", "2026-05-31T23:59:00Z")).toMatchObject({
    at: { timeMs: Date.UTC(2026, 4, 31, 23, 59) },
    isRecursive: false,
    hasData: false,
  });
});

test("a comparison takes two states, each with a moment of its own", () => {
  expect(parse("inspect", "--diff", "a@0x300000007", "b@2026-05-31T23:59:00Z", "--data")).toEqual({
    kind: "compare",
    places: [
      { path: resolve("a"), target: { zxid: 0x3_0000_0007 } },
      { path: resolve("b"), target: { timeMs: Date.UTC(2026, 4, 31, 23, 59) } },
    ],
    hasData: true,
  });
  expect(parse("inspect", "--diff", "me@host", "/a@b/c")).toMatchObject({
    places: [{ path: resolve("me@host"), target: undefined }, { path: "/a@b/c" }],
    hasData: false,
  });
});

test("restore takes an archive, a directory, and a moment", () => {
  expect(parse("restore", "--from", "a", "--data", "d", "--to", "0x300000007", "--keep-sessions")).toEqual({
    kind: "restore",
    line: "zooid-server restore --from a --data d --to 0x300000007 --keep-sessions",
    from: resolve("a"),
    directories: { dataDir: resolve("d"), logDir: undefined },
    target: { zxid: 0x3_0000_0007 },
    member: undefined,
    keepsSessions: true,
    isPlan: false,
    confirmed: undefined,
    listed: [],
  });
  expect(
    parse("restore", "--from", "a", "--to", "2026-05-31T23:59:00Z", "--plan", "--as-member", MEMBER),
  ).toMatchObject({
    target: { timeMs: Date.UTC(2026, 4, 31, 23, 59) },
    member: { sid: 2 },
    isPlan: true,
  });
});

test("import takes the directories of both servers", () => {
  expect(parse("import", "--apache", "a", "--apache-log", "b", "--data", "d", "--as-member", MEMBER)).toEqual({
    kind: "import",
    line: "zooid-server import --apache a --apache-log b --data d --as-member '2=zk-2:2888:3888;2181'",
    from: [{ dataDir: resolve("a"), logDir: resolve("b") }],
    directories: { dataDir: resolve("d"), logDir: undefined },
    member: expect.objectContaining({ sid: 2 }),
    sessions: "keep",
    isPlan: false,
  });
  expect(parse("import", "--apache", "a", "--plan")).toMatchObject({ isPlan: true, member: undefined });
});

test("import takes the directories of several servers, with or without their sessions", () => {
  expect(parse("import", "--apache", "a,b", "--apache-log", "c,d", "--plan", "--sessions", "drop")).toMatchObject({
    from: [
      { dataDir: resolve("a"), logDir: resolve("c") },
      { dataDir: resolve("b"), logDir: resolve("d") },
    ],
    sessions: "drop",
  });
});

test("export takes a data directory, or a history with a moment", () => {
  expect(parse("export", "--apache", "a", "--data", "d", "--log", "l", "--force")).toEqual({
    kind: "export",
    sessions: "drop",
    to: resolve("a"),
    source: { directories: { dataDir: resolve("d"), logDir: resolve("l") }, takesDamaged: true },
  });
  expect(parse("export", "--apache", "a", "--from", "f", "--to", "0x300000007")).toEqual({
    kind: "export",
    sessions: "drop",
    to: resolve("a"),
    source: { from: resolve("f"), target: { zxid: 0x3_0000_0007 } },
  });
  expect(parse("export", "--apache", "a", "--data", "d", "--sessions", "keep")).toMatchObject({ sessions: "keep" });
});

test("other commands are not these", () => {
  for (const argv of [[], ["zoo.cfg"], ["status"], ["recover", "--help"]]) expect(parse(...argv)).toBeUndefined();
});
