import { describe, expect, test } from "vitest";
import { ConfigError, parseServerConfig, type ServerOptions } from "./config.ts";

function problems(options: ServerOptions): readonly string[] {
  try {
    parseServerConfig(options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("no options at all are a server on loopback with ZooKeeper's defaults", () => {
  expect(parseServerConfig({})).toMatchObject({
    port: 2181,
    address: "127.0.0.1",
    tickMs: 2000,
    sessionTimeoutMsMin: 4000,
    sessionTimeoutMsMax: 40_000,
    connectionsPerAddressMax: 60,
    connectionsMax: 0,
    frameBytesMax: 1_048_575,
    digestAlgorithm: "sha1",
    skipAcl: false,
  });
});

test("the session timeouts follow the tick unless they are given; -1 is not given", () => {
  expect(parseServerConfig({ tickMs: 100 })).toMatchObject({ sessionTimeoutMsMin: 200, sessionTimeoutMsMax: 2000 });
  expect(parseServerConfig({ tickMs: 100, sessionTimeoutMsMin: -1, sessionTimeoutMsMax: 5000 })).toMatchObject({
    sessionTimeoutMsMin: 200,
    sessionTimeoutMsMax: 5000,
  });
});

test("the log lies with the data unless it is told otherwise", () => {
  expect(parseServerConfig({ dataDir: "/data" }).logDir).toBe("/data");
  expect(parseServerConfig({ dataDir: "/data", logDir: "/log" }).logDir).toBe("/log");
});

describe("what cannot be is named with the key that operators know", () => {
  test.each<[ServerOptions, string]>([
    [{ port: 65_536 }, "clientPort"],
    [{ port: -1 }, "clientPort"],
    [{ tickMs: 0 }, "tickTime"],
    [{ tickMs: 1.5 }, "tickTime"],
    [{ tickMs: Number.NaN }, "tickTime"],
    [{ frameBytesMax: 10 }, "jute.maxbuffer"],
    [{ connectionsPerAddressMax: -1 }, "maxClientCnxns"],
    [{ sessionTimeoutMsMin: 5000, sessionTimeoutMsMax: 4000 }, "minSessionTimeout 5000 must not exceed"],
    [{ digestAlgorithm: "rot13" }, 'digestAlg names a hash such as SHA1, SHA-256 or SHA3-256, found "rot13"'],
  ])("%j", (options, text) => {
    expect(problems(options)).toEqual([expect.stringContaining(text)]);
  });

  test("all of it at once", () => {
    expect(problems({ port: -1, tickMs: 0, digestAlgorithm: "x" }).length).toBeGreaterThanOrEqual(3);
  });
});

test.each([
  ["SHA1", "sha1"],
  ["SHA-256", "sha256"],
  ["sha-512", "sha512"],
  ["SHA3-256", "sha3-256"],
])("Java's %s is %s here", (java, node) => {
  expect(parseServerConfig({ digestAlgorithm: java }).digestAlgorithm).toBe(node);
});
