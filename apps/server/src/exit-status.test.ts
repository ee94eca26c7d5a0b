import { ConfigError, PeerPortError, StoreError } from "@zooid/server";
import { describe, expect, test } from "vitest";
import { ExitStatus, exitStatusOf, explain } from "./exit-status.ts";

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
  ["damage", new StoreError({ code: "DAMAGED", file: "f", place: "p", found: "x" }), 21],
  ["a shortened log", new StoreError({ code: "LOG_SHORTENED", file: "f", expected: "a", found: "b" }), 21],
  ["a foreign directory", new StoreError({ code: "FOREIGN", directory: "/d", expected: "a", found: "b" }), 22],
  ["a newer format", new StoreError({ code: "NEWER_FORMAT", file: "f", known: 1, found: 2 }), 23],
  ["a file that the system refuses", Object.assign(new Error("EACCES"), { code: "EACCES", syscall: "open" }), 7],
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
    ["EACCES", "port 2181 on 127.0.0.1 needs more rights than this process has; choose one above 1023"],
    ["EADDRNOTAVAIL", "127.0.0.1 is not an address of this machine; see clientPortAddress or --address"],
    ["EMFILE", "cannot listen on 127.0.0.1:2181: listen EMFILE"],
  ])("%s", (code, text) => {
    expect(explain(portError(code))).toBe(text);
  });
});

test("the advice for a server with a file keeps the file", () => {
  const text = explain(portError("EADDRINUSE"), "/etc/zookeeper/zoo.cfg");
  expect(text).toContain("clientPort in /etc/zookeeper/zoo.cfg");
  expect(text).not.toContain("npx");
});
