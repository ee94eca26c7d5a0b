import { type Member, membersOf, type ServerId, ZXID_NONE } from "@zooid/model";
import {
  type AdminFacts,
  type ApacheFindingId,
  type CliCall,
  type EnsembleFacts,
  ensembleFindings,
  type Finding,
  type FindingId,
  hostFindings,
  type ListedHost,
  type MachineFacts,
  machineFindings,
  type PortFacts,
  portFindings,
  type SecurityFacts,
  type ServerFacts,
  securityFindings,
  voterFindings,
} from "../index.ts";

/** Sound facts, and for each kind of finding the change by which it is found. */

export const GIB: number = 2 ** 30;
export const DAY_MS = 86_400_000;
export const NOW_MS = 1_800_000_000_000;

export function member(sid: number, more: Partial<Member> = {}): Member {
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

/** The call of an operator who uses TLS. */
export const CLI: CliCall = { servers: "zk1:2181,zk2:2181,zk3:2181", options: ["-client-configuration", "my tls.cfg"] };

/** A member that serves and of which nothing is wrong. */
export function server(sid: number, more: Partial<ServerFacts> = {}): ServerFacts {
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

export function admin({ checks = [], metrics = {}, settings = {} }: AdminDraft = {}): AdminFacts {
  return {
    url: "http://zk2:8080",
    checks: [{ name: "running", fault: undefined }, ...checks],
    metrics: new Map(Object.entries(metrics).map(([name, value]) => [name, [{ labels: { peer: "3" }, value }]])),
    settings: { subject: "the file", settings: Object.entries(settings).map(([key, value]) => ({ key, value })) },
  };
}

export interface AdminDraft {
  readonly checks?: AdminFacts["checks"];
  readonly metrics?: Readonly<Record<string, number>>;
  readonly settings?: Readonly<Record<string, string>>;
}

export function ensemble(servers: readonly ServerFacts[], voters = 3): EnsembleFacts {
  const members = Array.from({ length: voters }, (_, at) => member(at + 1));
  return { members: membersOf(members, ZXID_NONE), servers, cli: CLI };
}

export const MEMBERS: readonly ServerFacts[] = [server(1), server(2), server(3)];

/** The sound ensemble, one of whose servers is another one. */
export function withServer(sid: number, more: Partial<ServerFacts>): readonly Finding[] {
  return ensembleFindings(ensemble(MEMBERS.map((one) => (one.sid === sid ? server(sid, more) : one))));
}

export function measured(metrics: Readonly<Record<string, number>>): readonly Finding[] {
  return withServer(2, { admin: admin({ metrics }) });
}

export function failing(name: string): readonly Finding[] {
  return withServer(2, { admin: admin({ checks: [{ name, fault: "broken" }] }) });
}

export const MACHINE: MachineFacts = {
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

export function machine(more: Partial<MachineFacts>): readonly Finding[] {
  return machineFindings("the machine", { ...MACHINE, ...more });
}

export function directory(more: Partial<MachineFacts["directories"][number]>): readonly Finding[] {
  return machine({ directories: MACHINE.directories.map((one) => ({ ...one, ...more })) });
}

export const SECURITY: SecurityFacts = {
  secrets: [{ path: "/etc/key.pem", key: "ssl.keyStore.location", mode: 0o100600 }],
  certificates: [{ path: "/etc/key.pem", key: "ssl.keyStore.location", notAfterMs: NOW_MS + 90 * DAY_MS }],
  peers: { isAuthenticated: true, distantHost: "zk2" },
  admin: { port: 8080, needsCertificate: false, publicAddresses: [] },
};

export function security(more: Partial<SecurityFacts>): readonly Finding[] {
  return securityFindings("zoo.cfg", { ...SECURITY, ...more }, NOW_MS);
}

export const HOSTS: readonly ListedHost[] = [1, 2].map((sid) => ({
  sid: sid as ServerId,
  host: `zk${sid}`,
  subject: `zoo.cfg, line ${sid}`,
  isOwn: sid === 1,
  addresses: [`10.0.0.${sid}`],
  ports: sid === 1 ? [] : [{ use: "election", port: 3888, fault: undefined }],
}));

export function hosts(sid: number, more: Partial<ListedHost>): readonly Finding[] {
  return hostFindings(
    HOSTS.map((one) => (one.sid === sid ? { ...one, ...more } : one)),
    ["127.0.0.1", "10.0.0.1"],
  );
}

export const SERVING: { readonly zxid: string; readonly version: string; readonly unlisted: readonly number[] } = {
  zxid: "0x100000005",
  version: "0.1.0",
  unlisted: [],
};

const PORT: PortFacts = {
  setting: "clientPort",
  subject: "zoo.cfg, line 2",
  host: "*",
  port: 2181,
  isOptional: false,
  fault: undefined,
};

export function port(more: Partial<PortFacts>): readonly Finding[] {
  return portFindings([{ ...PORT, ...more }]);
}

/** The facts by which each kind is found. Those of check itself are in its own tests. */
export const FOUND_BY: Readonly<
  Record<Exclude<FindingId, "configuration-refused" | "setting-doubtful" | ApacheFindingId>, () => readonly Finding[]>
> = {
  "even-voters": () =>
    voterFindings(
      "the list",
      membersOf(
        [1, 2, 3, 4].map((sid) => member(sid)),
        ZXID_NONE,
      ),
      CLI,
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
  "port-taken": () => port({ fault: { kind: "taken", holder: { pid: 12, program: "nginx", uid: 33 } } }),
  "port-refused": () => port({ port: 80, fault: { kind: "privileged" } }),
  "optional-port-closed": () => port({ isOptional: true, fault: { kind: "taken", holder: undefined } }),
  "directory-unusable": () => directory({ fault: { reason: "/data is no directory", remedy: "mv /data /data.old" } }),
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
