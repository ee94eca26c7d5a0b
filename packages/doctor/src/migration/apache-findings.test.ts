import { EPOCH_MAX } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { type ApacheFindingId, apacheFindings, apacheSummary, apacheUnseen, FINDING_KINDS } from "../index.ts";
import type { ApacheFacts, ApacheLimits, ApacheServerFacts, ApacheTreeFacts } from "./apache-facts.ts";

const LIMITS: ApacheLimits = { tickMs: 2000, timeoutMsMin: 4000, timeoutMsMax: 40_000, connectionsPerAddressMax: 60 };
const REPORT = { version: "3.9.5", isZooid: false, mode: "follower", epoch: 7 };
const PLACE = { count: 3, path: "/a" };

/** A server of which nothing is to be said. */
function server(sid: number, more: ServerDraft = {}): ApacheServerFacts {
  const { settings = {}, properties = {}, ...rest } = more;
  const lines = { reconfigEnabled: "true", standaloneEnabled: "false", ...settings };
  return {
    address: `zk${sid}:2181`,
    report: sid === 1 ? { ...REPORT, mode: "leader" } : REPORT,
    sid,
    settings: { subject: `zk${sid}`, settings: Object.entries(lines).map(([key, value]) => ({ key, value })) },
    properties: new Map(Object.entries(properties)),
    limits: LIMITS,
    sessions: [{ id: 0x0100_0000_0000_0001n, address: "10.0.0.1:5000", timeoutMs: 30_000 }],
    localSessions: 0,
    ...rest,
  };
}

type ServerDraft = Partial<Omit<ApacheServerFacts, "settings" | "properties">> & {
  readonly settings?: Readonly<Record<string, string>>;
  readonly properties?: Readonly<Record<string, string>>;
};

const TREE: ApacheTreeFacts = {
  address: "zk2:2181",
  nodes: 100,
  dataBytes: 1000,
  ephemerals: 2,
  ownerBytes: new Set([1, 3]),
  owners: 1,
  longestData: { count: 500, path: "/a" },
  longestPath: { count: 20, path: "/a" },
  deepestPath: { count: 3, path: "/a" },
  mostChildren: { count: 7, path: "/" },
  schemes: new Map([
    ["world", PLACE],
    ["digest", PLACE],
  ]),
  hiddenKinds: undefined,
  unread: undefined,
  members: [1, 2, 3].map((sid) => ({ sid, isObserver: false })),
  hasReconfig: true,
};

const SERVERS = [server(1), server(2), server(3)];
const SOUND: ApacheFacts = { servers: SERVERS, tree: TREE, newSids: [11, 12, 13] };

const all = (more: ServerDraft) => apacheFindings({ ...SOUND, servers: [1, 2, 3].map((sid) => server(sid, more)) });
const one = (more: ServerDraft) => apacheFindings({ ...SOUND, servers: [server(1), server(2, more), server(3)] });
const nodes = (more: Partial<ApacheTreeFacts>) => apacheFindings({ ...SOUND, tree: { ...TREE, ...more } });

const alone = (version: string) =>
  apacheFindings({ ...SOUND, servers: [server(1, { report: { ...REPORT, version, mode: "standalone" } })] });

const FOUND_BY: Readonly<Record<ApacheFindingId, () => ReturnType<typeof apacheFindings>>> = {
  "apache-silent": () => one({ report: "ECONNREFUSED" }),
  "apache-is-zooid": () => one({ report: { ...REPORT, isZooid: true } }),
  "apache-version": () => alone("3.10.0"),
  "apache-versions-differ": () => one({ report: { ...REPORT, version: "3.8.6" } }),
  "apache-no-leader": () => all({ report: { ...REPORT, mode: undefined } }),
  "apache-epochs": () => one({ report: { ...REPORT, epoch: EPOCH_MAX - 1024 } }),
  "digests-missing": () => one({ properties: { "zookeeper.digest.enabled": "false" } }),
  "server-number-taken": () => apacheFindings({ ...SOUND, newSids: [3, 12, 13] }),
  "server-number-none-left": () => one({ sid: 254 }),
  "quorum-tls": () => all({ settings: { sslQuorum: "true" } }),
  "quorum-login": () => all({ settings: { "quorum.auth.enableSasl": "true" } }),
  "quorum-kerberos": () => all({ settings: { "quorum.auth.kerberos.servicePrincipal": "zkquorum/_HOST" } }),
  "fence-by-stop": () => all({ settings: { reconfigEnabled: "false" } }),
  "timeout-short": () => one({ sessions: [{ id: 0x0200_0000_0000_00abn, address: "10.0.0.9:1", timeoutMs: 5999 }] }),
  "local-sessions": () => one({ localSessions: 2 }),
  "limits-to-copy": () => all({ limits: { ...LIMITS, connectionsPerAddressMax: 0, timeoutMsMax: 90_000 } }),
  "frame-larger": () => all({ properties: { "jute.maxbuffer": "4194304" } }),
  "super-user": () => all({ properties: { "zookeeper.DigestAuthenticationProvider.superDigest": "super:hidden=" } }),
  "access-lists-skipped": () => all({ settings: { skipACL: "yes" } }),
  "ttl-emulated": () => all({ settings: { emulate353TTLNodes: "true" } }),
  "ttl-flags-differ": () => one({ properties: { "zookeeper.extendedTypesEnabled": "true" } }),
  "ttl-without-flag": () => nodes({ hiddenKinds: PLACE }),
  "scheme-unknown": () => nodes({ schemes: new Map([["house", PLACE]]) }),
  "scheme-to-configure": () => nodes({ schemes: new Map([["sasl", PLACE]]) }),
  "data-long": () => nodes({ longestData: { count: 0xf_ffff, path: "/a" } }),
  "path-long": () => nodes({ longestPath: { count: 20_000, path: "/a" } }),
  "nodes-unread": () => nodes({ unread: PLACE }),
};

