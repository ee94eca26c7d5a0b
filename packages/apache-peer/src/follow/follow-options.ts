import {
  ArgumentError,
  EPOCH_MAX,
  found,
  misfits,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  type Zxid,
} from "@zooid/model";
import type { QuorumAddress } from "../core/leader-search.ts";
import type { QuorumUser } from "../core/quorum-login.ts";
import type { PeerTls } from "../edge/leader-connection.ts";

export interface FollowOptions {
  /**
   * The last transaction that the caller has; the next one comes first. Without it a snapshot comes
   * first.
   */
  readonly after?: Zxid;
  /**
   * Our number as a server: above those of all voters, in no voter's place, and below 255. Default
   * 254.
   */
  readonly sid?: number;
  /**
   * A file for the epochs that were promised, of this ensemble alone. Without it each process
   * begins as a server that has promised nothing.
   */
  readonly epochFile?: string;
  /**
   * Where the file for what waits to be read is made. Default: the system's temporary directory.
   */
  readonly spoolDirectory?: string;
  /** Bytes of waiting events that are kept in memory. Default 16 MiB. */
  readonly spoolMemoryBytesMax?: number;
  /**
   * Bytes of events that may wait, in memory and on the disk; there the link ends, and begins again
   * when half of them are read. The snapshot of the ensemble must fit. Default 4 GiB.
   */
  readonly spoolBytesMax?: number;
  /**
   * The longest data of a packet or a node: `jute.maxbuffer` of the servers and as much again.
   * Default 4 MiB.
   */
  readonly packetBytesMax?: number;
  /**
   * For a connection with TLS and login. Default 5 s. An address that neither accepts nor refuses
   * has half a second, doubled after four such attempts, up to this time.
   */
  readonly connectTimeoutMs?: number;
  /** How long a leader may be silent until everything has come. Default 40 s. */
  readonly initTimeoutMs?: number;
  /** How long it may be silent then: `tickTime` times `syncLimit` of the servers. Default 10 s. */
  readonly syncTimeoutMs?: number;
  /** TLS between servers (`sslQuorum`): PEM texts. */
  readonly tls?: PeerTls;
  /** A user of the servers' JAAS section QuorumServer (`quorum.auth.enableSasl`). */
  readonly login?: QuorumUser;
}

export interface CheckedFollow extends Omit<FollowOptions, "after" | "epochFile" | "tls" | "login" | "spoolDirectory"> {
  readonly addresses: readonly QuorumAddress[];
  readonly after: Zxid | undefined;
  readonly epochFile: string | undefined;
  readonly spoolDirectory: string | undefined;
  readonly tls: PeerTls | undefined;
  readonly login: QuorumUser | undefined;
  readonly sid: number;
  readonly spoolMemoryBytesMax: number;
  readonly spoolBytesMax: number;
  readonly packetBytesMax: number;
  readonly connectTimeoutMs: number;
  readonly initTimeoutMs: number;
  readonly syncTimeoutMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SID_MAX = 254;
const MS_MAX = 2 ** 31 - 1;
const ADDRESS_COUNT_MAX = 100;

const zxid: Rule = {
  expected: `a zxid of an epoch below ${EPOCH_MAX}`,
  accepts: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < EPOCH_MAX * 2 ** 32,
};
const milliseconds = wholeNumberRule(1, MS_MAX);
const TLS: Shape<PeerTls> = shape<PeerTls>({
  key: rules.filledText,
  cert: rules.filledText,
  ca: rules.filledText,
  checksHost: rules.flag,
});
const USER: Shape<QuorumUser> = shape<QuorumUser>({ username: rules.filledText, password: rules.filledText });

const OPTIONS: Shape<FollowOptions> = shape<FollowOptions>({
  after: zxid,
  sid: wholeNumberRule(1, SID_MAX),
  epochFile: rules.filledText,
  spoolDirectory: rules.filledText,
  spoolMemoryBytesMax: wholeNumberRule(0, GIB),
  spoolBytesMax: wholeNumberRule(MIB, 1024 * GIB),
  packetBytesMax: wholeNumberRule(64 * KIB, 256 * MIB),
  connectTimeoutMs: milliseconds,
  initTimeoutMs: milliseconds,
  syncTimeoutMs: milliseconds,
  tls: rules.record,
  login: rules.record,
});

/**
 * @param hosts `host:port` of the quorum ports, or of observer masters, with commas between them
 * @throws ArgumentError with all problems
 */
export function checkFollow(where: string, hosts: string, options: FollowOptions = {}): CheckedFollow {
  const addresses = parseHosts(hosts);
  const { tls, login } = options ?? {};
  const problems = [
    ...(typeof addresses === "string" ? [addresses] : []),
    ...misfits(options, OPTIONS),
    ...(tls === undefined ? [] : recordProblems("tls", tls, TLS, ["key", "cert", "ca"])),
    ...(login === undefined ? [] : recordProblems("login", login, USER, ["username", "password"])),
  ];
  if (typeof addresses === "string" || problems.length > 0) throw new ArgumentError(where, problems);
  return {
    addresses,
    after: options.after,
    epochFile: options.epochFile,
    spoolDirectory: options.spoolDirectory,
    tls,
    login,
    sid: options.sid ?? SID_MAX,
    spoolMemoryBytesMax: options.spoolMemoryBytesMax ?? 16 * MIB,
    spoolBytesMax: options.spoolBytesMax ?? 4 * GIB,
    packetBytesMax: options.packetBytesMax ?? 4 * MIB,
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    initTimeoutMs: options.initTimeoutMs ?? 40_000,
    syncTimeoutMs: options.syncTimeoutMs ?? 10_000,
  };
}

/** Values are not shown: one of them is a password. */
function recordProblems<T extends object>(
  name: string,
  value: T,
  expected: Shape<T>,
  required: readonly (keyof T & string)[],
): readonly string[] {
  const ruleOf = expected as Readonly<Record<string, Rule>>;
  return required
    .filter((field) => ruleOf[field]?.accepts((value as Readonly<Record<string, unknown>>)[field]) !== true)
    .map((field) => `${name}.${field} must be ${ruleOf[field]?.expected}`);
}

/** @returns the problem where a host is none */
function parseHosts(hosts: string): readonly QuorumAddress[] | string {
  if (typeof hosts !== "string") return `the hosts must be host:port,host:port, found ${found(hosts)}`;
  const parts = hosts.split(",");
  if (parts.length > ADDRESS_COUNT_MAX) return `the hosts must be at most ${ADDRESS_COUNT_MAX}, found ${parts.length}`;
  const addresses: QuorumAddress[] = [];
  for (const part of parts) {
    const [, bracketed, plain, digits] = /^\s*(?:\[([^\]\s]+)\]|([^:[\]\s]+)):(\d{1,5})\s*$/.exec(part) ?? [];
    const host = bracketed ?? plain;
    const port = Number(digits);
    if (host === undefined || port < 1 || port > 65_535)
      return `the hosts must be host:port,host:port, with the quorum ports of the servers (2888), found ${found(part)}`;
    addresses.push({ host, port });
  }
  return addresses;
}
