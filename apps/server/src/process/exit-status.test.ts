import { BackupError } from "@zooid/backup";
import { ConfigError, PeerPortError, StoreError } from "@zooid/embedded-server";
import { describe, expect, test } from "vitest";
import { InterruptedError } from "../offline/interruptible.ts";
import { ExitStatus, exitStatusOf, explain, type StartedWith } from "./exit-status.ts";

function portError(code: string): Error {
  return Object.assign(new Error(`listen ${code}`), { code, syscall: "listen", address: "127.0.0.1", port: 2181 });
}

test.each<[string, unknown, number]>([
  ["a configuration", new ConfigError(["x"]), 2],
  ["a data directory in use", new StoreError({ code: "LOCKED", directory: "/d", pid: 1, since: "today" }), 3],
  ["a port", portError("EADDRINUSE"), 5],
  ["a port for peers", new PeerPortError({ purpose: "quorum", host: "h", port: 1 }, "EADDRINUSE", undefined), 5],
  ["an unreadable directory", new StoreError({ code: "UNREADABLE", file: "/d", reason: "EACCES" }), 7],
  [
    "a disk that does not keep its promise",
    new StoreError({ code: "NOT_DURABLE", file: "f", expected: "a", found: "b" }),
    7,
  ],
  ["a file that cannot be opened", new StoreError({ code: "NOT_OPENED", file: "f", reason: "cannot open" }), 20],
  ["a failed write", new StoreError({ code: "WRITE_FAILED", file: "f", reason: "EIO" }), 20],
  ["a full disk", new StoreError({ code: "DISK_FULL", file: "f", reason: "x" }), 20],
  ["a full disk of the system's", Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" }), 20],
  ["a full disk of SQLite's", Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }), 20],
  ["damage", new StoreError({ code: "DAMAGED", file: "f", place: "p", found: "x" }), 21],
  ["a directory that is not finished", new StoreError({ code: "UNFINISHED", directory: "/d" }), 21],
  ["a shortened log", new StoreError({ code: "LOG_SHORTENED", file: "f", expected: "a", found: "b" }), 21],
  ["a foreign directory", new StoreError({ code: "FOREIGN", directory: "/d", expected: "a", found: "b" }), 22],
  [
    "a feature level that this version does not know",
    new StoreError({ code: "UNKNOWN_LEVEL", directory: "d", level: 2, known: { lowest: 1, highest: 1 } }),
    23,
  ],
  ["a newer format", new StoreError({ code: "NEWER_FORMAT", file: "f", known: 1, found: 2 }), 23],
  ["a file that the system refuses", Object.assign(new Error("EACCES"), { code: "EACCES", syscall: "open" }), 7],
  ["a target that refuses", new BackupError({ code: "UNREACHABLE", target: "/t", reason: "x" }), 4],
  ["a target that is none", new BackupError({ code: "SETTING", problem: "x" }), 2],
  ["an empty backup", new BackupError({ code: "NO_BACKUP", target: "/t", reason: "x" }), 6],
  ["a foreign backup", new BackupError({ code: "FOREIGN", target: "/t", expected: "a", found: "b" }), 22],
  ["a signal", new InterruptedError("x"), 130],
  ["a defect", new Error("boom"), 1],
  ["anything", "boom", 1],
])("%s has a status of its own", (_, error, status) => {
  expect(exitStatusOf(error)).toBe(status);
});

test("no two statuses are the same", () => {
  const all = Object.values(ExitStatus);
  expect(new Set(all).size).toBe(all.length);
});

describe("a port that cannot be had is explained", () => {
  test.each([
    [
      "EADDRINUSE",
      "port 2181 on 127.0.0.1 is taken by another process, perhaps by a server that still runs; end that one, or choose another port: npx zooid-server --port 2182 --data data-2182",
    ],
    [
      "EACCES",
      "port 2181 on 127.0.0.1 needs more rights than this process has; choose one above 1023 with clientPort or --port",
    ],
    ["EADDRNOTAVAIL", "127.0.0.1 is not an address of this machine; see clientPortAddress or --address"],
    ["EMFILE", "cannot listen on 127.0.0.1:2181: listen EMFILE"],
  ])("%s", (code, text) => {
    expect(explain(portError(code))).toBe(text);
  });
});

const FILE = "/etc/zookeeper/zoo.cfg";

/** The start of a server with a file; settings by the place where they stand. */
function withFile(origins: Readonly<Record<string, string>>, options: StartedWith["options"] = {}): StartedWith {
  return { configFile: FILE, options, origins: new Map(Object.entries(origins)) };
}

const MEMBER = { sid: 2, servers: [] };

describe("the advice for a server with a file names the setting, with its place", () => {
  test.each<[string, StartedWith, string]>([
    ["EADDRINUSE", withFile({ clientPort: "line 3" }), `choose another port with clientPort in ${FILE} (line 3)`],
    ["EADDRINUSE", withFile({ clientPort: "--port" }), "choose another port with clientPort (--port)"],
    ["EADDRINUSE", withFile({}), `choose another port with clientPort in ${FILE}`],
    [
      "EADDRINUSE",
      withFile({ "server.2": "line 5" }, { ensemble: MEMBER }),
      `choose another port with the client part of server.2 in ${FILE} (line 5)`,
    ],
    [
      "EADDRINUSE",
      withFile({ clientPort: "line 3", secureClientPort: "line 4" }, { port: 2182, securePort: 2181 }),
      `choose another port with secureClientPort in ${FILE} (line 4)`,
    ],
    ["EACCES", withFile({ clientPort: "line 3" }), `choose one above 1023 with clientPort in ${FILE} (line 3)`],
    [
      "EADDRNOTAVAIL",
      withFile({ secureClientPortAddress: "line 5" }, { securePort: 2181 }),
      `see secureClientPortAddress in ${FILE} (line 5)`,
    ],
  ])("%s", (code, started, text) => {
    const explained = explain(portError(code), started);
    expect(explained.endsWith(text)).toBe(true);
  });
});

test("data that cannot be used, and ports of peers, are explained behind the line that names them", () => {
  const started = withFile(
    { dataDir: "line 1", dataLogDir: "line 2", "server.2": "line 5" },
    { logDir: "/log", ensemble: MEMBER },
  );
  const store = (file: string): Error => new StoreError({ code: "UNREADABLE", file, reason: "EACCES" });
  const failed = Object.assign(new Error("ENOTDIR"), { code: "ENOTDIR", syscall: "scandir", path: "/log" });
  const port = new PeerPortError({ purpose: "quorum", host: "h", port: 1 }, "EADDRINUSE", undefined);
  expect(explain(store("/data/x"), started)).toBe(`${FILE}: dataDir (line 1): /data/x cannot be used: EACCES`);
  expect(explain(store("/log/x"), started)).toBe(`${FILE}: dataLogDir (line 2): /log/x cannot be used: EACCES`);
  expect(explain(failed, started)).toBe(`${FILE}: dataLogDir (line 2): the data directory cannot be used: ENOTDIR`);
  expect(explain(port, started)).toMatch(/^\/etc\/zookeeper\/zoo\.cfg: server\.2 \(line 5\): the quorum port 1 on h/);
  expect(explain(store("/data/x"), withFile({ dataDir: "--data" }))).toBe("/data/x cannot be used: EACCES");
});