test.each(Object.entries(FOUND_BY))("%s is found alone, with figures and a remedy", (id, find) => {
  const findings = find();
  expect(findings.map((found) => found.id)).toEqual([id]);
  expect(findings[0]).toMatchObject(FINDING_KINDS[id as ApacheFindingId]);
  for (const text of [findings[0]?.subject, findings[0]?.found, findings[0]?.remedy]) expect(text).toMatch(/./);
  expect(JSON.stringify(findings)).not.toContain("hidden=");
});

describe("nothing is found", () => {
  test("of a sound ensemble", () => {
    expect(apacheFindings(SOUND)).toEqual([]);
  });
  test("of what cannot be seen, which is named with the place to look", () => {
    const servers = SERVERS.map((each) => ({
      ...each,
      settings: undefined,
      properties: undefined,
      limits: undefined,
      sessions: undefined,
      localSessions: undefined,
    }));
    const facts = { ...SOUND, servers, tree: undefined };
    expect(apacheFindings(facts)).toEqual([]);
    const unseen = apacheUnseen(facts);
    expect(unseen).toHaveLength(3 * 3 + 1);
    expect(unseen[0]).toMatch(/^settings of zk1:2181: look at localSessionsEnabled, .*-Djute\.maxbuffer/);
    expect(unseen.at(-1)).toBe("nodes: no server could be read");
  });
  test("of limits at their borders", () => {
    expect(one({ report: { ...REPORT, epoch: EPOCH_MAX - 1025 } })).toEqual([]);
    expect(one({ sid: 253 })).toEqual([]);
    expect(one({ sessions: [{ id: 1n, address: "a", timeoutMs: 6000 }] })).toEqual([]);
    expect(nodes({ longestPath: { count: 16 * 1024, path: "/a" } })).toEqual([]);
    expect(nodes({ longestData: { count: 0xf_ffff - 1024 - 2, path: "/a" } })).toEqual([]);
  });
});

test("where zoo.cfg is not seen, the version of the configuration shows whether reconfigurations are taken", () => {
  const servers = SERVERS.map((each) => ({ ...each, settings: undefined }));
  const of = (hasReconfig: boolean | undefined) => ({ ...SOUND, servers, tree: { ...TREE, hasReconfig } });
  expect(apacheFindings(of(false)).map(({ id }) => id)).toEqual(["fence-by-stop"]);
  expect(apacheSummary(of(true)).at(-1)).toContain("if standaloneEnabled=false is set");
  for (const hasReconfig of [true, undefined]) expect(apacheFindings(of(hasReconfig))).toEqual([]);
  expect(apacheUnseen(of(true))[0]).not.toContain("reconfigEnabled");
  expect(apacheUnseen(of(undefined))[0]).toContain("reconfigEnabled");
});

test.each([
  ["3.4.14", "Apache ZooKeeper 3.5.10 or later"],
  ["3.10.0", "which checks what it reads"],
  ["4.0.0", "which checks what it reads"],
])("of %s the remedy has %s", (version, remedy) => {
  expect(alone(version).find(({ id }) => id === "apache-version")?.remedy).toContain(remedy);
});

test("3.5 to 3.9 can be followed", () => {
  for (const version of ["3.6.4", "3.7.2", "3.8.6", "3.9.5"]) expect(alone(version)).toEqual([]);
  expect(alone("3.5.10").map(({ id }) => id)).toEqual(["digests-missing"]);
});

test("what was seen is summed up", () => {
  expect(apacheSummary(SOUND)).toEqual([
    "zk1:2181: server 1, Apache ZooKeeper 3.9.5, leader",
    "zk2:2181: server 2, Apache ZooKeeper 3.9.5, follower",
    "zk3:2181: server 3, Apache ZooKeeper 3.9.5, follower",
    "sessions: 3 with a connection, the shortest timeout is 30000 ms",
    "nodes: 100 with 1000 bytes of data, read from zk2:2181",
    "ephemeral nodes: 2 of 1 session",
    'longest data: 500 at "/a"; longest path: 20 at "/a"; most children: 7 at "/"',
    'access lists by scheme: "world" 3, "digest" 3',
    "session ids begin with: 1, 2, 3; new servers need other numbers",
    "ways to fence: a reconfiguration to the leader alone, whose process is then stopped; a command that stops every voter for good",
  ]);
});

test("many short sessions are counted, and ten of them named", () => {
  const sessions = Array.from({ length: 12 }, (_, i) => ({ id: BigInt(i + 1), address: `c${i}`, timeoutMs: 5000 + i }));
  const [found] = one({ sessions });
  expect(found?.found).toMatch(/^12 sessions have less than 6000 ms: 0x1 of c0 with 5000 ms, .*, and 2 more$/);
});
