import { type Member, membersOf, type ServerId, ZXID_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import {
  type AdminFacts,
  type EnsembleFacts,
  ensembleFindings,
  FINDING_KINDS,
  type Finding,
  type FindingId,
  hostFindings,
  type ListedHost,
  type MachineFacts,
  machineFindings,
  type SecurityFacts,
  type ServerFacts,
  securityFindings,
  voterFindings,
} from "./index.ts";

const GIB = 2 ** 30;
const DAY_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;

function member(sid: number, more: Partial<Member> = {}): Member {
  return {
    sid: sid as ServerId,
    host: `zk${sid}`,
    quorumPort: 2888,
    electionPort: 3888,
    isObserver: false,
    clientAddress: { host: undefined, port: 2181 },
    group: undefined,
    weight: 1,
    ...more,
  };
}

/** A member that serves and of which nothing is wrong. */
function server(sid: number, more: Partial<ServerFacts> = {}): ServerFacts {
  const mode = sid === 1 ? "leader" : "follower";
  return {
    name: `server ${sid}`,
    address: `zk${sid}:2181`,
    sid: sid as ServerId,
    status: { mode, zxid: "0x100000005", version: "0.1.0", unlisted: [] },
    admin: admin(),
    ...more,
  };
}

function admin({ checks = [], metrics = {}, settings = {} }: AdminDraft = {}): AdminFacts {
  return {
    checks: [{ name: "running", fault: undefined }, ...checks],
    metrics: new Map(Object.entries(metrics).map(([name, value]) => [name, [{ labels: { peer: "3" }, value }]])),
    settings: { subject: "the file", settings: Object.entries(settings).map(([key, value]) => ({ key, value })) },
  };
}

interface AdminDraft {
  readonly checks?: AdminFacts["checks"];
  readonly metrics?: Readonly<Record<string, number>>;
  readonly settings?: Readonly<Record<string, string>>;
}

function ensemble(servers: readonly ServerFacts[], voters = 3): EnsembleFacts {
  const members = Array.from({ length: voters }, (_, at) => member(at + 1));
  return { members: membersOf(members, ZXID_NONE), servers };
}

const MEMBERS = [server(1), server(2), server(3)];

/** The sound ensemble, one of whose servers is another one. */
function withServer(sid: number, more: Partial<ServerFacts>): readonly Finding[] {
  return ensembleFindings(ensemble(MEMBERS.map((one) => (one.sid === sid ? server(sid, more) : one))));
}

function measured(metrics: Readonly<Record<string, number>>): readonly Finding[] {
  return withServer(2, { admin: admin({ metrics }) });
}

function failing(name: string): readonly Finding[] {
  return withServer(2, { admin: admin({ checks: [{ name, fault: "broken" }] }) });
}

const MACHINE: MachineFacts = {
  directories: [
    {
      path: "/data",
      uses: ["dataDir"],
      fileSystem: "ext4",
      bytes: 100 * GIB,
      freeBytes: 50 * GIB,
      syncMs: [1, 1, 2],
    },
  ],
  memory: { totalBytes: 8 * GIB, limitBytes: undefined, heldBytesMax: 4 * GIB, swappedBytes: 0 },
  processor: { periods: 1000, throttledPeriods: 2 },
  descriptorsMax: 65_536,
  isClockSynchronized: true,
};

function machine(more: Partial<MachineFacts>): readonly Finding[] {
  return machineFindings("the machine", { ...MACHINE, ...more });
}

function directory(more: Partial<MachineFacts["directories"][number]>): readonly Finding[] {
  return machine({ directories: MACHINE.directories.map((one) => ({ ...one, ...more })) });
}

const SECURITY: SecurityFacts = {
  secrets: [{ path: "/etc/key.pem", key: "ssl.keyStore.location", mode: 0o100600 }],
  certificates: [{ path: "/etc/key.pem", key: "ssl.keyStore.location", notAfterMs: NOW_MS + 90 * DAY_MS }],
  peers: { isAuthenticated: true, distantHost: "zk2" },
  admin: { port: 8080, needsCertificate: false, publicAddresses: [] },
};

function security(more: Partial<SecurityFacts>): readonly Finding[] {
  return securityFindings("zoo.cfg", { ...SECURITY, ...more }, NOW_MS);
}

const HOSTS: readonly ListedHost[] = [1, 2].map((sid) => ({
  sid: sid as ServerId,
  host: `zk${sid}`,
  subject: `zoo.cfg, line ${sid}`,
  isOwn: sid === 1,
  addresses: [`10.0.0.${sid}`],
  ports: sid === 1 ? [] : [{ use: "election", port: 3888, fault: undefined }],
}));

function hosts(sid: number, more: Partial<ListedHost>): readonly Finding[] {
  return hostFindings(
    HOSTS.map((one) => (one.sid === sid ? { ...one, ...more } : one)),
    ["127.0.0.1", "10.0.0.1"],
  );
}

const SERVING = { zxid: "0x100000005", version: "0.1.0", unlisted: [] };

/** What each kind is found by. Those of zooid-server check itself are in its own tests. */
const FOUND_BY: Readonly<
  Record<Exclude<FindingId, "configuration-refused" | "setting-doubtful">, () => readonly Finding[]>
> = {
  "even-voters": () =>
    voterFindings(
      "the list",
      membersOf(
        [1, 2, 3, 4].map((sid) => member(sid)),
        ZXID_NONE,
      ),
    ),
  "lists-differ": () =>
    ensembleFindings(
      ensemble(
        MEMBERS.map(({ sid = 0 }) => {
          const other = sid === 3 ? { "server.4": "zk4:2888:3888" } : {};
          const settings = { "server.1": "zk1:2888:3888", "server.2": "zk2:2888:3888", ...other };
          return server(sid, { admin: admin({ settings }) });
        }),
      ),
    ),
  "limits-differ": () => withServer(3, { admin: admin({ settings: { syncLimit: "50" } }) }),
  "own-host-loopback": () => hosts(1, { addresses: ["127.0.1.1"] }),
  "own-host-elsewhere": () => hosts(1, { addresses: ["10.9.9.9"] }),
  "host-unresolved": () => hosts(2, { addresses: [] }),
  "peer-port-closed": () => hosts(2, { ports: [{ use: "election", port: 3888, fault: "ECONNREFUSED" }] }),
  "sync-slow": () => directory({ syncMs: [1, 2, 40] }),
  "data-in-memory": () => directory({ fileSystem: "tmpfs" }),
  "data-on-overlay": () => directory({ fileSystem: "overlay" }),
  "data-on-network": () => directory({ fileSystem: "nfs4" }),
  "disk-nearly-full": () => directory({ freeBytes: 5 * GIB }),
  "swap-used": () => machine({ memory: { ...MACHINE.memory, swappedBytes: 4096 } }),
  "memory-short": () => machine({ memory: { ...MACHINE.memory, limitBytes: 2 * GIB } }),
  "cpu-throttled": () => machine({ processor: { periods: 1000, throttledPeriods: 20 } }),
  "descriptors-few": () => machine({ descriptorsMax: 1024 }),
  "clock-free": () => machine({ isClockSynchronized: false }),
  "clocks-differ": () => measured({ zooid_peer_clock_offset_seconds: -5 }),
  "certificate-ends": () => security({ certificates: [{ path: "/c", key: "k", notAfterMs: NOW_MS + 29.5 * DAY_MS }] }),
  "certificate-ended": () => security({ certificates: [{ path: "/c", key: "k", notAfterMs: NOW_MS }] }),
  "secret-readable": () => security({ secrets: [{ path: "/s", key: "k", mode: 0o100644 }] }),
  "peers-unauthenticated": () => security({ peers: { isAuthenticated: false, distantHost: "zk2" } }),
  "admin-open": () => security({ admin: { port: 8080, needsCertificate: false, publicAddresses: ["203.0.113.7"] } }),
  "no-leader": () => ensembleFindings(ensemble(MEMBERS.map(({ sid = 0 }) => server(sid, { status: "ECONNREFUSED" })))),
  "two-leaders": () => withServer(2, { status: { ...SERVING, mode: "standalone" } }),
  "member-silent": () => withServer(3, { status: "ECONNREFUSED" }),
  "member-not-serving": () => withServer(3, { status: { ...SERVING, mode: "read-only" } }),
  "no-failure-left": () => withServer(3, { status: "ECONNREFUSED" }),
  "member-behind": () => withServer(1, { status: { ...SERVING, mode: "leader", zxid: "0x100002716" } }),
  "member-unlisted": () => withServer(1, { status: { ...SERVING, mode: "leader", unlisted: [4, 5] } }),
  "versions-differ": () => withServer(3, { status: { ...SERVING, mode: "follower", version: "0.2.0" } }),
  "data-damaged": () => failing("data"),
  "disk-low": () => measured({ zooid_disk_low: 1 }),
  "descriptors-near": () => measured({ open_file_descriptor_count: 81, max_file_descriptor_count: 100 }),
  "backup-late": () => failing("backup"),
  "history-failing": () => measured({ zooid_history_failing: 1 }),
  "epochs-few": () => measured({ zooid_epochs_left: 300_000 }),
  "check-fails": () => failing("ports"),
};

test.each(Object.entries(FOUND_BY))("%s is found, with figures and a remedy", (id, find) => {
  const found = find().find((finding) => finding.id === id);
  expect(found).toMatchObject({ ...FINDING_KINDS[id as FindingId], id });
  for (const text of [found?.subject, found?.found, found?.remedy]) expect(text).toMatch(/./);
});

describe("nothing is found", () => {
  test.each<[string, () => readonly Finding[]]>([
    ["in a sound ensemble", () => ensembleFindings(ensemble(MEMBERS))],
    [
      "in a server alone",
      () =>
        ensembleFindings({
          members: undefined,
          servers: [server(1, { sid: undefined, status: { ...SERVING, mode: "standalone" } })],
        }),
    ],
    [
      "where a leader was not asked, and a follower serves",
      () => ensembleFindings({ members: undefined, servers: [server(2)] }),
    ],
    [
      "in an ensemble of voters and one observer",
      () =>
        voterFindings(
          "the list",
          membersOf([member(1), member(2), member(3), member(4, { isObserver: true })], ZXID_NONE),
        ),
    ],
    [
      "in groups, whose weights count",
      () =>
        voterFindings(
          "the list",
          membersOf(
            [1, 2, 3, 4].map((sid) => member(sid, { group: sid % 2 })),
            ZXID_NONE,
          ),
        ),
    ],
    ["on a sound machine", () => machine({})],
    [
      "on a machine of which nothing is known",
      () =>
        machine({
          directories: [
            {
              path: "/d",
              uses: ["dataDir"],
              fileSystem: undefined,
              bytes: undefined,
              freeBytes: undefined,
              syncMs: [],
            },
          ],
          memory: { totalBytes: undefined, limitBytes: undefined, heldBytesMax: undefined, swappedBytes: undefined },
          processor: { periods: undefined, throttledPeriods: undefined },
          descriptorsMax: undefined,
          isClockSynchronized: undefined,
        }),
    ],
    [
      "on a large disk with room, though less than a tenth",
      () => directory({ bytes: 1000 * GIB, freeBytes: 25 * GIB }),
    ],
    ["in sound settings", () => security({})],
    [
      "where unauthenticated peers are all on this machine",
      () => security({ peers: { isAuthenticated: false, distantHost: undefined } }),
    ],
    ["where each server finds the others", () => hosts(1, {})],
    [
      "where all servers of the list are on this machine",
      () =>
        hostFindings(
          HOSTS.map((one) => ({ ...one, addresses: ["127.0.0.1"] })),
          ["127.0.0.1"],
        ),
    ],
    ["where a voter was not asked", () => ensembleFindings(ensemble([server(1), server(2)]))],
    [
      "where no admin port was asked",
      () => ensembleFindings(ensemble(MEMBERS.map(({ sid = 0 }) => server(sid, { admin: undefined })))),
    ],
    ["where a host's addresses are not known", () => hostFindings(HOSTS, [])],
    [
      "10,000 transactions behind",
      () => withServer(1, { status: { ...SERVING, mode: "leader", zxid: "0x100002715" } }),
    ],
  ])("%s", (_, find) => {
    expect(find()).toEqual([]);
  });
});

test("the worst findings come first, and an absent member costs the last failure that three voters survive", () => {
  const found = withServer(3, { status: "ECONNREFUSED" });
  expect(found.map(({ id }) => id)).toEqual(["member-silent", "no-failure-left"]);
  expect(found[1]).toMatchObject({
    found: "2 of 3 voters serve: none of them may fail",
    remedy: expect.stringContaining("bring back server 3"),
  });
});

test("a list is compared by ids and roles, and the one of fewer files is named", () => {
  const listing = (sid: number, fourth: string): ServerFacts =>
    server(sid, {
      admin: {
        ...admin({ settings: { "server.1": "zk1:2888:3888", "server.4": fourth } }),
        settings: {
          subject: `file ${sid}`,
          settings: [
            { key: "server.1", value: "zk1:2888:3888" },
            { key: "server.4", value: fourth },
          ],
        },
      },
    });
  const found = ensembleFindings(
    ensemble([listing(1, "10.0.0.4:2888:3888"), listing(2, "zk4:2888:3888"), listing(3, "zk4:2888:3888:observer")]),
  );
  expect(found).toMatchObject([
    {
      id: "lists-differ",
      subject: "file 3",
      found: "it lists the servers 1, 4 (observer), and file 1 and file 2 the servers 1, 4",
    },
  ]);
});

test("lists that differ are no finding where clients change the members", () => {
  const listing = (sid: number, isChangeable: boolean): ServerFacts => {
    const joined = { "server.1": "zk1:2888:3888", [`server.${sid}`]: `zk${sid}:2888:3888:observer` };
    return server(sid, { admin: admin({ settings: { reconfigEnabled: String(isChangeable), ...joined } }) });
  };
  const found = (isChangeable: boolean): readonly string[] =>
    ensembleFindings(ensemble([1, 2, 3].map((sid) => listing(sid, isChangeable)))).map(({ id }) => id);
  expect(found(false)).toContain("lists-differ");
  expect(found(true)).toEqual([]);
});

/** What is found at the bound of each figure, and what is just not. */
const BOUNDS: readonly (readonly [id: FindingId, find: () => readonly Finding[], isFound: boolean | string])[] = [
  ["descriptors-near", () => measured({ open_file_descriptor_count: 80, max_file_descriptor_count: 100 }), false],
  [
    "descriptors-near",
    () => measured({ open_file_descriptor_count: 81, max_file_descriptor_count: 100 }),
    "81 of 100 descriptors are in use, 81 %",
  ],
  ["descriptors-near", () => measured({ open_file_descriptor_count: 81, max_file_descriptor_count: 0 }), false],
  ["descriptors-near", () => measured({ open_file_descriptor_count: 81, max_file_descriptor_count: -1 }), false],
  ["descriptors-near", () => measured({ open_file_descriptor_count: 81 }), false],
  ["descriptors-near", () => measured({ max_file_descriptor_count: 1 }), false],
  [
    "sync-slow",
    () => measured({ fsynctime_sum: 200, fsynctime_count: 10 }),
    "a sync of its log takes 20.0 ms, in the mean of 10",
  ],
  ["sync-slow", () => measured({ fsynctime_sum: 199, fsynctime_count: 10 }), false],
  ["sync-slow", () => measured({ fsynctime_sum: 200, fsynctime_count: 0 }), false],
  ["sync-slow", () => measured({ fsynctime_sum: 200 }), false],
  ["sync-slow", () => measured({ fsynctime_count: 1 }), false],
  ["clocks-differ", () => measured({ zooid_peer_clock_offset_seconds: 1 }), false],
  [
    "clocks-differ",
    () => measured({ zooid_peer_clock_offset_seconds: 1.001 }),
    "the clock of server 3 is 1001 ms ahead of its own",
  ],
  ["clocks-differ", () => measured({ zooid_peer_clock_offset_seconds: -1 }), false],
  [
    "clocks-differ",
    () => measured({ zooid_peer_clock_offset_seconds: -1.001 }),
    "the clock of server 3 is 1001 ms behind its own",
  ],
  ["history-failing", () => measured({ zooid_history_failing: 0 }), false],
  ["disk-low", () => measured({ zooid_disk_low: 0 }), false],
  ["disk-low", () => measured({ zooid_disk_low: 1, zooid_disk_full: 0 }), true],
  // The check of its storage says so.
  ["disk-low", () => measured({ zooid_disk_low: 1, zooid_disk_full: 1 }), false],
  ["epochs-few", () => measured({ zooid_epochs_left: 365_000 }), false],
  ["epochs-few", () => measured({ zooid_epochs_left: 364_999 }), "364999 elections are left"],
  ["sync-slow", () => directory({ syncMs: [1, 2, 19.9] }), false],
  [
    "sync-slow",
    () => directory({ syncMs: [1, 2, 20] }),
    "a synced write of 4 KiB takes 20.0 ms (p99 of 3; median 2.0)",
  ],
  ["sync-slow", () => directory({ syncMs: [...Array<number>(198).fill(1), 30, 40] }), true],
  ["sync-slow", () => directory({ syncMs: [...Array<number>(199).fill(1), 40] }), false],
  ["disk-nearly-full", () => directory({ freeBytes: 10 * GIB }), false],
  ["disk-nearly-full", () => directory({ freeBytes: 9 * GIB }), "9.0 GiB of 100.0 GiB are free, 9 %"],
  ["disk-nearly-full", () => directory({ bytes: 1000 * GIB, freeBytes: 20 * GIB }), false],
  ["disk-nearly-full", () => directory({ bytes: 1000 * GIB, freeBytes: 20 * GIB - 1 }), true],
  ["disk-nearly-full", () => directory({ bytes: 0, freeBytes: 0 }), false],
  ["disk-nearly-full", () => directory({ freeBytes: 0 }), true],
  ["memory-short", () => machine({ memory: { ...MACHINE.memory, heldBytesMax: 4 * GIB + 1 } }), true],
  [
    "memory-short",
    () => machine({ memory: { ...MACHINE.memory, totalBytes: 6 * GIB } }),
    "the tree may take 4.0 GiB, and the machine has 6.0 GiB",
  ],
  [
    "memory-short",
    () => machine({ memory: { ...MACHINE.memory, limitBytes: 6 * GIB } }),
    "the tree may take 4.0 GiB, and the control group's limit is 6.0 GiB",
  ],
  ["memory-short", () => machine({ memory: { ...MACHINE.memory, limitBytes: 16 * GIB } }), false],
  ["memory-short", () => machine({ memory: { ...MACHINE.memory, totalBytes: undefined } }), false],
  ["swap-used", () => machine({ memory: { ...MACHINE.memory, swappedBytes: 1 } }), true],
  ["cpu-throttled", () => machine({ processor: { periods: 1000, throttledPeriods: 10 } }), false],
  [
    "cpu-throttled",
    () => machine({ processor: { periods: 1000, throttledPeriods: 11 } }),
    "the processor quota was used up in 11 of 1000 periods, 1 %",
  ],
  ["cpu-throttled", () => machine({ processor: { periods: 0, throttledPeriods: 0 } }), false],
  ["descriptors-few", () => machine({ descriptorsMax: 4096 }), false],
  ["descriptors-few", () => machine({ descriptorsMax: 4095 }), true],
  ["data-on-network", () => directory({ fileSystem: "fuse.sshfs" }), true],
  ["data-on-network", () => directory({ fileSystem: "fuseblk" }), false],
  ["data-in-memory", () => directory({ fileSystem: "ramfs" }), true],
  ["certificate-ends", () => certificateFor(30 * DAY_MS), false],
  ["certificate-ends", () => certificateFor(30 * DAY_MS - 1), "the certificate of k ends on 2027-02-14, in 29 days"],
  ["certificate-ends", () => certificateFor(1), "the certificate of k ends on 2027-01-15, in 0 days"],
  ["certificate-ends", () => certificateFor(0), false],
  ["certificate-ended", () => certificateFor(1), false],
  ["certificate-ended", () => certificateFor(-1), "the certificate of k ended on 2027-01-15"],
  ...[0o600, 0o400, 0o700, 0o611, 0o640].map((mode) => ["secret-readable", () => secretWith(mode), false] as const),
  ...[0o604, 0o620, 0o602].map(
    (mode) => ["secret-readable", () => secretWith(mode), `the file of k has the mode ${mode.toString(8)}`] as const,
  ),
  ["peers-unauthenticated", () => security({ peers: undefined }), false],
  ["admin-open", () => security({ admin: undefined }), false],
  [
    "admin-open",
    () => security({ admin: { port: 1, needsCertificate: true, publicAddresses: ["203.0.113.7"] } }),
    false,
  ],
  ["even-voters", () => voters(0), false],
  ["even-voters", () => voters(1), false],
  ["even-voters", () => voters(2), "2 voters, both of which are needed: none may fail, as with 1"],
  ["even-voters", () => voters(4), "4 voters, 3 of which are needed: 1 may fail, as with 3"],
  ["even-voters", () => voters(6), "6 voters, 4 of which are needed: 2 may fail, as with 5"],
  ["own-host-loopback", () => hosts(1, { addresses: ["::1"] }), true],
  ["own-host-loopback", () => hosts(1, { addresses: ["127.0.1.1", "10.0.0.1"] }), false],
  ["own-host-elsewhere", () => hosts(1, { addresses: ["0.0.0.0"] }), false],
  ["own-host-elsewhere", () => hosts(1, { addresses: ["::"] }), false],
  ["own-host-elsewhere", () => hosts(1, { addresses: ["10.9.9.9", "10.0.0.1"] }), false],
  ["peer-port-closed", () => hosts(2, { ports: [{ use: "quorum", port: 2888, fault: "ECONNREFUSED" }] }), false],
  ["no-failure-left", () => voting(4), false],
  ["no-failure-left", () => voting(3), "3 of 5 voters serve: none of them may fail"],
  ["no-leader", () => answering(0, 3), "0 of 3 servers answered, and none serves"],
  ["no-leader", () => answering(1, 1), "1 of 1 server answered, and none serves"],
  ["no-leader", () => answering(2, 3), "2 of 3 servers answered, and none serves"],
  ["two-leaders", () => leading(2), "2 servers lead or stand alone: server 1, server 2"],
  ["two-leaders", () => leading(10), `10 servers lead or stand alone: ${namesTo(10)}`],
  ["two-leaders", () => leading(12), `12 servers lead or stand alone: ${namesTo(10)} and 2 more`],
  // Positions of two ensembles have nothing in common.
  ["member-behind", () => leading(2, "0x900000005"), false],
  ["member-behind", () => positioned("0x100002715"), false],
  ["member-behind", () => positioned("0x100002716"), "it is 10001 transactions behind"],
  ["member-behind", () => positioned("0x200000001"), "it is in an older epoch"],
  ["member-silent", () => withServer(3, { status: "ECONNREFUSED" }), "it does not answer: ECONNREFUSED"],
  [
    "member-not-serving",
    () => withServer(3, { status: { ...SERVING, mode: "read-only" } }),
    "it answers, and serves no clients: mode read-only",
  ],
  [
    "member-not-serving",
    () =>
      withServer(3, {
        status: { ...SERVING, mode: "read-only" },
        admin: admin({ checks: [{ name: "serving", fault: "no quorum" }] }),
      }),
    "it answers, and serves no clients: no quorum",
  ],
  ["member-unlisted", () => following([]), false],
  ["member-unlisted", () => following([4]), "server 4 follows although the list in force does not have it"],
  ["member-unlisted", () => following([4, 5]), "servers 4, 5 follow although the list in force does not have them"],
  [
    "versions-differ",
    () => withServer(3, { status: { ...SERVING, mode: "follower", version: "0.2.0" } }),
    "0.1.0 at server 1, server 2; 0.2.0 at server 3",
  ],
  ["versions-differ", () => withServer(3, { status: { ...SERVING, mode: "follower", version: undefined } }), false],
  ["limits-differ", () => limited(["5", "5", "5"]), false],
  ["limits-differ", () => limited(["TRUE", "true", " true "]), false],
  ["limits-differ", () => limited([undefined, undefined, undefined]), false],
  [
    "limits-differ",
    () => limited(["5", "5", "10"]),
    "syncLimit is 5 in file 1, line 7, file 2, line 7 and 10 in file 3, line 7",
  ],
  [
    "limits-differ",
    () => limited(["5", undefined, "5"]),
    "syncLimit is 5 in file 1, line 7, file 3, line 7 and not set in file 2",
  ],
  // There is no quorum: that is found by its name.
  ["no-failure-left", () => voting(2), false],
];

/** The first ones of some servers answer, and none serves. */
function answering(count: number, of: number): readonly Finding[] {
  const status = { ...SERVING, mode: "read-only" };
  const servers = Array.from({ length: of }, (_, at) =>
    server(at + 1, { status: at < count ? status : "ECONNREFUSED" }),
  );
  return ensembleFindings({ members: undefined, servers });
}

function leading(count: number, zxid = SERVING.zxid): readonly Finding[] {
  const servers = Array.from({ length: count }, (_, at) =>
    server(at + 1, { status: { ...SERVING, mode: "leader", zxid: at === 0 ? zxid : SERVING.zxid } }),
  );
  return ensembleFindings({ members: undefined, servers });
}

function namesTo(count: number): string {
  return Array.from({ length: count }, (_, at) => `server ${at + 1}`).join(", ");
}

/** The third server is where all are, and the first two are at another position. */
function positioned(zxid: string): readonly Finding[] {
  const servers = [1, 2].map((sid) =>
    server(sid, { status: { ...SERVING, mode: sid === 1 ? "leader" : "follower", zxid } }),
  );
  return ensembleFindings(ensemble([...servers, server(3)]));
}

function following(unlisted: readonly number[]): readonly Finding[] {
  return withServer(1, { status: { ...SERVING, mode: "leader", unlisted } });
}

/** Three files with a limit, or without it. */
function limited(values: readonly (string | undefined)[]): readonly Finding[] {
  const servers = values.map((value, at) => {
    const settings = value === undefined ? [] : [{ key: "syncLimit", value, line: 7 }];
    return server(at + 1, { admin: { ...admin(), settings: { subject: `file ${at + 1}`, settings } } });
  });
  return ensembleFindings(ensemble(servers));
}

function certificateFor(ms: number): readonly Finding[] {
  return security({ certificates: [{ path: "/c", key: "k", notAfterMs: NOW_MS + ms }] });
}

function secretWith(mode: number): readonly Finding[] {
  return security({ secrets: [{ path: "/s", key: "k", mode: 0o100000 | mode }] });
}

function voters(count: number): readonly Finding[] {
  return voterFindings("the list", { servers: Array.from({ length: count }, (_, at) => member(at + 1)) });
}

/** Five voters, of which the first ones serve. */
function voting(count: number): readonly Finding[] {
  const servers = [1, 2, 3, 4, 5].map((sid) => server(sid, sid <= count ? {} : { status: "ECONNREFUSED" }));
  return ensembleFindings(ensemble(servers, 5));
}

test.each(BOUNDS.map(([id, find, isFound]) => [id, isFound, find] as const))(
  "at its bound %s is found: %s",
  (id, isFound, find) => {
    const texts = find().flatMap((finding) => (finding.id === id ? [finding.found] : []));
    if (typeof isFound === "string") expect(texts).toEqual([isFound]);
    else expect(texts).toHaveLength(isFound ? 1 : 0);
  },
);

test("a figure of one server is found at that server alone", () => {
  const found = measured({ zooid_epochs_left: 1, zooid_disk_low: 1, zooid_history_failing: 1 });
  expect(found.map(({ subject }) => subject)).toEqual(["server 2", "server 2", "server 2"]);
});
