import { describe, expect, test } from "vitest";
import { parseCommandLine, securityOptions } from "./command-line.ts";

test("without arguments it is a shell at the default server", () => {
  expect(parseCommandLine([])).toEqual({
    kind: "run",
    server: "localhost:2181",
    timeoutMs: 30_000,
    isReadOnly: false,
    waitsForConnection: false,
    configurationFile: undefined,
    properties: [],
    isJson: false,
    isQuiet: false,
    isVerbose: false,
    stopsOnError: false,
    command: undefined,
  });
});

test("zkCli's options have one dash, and all words after the first one belong to the command", () => {
  const argv = ["-server", "a:1,b:2/c", "-timeout", "500", "-r", "-waitforconnection", "-client-configuration", "f"];
  expect(parseCommandLine([...argv, "ls", "-s", "/", "-server", "--json"])).toMatchObject({
    server: "a:1,b:2/c",
    timeoutMs: 500,
    isReadOnly: true,
    waitsForConnection: true,
    configurationFile: "f",
    isJson: false,
    command: ["ls", "-s", "/", "-server", "--json"],
  });
});

test("two dashes and an equals sign are accepted, and the last of two wins", () => {
  expect(parseCommandLine(["--server=a:1", "--json", "-server", "b:2", "get", "/"])).toMatchObject({
    server: "b:2",
    isJson: true,
    command: ["get", "/"],
  });
});

test("an empty command is an unknown one", () => {
  expect(parseCommandLine([""]).command).toEqual([""]);
});

test("--help and --version win over everything else", () => {
  expect(parseCommandLine(["-server", "a", "--help"]).kind).toBe("help");
  expect(parseCommandLine(["-h"]).kind).toBe("help");
  expect(parseCommandLine(["-version"]).kind).toBe("version");
});

describe("refused with a message", () => {
  test.each([
    [["-nope", "ls"], 'unknown option -nope; "zooid-cli --help" lists the options'],
    [["-sever", "a:1", "ls"], "unknown option -sever; the nearest is -server"],
    [["--sever=a:1", "ls"], "unknown option --sever; the nearest is -server"],
    [["--jsn", "ls"], "unknown option --jsn; the nearest is --json"],
    [["-server"], "--server"],
    [["-timeout", "soon", "ls", "/"], '-timeout takes milliseconds from 1 to 2147483647, found "soon"'],
    [["-timeout", "0"], "-timeout takes milliseconds"],
  ])("%j", (argv, text) => {
    expect(() => parseCommandLine(argv)).toThrow(text);
  });
});

test("Java settings may stand among the options, and after the command belong to it", () => {
  const argv = ["-Dzookeeper.client.secure=true", "-server", "a:1", "-Djute.maxbuffer=1", "ls", "-D", "-Dx=y"];
  expect(parseCommandLine(argv)).toMatchObject({
    properties: ["-Dzookeeper.client.secure=true", "-Djute.maxbuffer=1"],
    server: "a:1",
    command: ["ls", "-D", "-Dx=y"],
  });
});

test("options that secure a connection are repeated in commands, without passwords", () => {
  const properties = [
    "-Dzookeeper.client.secure=true",
    "-Dzookeeper.ssl.keyStore.password=hello",
    "-Dzookeeper.ssl.keyStore.passwordPath=/etc/password",
  ];
  const line = parseCommandLine(["-client-configuration", "tls.cfg", ...properties, "-server", "a:1", "doctor"]);
  expect(securityOptions(line)).toEqual([
    "-client-configuration",
    "tls.cfg",
    "-Dzookeeper.client.secure=true",
    "-Dzookeeper.ssl.keyStore.password=PASSWORD",
    "-Dzookeeper.ssl.keyStore.passwordPath=/etc/password",
  ]);
  expect(securityOptions(parseCommandLine(["ls", "/"]))).toEqual([]);
});
