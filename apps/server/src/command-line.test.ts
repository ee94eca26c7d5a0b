import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "@zooid/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Command, parseCommandLine } from "./command-line.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-command-line-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function configFile(text: string): string {
  const file = join(directory, "zoo.cfg");
  writeFileSync(file, text);
  return file;
}

function serve(...argv: string[]): Extract<Command, { kind: "serve" }> {
  const command = parseCommandLine(argv);
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

function problemsOf(...argv: string[]): string {
  try {
    parseCommandLine(argv);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
}

test("nothing at all serves with data under ./data", () => {
  expect(serve()).toEqual({ kind: "serve", options: { dataDir: resolve("data") }, warnings: [], logLevel: "info" });
});

test("a file is read, and flags win over it", () => {
  const file = configFile("dataDir=/from-file\ndataLogDir=/log\nclientPort=1111\ntickTime=500");
  expect(serve(file).options).toEqual({ address: "*", dataDir: "/from-file", logDir: "/log", port: 1111, tickMs: 500 });
  expect(serve(file, "--port", "0", "--address", "127.0.0.1", "--set", "tickTime=700").options).toMatchObject({
    port: 0,
    address: "127.0.0.1",
    tickMs: 700,
    dataDir: "/from-file",
  });
});

test("another data directory on the command line leaves the file's log directory behind", () => {
  const file = configFile("dataDir=/from-file\ndataLogDir=/log");
  expect(serve(file, "--data", "/elsewhere").options).toEqual({ address: "*", dataDir: "/elsewhere" });
  expect(serve(file, "--data", "/elsewhere", "--set", "dataLogDir=/l").options).toMatchObject({ logDir: "/l" });
});

test("port and directory without a file, as ZooKeeper's own server takes them", () => {
  expect(serve("2182", "/data", "3000", "10").options).toEqual({
    address: "*",
    port: 2182,
    dataDir: "/data",
    tickMs: 3000,
    connectionsPerAddressMax: 10,
  });
});

test("--help and --version win over everything else", () => {
  expect(parseCommandLine(["--help"])).toEqual({ kind: "help" });
  expect(parseCommandLine(["no-such-file", "--version"])).toEqual({ kind: "version" });
});

describe("refused with a sentence", () => {
  test.each([
    [["--nope"], "--nope"],
    [["no-such-file.cfg"], "cannot read the configuration file no-such-file.cfg"],
    [["1", "2", "3", "4", "5"], "at most 4 arguments"],
    [["--set", "novalue"], '--set takes KEY=VALUE, found "novalue"'],
    [["--set", "sslQuorum=true"], "sslQuorum (--set) asks for TLS"],
    [["--port", "x"], 'clientPort (--port) is a whole number, found "x"'],
    [["--log-level", "loud"], '--log-level is one of debug, info, warn, error, found "loud"'],
    [["x", "/data"], 'clientPort (argument 1) is a whole number, found "x"'],
  ])("%j", (argv, text) => {
    expect(problemsOf(...argv)).toContain(text);
  });

  test("problems of a file name the file", () => {
    const file = configFile("dataDir=/d\nclientPort=x");
    expect(problemsOf(file)).toBe(`${file}: clientPort (line 2) is a whole number, found "x"`);
  });
});
