import { readFileSync } from "node:fs";
import { checkFollow, type PeerTls, type QuorumUser } from "@zooid/apache-peer";
import { ArgumentError } from "@zooid/model";

/** The Apache ensemble that a server follows, in place of serving clients. */
export interface FollowOptions {
  /**
   * `host:port` of the quorum ports of all servers, or of observer masters, with commas between
   * them. A port for elections behind a quorum port is not used.
   */
  readonly hosts: string;
  /** This server's number: above those of all voters, and below 255. Default 254. */
  readonly sid?: number;
  /** Bytes that wait to be applied, in memory. Default 16 MiB. */
  readonly spoolMemoryBytesMax?: number;
  /**
   * Bytes that wait to be applied, in memory and on the disk of the data directory; there the link
   * ends until half of them are applied. A snapshot of the ensemble must fit. Default 4 GiB.
   */
  readonly spoolBytesMax?: number;
  /**
   * The longest data of a packet or a node: `jute.maxbuffer` of the servers and as much again.
   * Default 4 MiB.
   */
  readonly packetBytesMax?: number;
  /** `tickTime` times `initLimit` of the servers. Default 40 s. */
  readonly initTimeoutMs?: number;
  /** `tickTime` times `syncLimit` of the servers. Default 10 s. */
  readonly syncTimeoutMs?: number;
  /** PEM files for servers with `sslQuorum=true`: a key, its certificate, and the authority's. */
  readonly tlsKeyFile?: string;
  readonly tlsCertFile?: string;
  readonly tlsCaFile?: string;
  /** Whether the certificates of the servers must have their names. Default true. */
  readonly tlsChecksHost?: boolean;
  /** A user of the servers' JAAS section QuorumServer, and the file with its password. */
  readonly user?: string;
  readonly passwordFile?: string;
}

/** {@link FollowOptions} validated, with every file read. */
export interface FollowConfig {
  /** `host:port` of each server. */
  readonly hosts: string;
  readonly link: {
    readonly sid: number;
    readonly spoolMemoryBytesMax: number;
    readonly spoolBytesMax: number;
    readonly packetBytesMax: number;
    readonly initTimeoutMs: number;
    readonly syncTimeoutMs: number;
    readonly tls?: PeerTls;
    readonly login?: QuorumUser;
  };
}

type Whole = (name: string, value: number, min: number, max: number) => number;

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SID_MAX = 254;
const INT_MAX = 2 ** 31 - 1;

/** @returns undefined where the hosts cannot be read */
export function parseFollow(options: FollowOptions, whole: Whole, problems: string[]): FollowConfig {
  const hosts = withoutElectionPorts(options.hosts ?? "");
  if (hosts === "")
    problems.push("zooid.follow is missing: it names the quorum ports of the Apache servers, HOST:2888");
  try {
    if (hosts !== "") checkFollow("zooid.follow", hosts);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    problems.push(...error.problems.map((problem) => `zooid.follow: ${problem}`));
  }
  const tls = tlsOf(options, problems);
  const login = loginOf(options, problems);
  return {
    hosts,
    link: {
      sid: whole("zooid.follow.sid", options.sid ?? SID_MAX, 1, SID_MAX),
      spoolMemoryBytesMax: whole("zooid.follow.spoolMemoryBytesMax", options.spoolMemoryBytesMax ?? 16 * MIB, 0, GIB),
      spoolBytesMax: whole("zooid.follow.spoolBytesMax", options.spoolBytesMax ?? 4 * GIB, MIB, 1024 * GIB),
      packetBytesMax: whole("zooid.follow.packetBytesMax", options.packetBytesMax ?? 4 * MIB, 64 * KIB, 256 * MIB),
      initTimeoutMs: whole("zooid.follow.initTimeoutMs", options.initTimeoutMs ?? 40_000, 1, INT_MAX),
      syncTimeoutMs: whole("zooid.follow.syncTimeoutMs", options.syncTimeoutMs ?? 10_000, 1, INT_MAX),
      ...(tls === undefined ? {} : { tls }),
      ...(login === undefined ? {} : { login }),
    },
  };
}

/** As lines `server.N` have them, each address may be followed by a port for elections. */
function withoutElectionPorts(hosts: string): string {
  return hosts
    .split(",")
    .map((host) => withoutElectionPort(host.trim()))
    .join(",");
}

function withoutElectionPort(host: string): string {
  const portsStart = host.lastIndexOf("]") + 1;
  const [name = "", port, electionPort = "", ...more] = host.slice(portsStart).split(":");
  if (more.length > 0 || !/^\d+$/.test(electionPort)) return host;
  return `${host.slice(0, portsStart)}${name}:${port}`;
}

function tlsOf(
  { tlsKeyFile, tlsCertFile, tlsCaFile, tlsChecksHost }: FollowOptions,
  problems: string[],
): PeerTls | undefined {
  const files = { tlsKeyFile, tlsCertFile, tlsCaFile };
  const missing = Object.entries(files).filter(([, file]) => file === undefined);
  if (missing.length === 3) return undefined;
  for (const [name] of missing) problems.push(`zooid.follow.${name} is missing: TLS needs all three files`);
  const [key, cert, ca] = Object.entries(files).map(([name, file]) => textOf(`zooid.follow.${name}`, file, problems));
  if (key === undefined || cert === undefined || ca === undefined) return undefined;
  return { key, cert, ca, ...(tlsChecksHost === undefined ? {} : { checksHost: tlsChecksHost }) };
}

function loginOf({ user, passwordFile }: FollowOptions, problems: string[]): QuorumUser | undefined {
  if (user === undefined && passwordFile === undefined) return undefined;
  if (user === undefined) problems.push("zooid.follow.user is missing: zooid.follow.passwordFile has its password");
  if (passwordFile === undefined)
    problems.push("zooid.follow.passwordFile is missing: it has the password of zooid.follow.user");
  const password = textOf("zooid.follow.passwordFile", passwordFile, problems)?.trim();
  if (password === "") problems.push("zooid.follow.passwordFile names a file without a password");
  return user === undefined || password === undefined ? undefined : { username: user, password };
}

function textOf(name: string, file: string | undefined, problems: string[]): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
