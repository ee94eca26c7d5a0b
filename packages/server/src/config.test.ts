import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { type ServerId, serverId } from "@zooid/model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError, parseServerConfig, type ServerOptions } from "./config.ts";
import { type EnsembleOptions, type EnsembleServerOptions, quorumOf } from "./peers/ensemble-config.ts";

function problems(options: ServerOptions): readonly string[] {
  try {
    parseServerConfig(options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("no options are a server on loopback with ZooKeeper's defaults", () => {
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

test("the log lies with the data by default", () => {
  expect(parseServerConfig({ dataDir: "/data" }).logDir).toBe("/data");
  expect(parseServerConfig({ dataDir: "/data", logDir: "/log" }).logDir).toBe("/log");
});

test("proxies may be written with the brackets of IPv6 addresses, and IPv4 ones have none", () => {
  const rangesOf = (...trustedProxies: string[]) => parseServerConfig({ trustedProxies }).trustedProxies.ranges;
  expect(rangesOf("[::1]", "[2001:db8::]/64", "[2001:db8::/64]")).toEqual(
    rangesOf("::1", "2001:db8::/64", "2001:db8::/64"),
  );
  for (const wrong of ["[10.0.0.1]", "[::1", "[]", "[::1]/x"])
    expect(problems({ trustedProxies: [wrong] })).toEqual([expect.stringContaining(`found "${wrong}"`)]);
});

test("words of the list that no server knows are named", () => {
  expect(parseServerConfig({ fourLetterWords: "ruok, kill,*, statt" }).notices).toEqual([
    "4lw.commands.whitelist has kill, statt, which no server knows as a four-letter word",
  ]);
  expect(parseServerConfig({ fourLetterWords: "ruok,stat,mntr,isro" }).notices).toEqual([]);
});

test.each([
  ["super:password", "SHA1", 1],
  ["s3cret", "SHA1", 1],
  ["$" + "{SUPER_DIGEST}", "SHA1", 1],
  ["super:D/InIHSb7yEEbrWz8b9l71RjZJU=", "SHA-256", 1],
  ["super:D/InIHSb7yEEbrWz8b9l71RjZJU=", "SHA1", 0],
])("a superDigest %s that no password of %s has is reported, without it", (superDigest, digestAlgorithm, count) => {
  const { notices } = parseServerConfig({ superDigest, digestAlgorithm });
  expect(notices).toHaveLength(count);
  expect(notices.join()).not.toContain(superDigest);
});

describe("an invalid option is reported by the key that operators know", () => {
  test.each<[ServerOptions, string]>([
    [{ port: 65_536 }, "clientPort"],
    [{ port: -1 }, "clientPort"],
    [{ tickMs: 0 }, "tickTime"],
    [{ tickMs: 1.5 }, "tickTime"],
    [{ tickMs: Number.NaN }, "tickTime"],
    [{ frameBytesMax: 44 }, "jute.maxbuffer is a whole number from 45 to 16777216, found 44"],
    [{ frameBytesMax: 2 ** 24 + 1 }, "jute.maxbuffer is a whole number from 45 to 16777216, found 16777217"],
    [{ connectionsPerAddressMax: -1 }, "maxClientCnxns"],
    [{ sessionTimeoutMsMin: 5000, sessionTimeoutMsMax: 4000 }, "minSessionTimeout 5000 must not exceed"],
    [{ reaping: { perMinuteMax: 0 } }, "znode.container.maxPerMinute"],
    [{ reaping: { checkIntervalMs: 2 ** 31 } }, "znode.container.checkIntervalMs"],
    [
      { trustedProxies: ["10.0.0.1", "10.0.0.0/33"] },
      'ADDRESS/BITS, separated by commas, such as 10.0.0.5,2001:db8::/64; found "10.0.0.0/33"',
    ],
    [{ trustedProxies: [""] }, "zooid.trustedProxies is a list"],
    [{ trustedProxiesPercent: 0 }, "zooid.trustedProxiesPercent is a whole number from 1 to 100, found 0"],
    [{ digestAlgorithm: "rot13" }, 'digestAlg names a hash such as SHA1, SHA-256 or SHA3-256, found "rot13"'],
  ])("%j", (options, text) => {
    expect(problems(options)).toEqual([expect.stringContaining(text)]);
  });

  test.each([-1, 255, 1.5])("a server's number of %d, once", (sid) => {
    const servers = [0, 1, sid].map((one) => ({ sid: one, host: `10.0.0.${one}`, quorumPort: 1, electionPort: 2 }));
    const problemsOf = (options: ServerOptions): readonly string[] =>
      problems(options).filter((problem) => !problem.includes("peerSecretFile"));
    expect(problemsOf({ ensemble: { sid, servers: servers.slice(0, 2) } })).toEqual([
      `myid is a whole number from 0 to 254, found ${sid}`,
    ]);
    expect(problemsOf({ ensemble: { sid: 0, servers } })).toEqual([
      `server.${sid}: the id is a whole number from 0 to 254, found ${sid}`,
    ]);
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

describe("an ensemble", () => {
  const server = (sid: number, more: Partial<EnsembleServerOptions> = {}): EnsembleServerOptions => ({
    sid,
    host: "127.0.0.1",
    quorumPort: 2000 + sid,
    electionPort: 3000 + sid,
    ...more,
  });
  const three = [server(1), server(2), server(3)];
  const ensemble = (more: Partial<EnsembleOptions> = {}): ServerOptions => ({
    ensemble: { sid: 1, servers: three, ...more },
  });
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "zooid-config-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** A file with this content, for its owner alone unless the mode says otherwise. */
  function file(content: string, mode = 0o600): string {
    const path = join(directory, `secret-${mode}-${content.length}`);
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  }
  const secret = `a:${Buffer.alloc(32, 7).toString("base64")}\n`;

  test("is its servers in order, with ZooKeeper's defaults", () => {
    const { ensemble: config } = parseServerConfig(ensemble({ servers: [...three].reverse() }));
    expect(config).toMatchObject({
      sid: 1,
      initLimit: 10,
      syncLimit: 5,
      electionAlg: 3,
      isObserver: false,
      connectTimeoutMs: 5000,
      listenOnAllAddresses: false,
      bindRetryCount: 3,
      secrets: [],
      secretMode: "require",
    });
    expect(config?.servers.map(({ sid }) => sid)).toEqual([1, 2, 3]);
    expect(config?.directory.addressOf(serverId(2))).toMatchObject({ quorumPort: 2002, electionPort: 3002 });
  });

  test("is an observer where its own line says so", () => {
    const servers = [server(1, { isObserver: true }), server(2)];
    expect(parseServerConfig(ensemble({ servers })).ensemble?.isObserver).toBe(true);
    expect(parseServerConfig(ensemble({ servers, isObserver: true })).ensemble?.isObserver).toBe(true);
  });

  test.each<[string, ServerOptions, string]>([
    ["sids out of range", ensemble({ servers: [...three, server(255)] }), "server.255: the id is a whole number"],
    [
      "a sid twice",
      ensemble({ servers: [...three, server(3, { quorumPort: 1, electionPort: 2 })] }),
      "server.3 is listed twice",
    ],
    [
      "an address twice",
      ensemble({ servers: [...three, server(4, { quorumPort: 3001 })] }),
      "127.0.0.1:3001 is the quorum port of server.4 and the election port of server.1",
    ],
    ["the own sid missing", ensemble({ sid: 9 }), "there is no line server.9; listed: 1, 2, 3"],
    [
      "a port that cannot be",
      ensemble({ servers: [...three, server(4, { electionPort: 70_000 })] }),
      "server.4: the election port",
    ],
    ["no host", ensemble({ servers: [...three, server(4, { host: "" })] }), "server.4 names no host"],
    ["another peerType", ensemble({ isObserver: true }), "peerType says observer, the line server.1 says participant"],
    ["no voter", ensemble({ servers: [server(1, { isObserver: true })] }), "no server of the ensemble has a vote"],
    [
      "a weight without groups",
      ensemble({ servers: [...three, server(4, { weight: 2 })] }),
      "weight.4 count only inside groups",
    ],
    [
      "a voter outside the groups",
      ensemble({ servers: [server(1, { group: 1 }), server(2)] }),
      "server.2 has a vote but is in no group",
    ],
    [
      "an observer in a group",
      ensemble({ servers: [server(1, { group: 1 }), server(2, { group: 1, isObserver: true })] }),
      "server.2 is an observer",
    ],
    ["no weight at all", ensemble({ servers: [server(1, { group: 1, weight: 0 })] }), "every vote has the weight 0"],
    ["a negative weight", ensemble({ servers: [server(1, { group: 1, weight: -1 })] }), "weight.1 is a whole number"],
    ["limits of nothing", ensemble({ initLimit: 0 }), "initLimit is a whole number"],
    ["another election", ensemble({ electionAlg: 2 }), "electionAlg is 3 (the default) or 0, found 2"],
  ])("refuses %s", (_, options, text) => {
    expect(problems(options)).toContainEqual(expect.stringContaining(text));
  });

  test("reports all problems at once", () => {
    expect(problems({ ...ensemble({ sid: 9, initLimit: 0, servers: [] }), port: -1 })).toHaveLength(4);
  });

  test("says that members on one machine without a secret trust every local user", () => {
    const said = (options: Partial<EnsembleOptions>): readonly string[] => parseServerConfig(ensemble(options)).notices;
    const local = expect.stringContaining("any local user can take a member's place");
    expect(said({})).toContainEqual(local);
    expect(said({ allowUnauthenticatedPeers: true })).not.toContainEqual(local);
  });

  const distant = [server(1), server(2, { host: "10.0.0.2" })];

  test.each<[string, Partial<EnsembleOptions>]>([
    ["a peer beyond this machine", { servers: distant }],
    ["a name that may be anywhere", { servers: [server(1), server(2, { host: "zoo2" })] }],
    ["listening beyond this machine", { listenOnAllAddresses: true }],
  ])("%s requires a secret, or the setting that does without", (_, options) => {
    expect(problems(ensemble(options))).toEqual([
      expect.stringMatching(/zooid\.peerSecretFile=FILE.* or zooid\.allowUnauthenticatedPeers=true/),
    ]);
    expect(problems(ensemble({ ...options, allowUnauthenticatedPeers: true }))).toEqual([]);
    expect(problems(ensemble({ ...options, peerSecretFile: file(secret) }))).toEqual([]);
  });

  test.each(["localhost", "127.0.0.1", "127.8.9.10", "::1"])("%s is this machine", (host) => {
    expect(problems(ensemble({ servers: [server(1), server(2, { host })] }))).toEqual([]);
  });

  test("reads its secrets, in order, and prints none", () => {
    const peerSecretFile = file(`# old\nb:${Buffer.alloc(16, 1).toString("base64")}\r\n\n${secret}`);
    const config = parseServerConfig(ensemble({ peerSecretFile }));
    expect(config.ensemble?.secrets.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toContain(
      Buffer.alloc(12, 7).toString("base64"),
    );
  });

  test("its quorum is a majority of the voters, or of the groups", () => {
    const sids = (...list: number[]): ServerId[] => list.map(serverId);
    const plain = parseServerConfig(ensemble({ servers: [...three, server(4, { isObserver: true })] })).ensemble;
    expect(plain && quorumOf(plain).isQuorum(sids(1, 2))).toBe(true);
    expect(plain && quorumOf(plain).isQuorum(sids(1, 4))).toBe(false);
    const servers = [server(1, { group: 1, weight: 3 }), server(2, { group: 1 }), server(3, { group: 1 })];
    const grouped = parseServerConfig(ensemble({ servers })).ensemble;
    expect(grouped && quorumOf(grouped).isQuorum(sids(1))).toBe(true);
    expect(grouped && quorumOf(grouped).isQuorum(sids(2, 3))).toBe(false);
  });

  test.each<[string, () => string, string]>([
    ["is not there", () => join(directory, "nowhere"), "cannot be read"],
    ["is a directory", () => directory, "is no file of at most"],
    ["others can read", () => file(secret, 0o644), "is open to other users (mode 0644): chmod 600"],
    ["its group can write", () => file(secret, 0o660), "is open to other users (mode 0660)"],
    ["is empty", () => file("# nothing\n"), "holds no secret"],
    ["has no ids", () => file("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"), "line 1 of the peers' secret file"],
    ["has a short secret", () => file("a:YWJj\n"), "has 3 bytes; a secret has 16 to 1024"],
    ["uses an id twice", () => file(secret + secret), "uses the id a a second time"],
  ])("refuses a secret file that %s", (_, path, text) => {
    const found = problems(ensemble({ peerSecretFile: path() }));
    expect(found).toEqual([expect.stringContaining(text)]);
    expect(found[0]).not.toContain("YWJj");
  });
});

test("an address of a port that is not opened is a problem", () => {
  expect(problems({ secureAddress: "::1" })).toEqual(["secureClientPortAddress is set, and secureClientPort is not"]);
});
