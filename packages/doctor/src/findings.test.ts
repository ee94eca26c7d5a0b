import { membersOf, ZXID_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import {
  ensembleFindings,
  FINDING_KINDS,
  type Finding,
  type FindingId,
  hostFindings,
  type PortFault,
  type PortHolder,
  type ServerFacts,
  voterFindings,
} from "./index.ts";
import {
  admin,
  CLI,
  DAY_MS,
  directory,
  ensemble,
  FOUND_BY,
  GIB,
  HOSTS,
  hosts,
  MACHINE,
  MEMBERS,
  machine,
  measured,
  member,
  NOW_MS,
  port,
  SERVING,
  security,
  server,
  withServer,
} from "./testing/spoiled-facts.ts";

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
          cli: CLI,
          members: undefined,
          servers: [server(1, { sid: undefined, status: { ...SERVING, mode: "standalone" } })],
        }),
    ],
    [
      "where a leader was not asked, and a follower serves",
      () => ensembleFindings({ cli: CLI, members: undefined, servers: [server(2)] }),
    ],
    [
      "in an ensemble of voters and one observer",
      () =>
        voterFindings(
          "the list",
          membersOf([member(1), member(2), member(3), member(4, { isObserver: true })], ZXID_NONE),
          CLI,
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
          CLI,
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

/** The bound of each figure, with a fact that is found and one that is not. */
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
  ["port-taken", () => port({ fault: undefined }), false],
  [
    "port-taken",
    () => port({ fault: takenBy({ pid: 12, program: "nginx" }) }),
    "clientPort, port 2181 on every address, is taken by nginx (process 12)",
  ],
  [
    "port-taken",
    () => port({ host: "::1", fault: takenBy({ uid: 33 }) }),
    "clientPort, [::1]:2181, is taken by a program of user 33",
  ],
  [
    "port-taken",
    () => port({ fault: { kind: "taken", holder: undefined } }),
    "clientPort, port 2181 on every address, is taken by another program",
  ],
  [
    "port-refused",
    () => port({ host: "10.9.9.9", fault: { kind: "elsewhere" } }),
    "clientPort, 10.9.9.9:2181, has an address that no interface of this machine has",
  ],
  [
    "port-refused",
    () => port({ fault: { kind: "other", reason: "EINVAL" } }),
    "clientPort, port 2181 on every address, cannot be bound: EINVAL",
  ],
  ["optional-port-closed", () => port({ isOptional: true, fault: { kind: "privileged" } }), true],
  ["directory-unusable", () => directory({ fault: undefined }), false],
  [
    "directory-unusable",
    () => directory({ fault: { reason: "it is closed", remedy: "open it" } }),
    "dataDir cannot be used: it is closed",
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
  return ensembleFindings({ cli: CLI, members: undefined, servers });
}

function leading(count: number, zxid = SERVING.zxid): readonly Finding[] {
  const servers = Array.from({ length: count }, (_, at) =>
    server(at + 1, { status: { ...SERVING, mode: "leader", zxid: at === 0 ? zxid : SERVING.zxid } }),
  );
  return ensembleFindings({ cli: CLI, members: undefined, servers });
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
  return voterFindings("the list", { servers: Array.from({ length: count }, (_, at) => member(at + 1)) }, CLI);
}

function takenBy(holder: Partial<PortHolder>): PortFault {
  return { kind: "taken", holder: { pid: undefined, program: undefined, uid: undefined, ...holder } };
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

test("the list of a file that alone decides is changed by files, and not by a command", () => {
  const servers = [1, 2].map((sid) => member(sid));
  const [found] = voterFindings("zoo.cfg", { servers }, undefined);
  expect(found?.remedy).toContain("by the lines server.N in the file of each member");
  expect(found?.remedy).not.toContain("zooid-cli");
});

test("commands of zooid-cli name the servers that were asked, with the options of the operator", () => {
  const call = /zooid-cli -server (\S+) -client-configuration 'my tls\.cfg' \w/;
  const asked = [CLI.servers, ...MEMBERS.map(({ address }) => address)];
  const remedies = Object.values(FOUND_BY).flatMap((find) => find().map(({ remedy }) => remedy));
  const texts = remedies.flatMap((remedy) => remedy.match(/zooid-cli[^,;)]*/g) ?? []);
  expect(texts.length).toBeGreaterThan(5);
  const calls = remedies.flatMap((remedy) => [...remedy.matchAll(new RegExp(call, "g"))]);
  expect(calls).toHaveLength(texts.length);
  for (const [, server = ""] of calls) expect(asked).toContain(server);
});

test("an id that no member has is free for a new one, also where the highest is in use", () => {
  const remedyOf = (sids: readonly number[]): string | undefined => {
    const members = membersOf(
      sids.map((sid) => member(sid)),
      ZXID_NONE,
    );
    const servers = sids.map((sid, at) => server(sid, at < 2 ? {} : { status: "ECONNREFUSED" }));
    return ensembleFindings({ members, servers, cli: CLI }).find(({ id }) => id === "no-failure-left")?.remedy;
  };
  expect(remedyOf([1, 2, 3])).toMatch(/member replace 3 --with '4=HOST:2888:3888;2181'$/);
  expect(remedyOf([1, 2, 254])).toMatch(/--with '253=HOST:2888:3888;2181'$/);
});
