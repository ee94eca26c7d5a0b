import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { totalmem } from "node:os";
import type { ArchiveSource, UploadSettings } from "@zooid/backup";
import {
  errorJson,
  type IpRange,
  type KnownLevels,
  keepCode,
  NO_PROXIES,
  OWN_LEVELS,
  parseProxyRange,
  type TrustedProxies,
} from "@zooid/model";
import { REPLICA_DEFAULTS, type ReapingConfig } from "@zooid/replica";
import { hasZstd } from "@zooid/txn-log/sqlite";
import {
  type AdminConfig,
  type AdminOptions,
  type MetricsConfig,
  type MetricsOptions,
  parseAdmin,
  parseMetrics,
} from "./admin/http-options.ts";
import { parseWhitelist, unknownWords } from "./admin/word-names.ts";
import { type BackupOptions, parseBackup } from "./backup/backup-options.ts";
import { type ClientAuth, type ClientAuthOptions, parseClientAuth } from "./clients/client-auth.ts";
import {
  type ConnectionThrottleConfig,
  type ConnectionThrottleOptions,
  parseConnectionThrottle,
} from "./clients/connection-throttle.ts";
import type { DiskOptions } from "./disk/disk-marks.ts";
import type { HistoryOptions } from "./disk/history-reports.ts";
import type { ScrubSettings } from "./disk/scrub-reports.ts";
import { type FollowConfig, type FollowOptions, parseFollow } from "./following/follow-options.ts";
import { collidingPorts } from "./listening/own-ports.ts";
import { type EnsembleOptions, parseEnsemble, type QuorumPeerConfig } from "./peers/ensemble-config.ts";
import { parseStandby, type StandbyOptions } from "./standby/standby-options.ts";
import { parseTls, type TlsConfig, type TlsOptions } from "./tls/tls-config.ts";

/** Options of a server. Every field has a default; see {@link parseServerConfig}. */
export interface ServerOptions {
  /** Port for clients; 0 lets the system choose. Default 2181. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1; `*` for every address. */
  readonly address?: string;
  /** Whether that port is open; it is optional if there is a TLS port. Default true. */
  readonly plainPort?: boolean;
  /** Port for clients that speak TLS; 0 lets the system choose. Default: there is none. */
  readonly securePort?: number;
  /** Address of that port, as `address`. Default 127.0.0.1. */
  readonly secureAddress?: string;
  /** Whether `port` accepts TLS clients too. Default false. */
  readonly portUnification?: boolean;
  /** Keys, certificates and versions of TLS for clients. */
  readonly tls?: TlsOptions;
  /** Backlog of the listening socket. Default: the system's. */
  readonly listenBacklog?: number;
  /**
   * Directory of state and log. Undefined keeps everything in memory, for tests and demonstrations.
   */
  readonly dataDir?: string;
  /**
   * Directory of the log, if separate from the state: a disk of its own makes writes faster.
   * Default: `dataDir`.
   */
  readonly logDir?: string;
  /** The unit of session expiry, in milliseconds. Default 2000. */
  readonly tickMs?: number;
  /** Bounds of negotiated session timeouts, in milliseconds. Defaults: 2 and 20 ticks. */
  readonly sessionTimeoutMsMin?: number;
  readonly sessionTimeoutMsMax?: number;
  /** Connections of one address, or of one /64; 0 is no limit. Default 60. */
  readonly connectionsPerAddressMax?: number;
  /** Connections of all addresses; 0 is no limit. Default 0. */
  readonly connectionsMax?: number;
  /**
   * Proxies that bring many clients through one address, each as `ADDRESS` or `ADDRESS/BITS`: their
   * connections have shares of their own, and together {@link trustedProxiesPercent} of each
   * budget. No header of theirs is read. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** The part of each budget that connections of those have together, in percent. Default 25. */
  readonly trustedProxiesPercent?: number;
  /** Rate limit of new connections. Default: none. */
  readonly connectionThrottle?: ConnectionThrottleOptions;
  /** Whether TCP keep-alive detects that a client's machine is gone. Default false. */
  readonly tcpKeepAlive?: boolean;
  /** Largest frame a client may send, in bytes. Default 1048575. */
  readonly frameBytesMax?: number;
  /** A connection without a session is closed after this time, in milliseconds. Default 10000. */
  readonly sessionlessTimeoutMs?: number;
  /**
   * The four-letter word whitelist, separated by commas; `*` for all. `srvr` is always included.
   */
  readonly fourLetterWords?: string;
  /** `user:base64(hash(user:password))` of the superuser. Default: there is none. */
  readonly superDigest?: string;
  /** Whether the digest scheme is enabled. Default true. */
  readonly digestEnabled?: boolean;
  /** The digest scheme's hash, by Java's name: SHA1, SHA-256, SHA-512, SHA3-256, … Default SHA1. */
  readonly digestAlgorithm?: string;
  /** Disables checks of access lists. Default false. */
  readonly skipAcl?: boolean;
  /** Further authentication of clients: SASL, certificates, and enforced schemes. */
  readonly auth?: ClientAuthOptions;
  /** Whether nodes with a time to live may be created. Default false, as in Apache ZooKeeper. */
  readonly ttlNodes?: boolean;
  /**
   * Whether hard quotas refuse writes, and writes beyond soft ones are logged. Default false, as in
   * Apache ZooKeeper.
   */
  readonly enforceQuota?: boolean;
  /**
   * Memory limit of the tree: bytes of data, paths and access lists, and 128 a node. Writes that
   * would exceed it are refused. 0 is no limit. Default: half of the memory that the process may
   * have.
   */
  readonly heldBytesMax?: number;
  /**
   * Parts of one multi, 1 to 20000; one with more is refused with MARSHALLING_ERROR. Writes behind
   * a multi wait until it is applied. Default 20000.
   */
  readonly multiPartsMax?: number;
  /**
   * The greatest size of the names of one node's children in a listing, in bytes; a create beyond
   * it is refused with QUOTA_EXCEEDED. 0 is no limit. Default 64 MiB.
   */
  readonly childrenBytesMax?: number;
  /**
   * Memory limit of the watches of all connections, in bytes: beyond it the connection with the
   * most is closed. 0 is no limit. Default: an eighth of the memory that the process may have.
   */
  readonly watchBytesMax?: number;
  /** Removal of empty containers and expired TTL nodes. */
  readonly reaping?: ReapingOptions;
  /** Writes in flight from which clients are left unread. Default 65536. */
  readonly outstandingCountMax?: number;
  /**
   * The same limit by another setting, where 0 is no limit; the smaller of both applies. Default 0.
   */
  readonly requestThrottleMax?: number;
  /** Watches of one connection before it is closed. Default 1000000. */
  readonly watchCountMax?: number;
  /** Unsent bytes of a slow reader before it is cut off. Default 64 MiB. */
  readonly outputBytesMax?: number;
  /** A sync of the log that takes longer is logged, in milliseconds. Default 1000. */
  readonly fsyncWarnMs?: number;
  /**
   * Milliseconds from which a request is logged with its stages, and a turn of the event loop. 0
   * logs none. Default 1000.
   */
  readonly slowRequestMs?: number;
  /**
   * Writes wait when the state file lags behind by more bytes of log than this: it bounds the
   * replay at startup and the log's size. Default 512 MiB.
   */
  readonly stateLagBytesMax?: number;
  /** The part of the log that is kept beyond what the state file and its learners need. */
  readonly retention?: RetentionOptions;
  /** Whether committed entries are archived in the data directory, and for how long. */
  readonly history?: HistoryOptions;
  /** Where the history is copied to. Default: nowhere. */
  readonly backup?: BackupOptions;
  /**
   * The state of a followed Apache ensemble that this member keeps ready while clients stay out.
   * Default: none.
   */
  readonly standby?: StandbyOptions;
  /** The limits of a disk that has little room. */
  readonly disk?: DiskOptions;
  /** How state file and log are checked for damage while the server runs. */
  readonly scrub?: ScrubSettings;
  /**
   * Whether damaged files are replaced without an operator. A start of an ensemble's member moves
   * them to `damaged/<time>/` and recovers from the others. A standalone server has no others: its
   * start is refused either way. Default true.
   */
  readonly healDamage?: boolean;
  /** @internal The feature levels that this server knows; for tests. Default: this version's. */
  readonly levels?: KnownLevels;
  /** The members of the ensemble. Undefined: a standalone server. */
  readonly ensemble?: EnsembleOptions;
  /**
   * A running Apache ensemble whose transactions this server applies, as an observer. It serves no
   * clients meanwhile; its admin port shows the tree. Needs `dataDir`. Default: none.
   */
  readonly follow?: FollowOptions;
  /**
   * `reconfigEnabled`: clients may change the members; the list in the options is the first one.
   * Without it the list in the options is what the operator asks for: it is in force once quorums
   * of it and of the list in force have it. The list in force is kept with the data in either case.
   * Default false.
   */
  readonly reconfigEnabled?: boolean;
  /** `standaloneEnabled`: a change leaves at least two voters; without it, one. Default true. */
  readonly standaloneEnabled?: boolean;
  /**
   * Local sessions: sessions stay on the server that they connected to, and need no write, until
   * they become global. Default false.
   */
  readonly localSessions?: boolean;
  /** Local sessions become global when they create an ephemeral node. Default false. */
  readonly localSessionsUpgrading?: boolean;
  /**
   * Serve reads to clients that ask for read-only service while no leader is known. Default false.
   */
  readonly readOnlyMode?: boolean;
  /** Whether the leader serves clients. Default true. */
  readonly leaderServes?: boolean;
  /** The HTTP port for operators. Default: none; `zooid-server` enables it by default. */
  readonly admin?: AdminOptions;
  /** A port that serves `/metrics` only, which the admin port serves too. Default: none. */
  readonly metrics?: MetricsOptions;
  /**
   * The text of the configuration file, which operators may query; secrets in it are not shown.
   * Default: empty.
   */
  readonly initialConfiguration?: string;
}

export interface ReapingOptions {
  /** Interval between checks of all of them, in milliseconds. Default 60000. */
  readonly checkIntervalMs?: number;
  /** Removals in a minute, at most. Default 10000. */
  readonly perMinuteMax?: number;
  /**
   * A container that never had a child is removed at this age, in milliseconds. Default 0: never.
   */
  readonly neverUsedMsMax?: number;
}

/** {@link ServerOptions} validated, with every default filled in. */
export interface ServerConfig {
  readonly port: number;
  /** `*` for every address. */
  readonly address: string;
  readonly plainPort: boolean;
  readonly securePort: number | undefined;
  readonly secureAddress: string;
  readonly portUnification: boolean;
  /** Undefined if no client can use TLS. */
  readonly tls: TlsConfig | undefined;
  readonly listenBacklog: number | undefined;
  readonly dataDir: string | undefined;
  readonly logDir: string | undefined;
  readonly tickMs: number;
  readonly sessionTimeoutMsMin: number;
  readonly sessionTimeoutMsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly connectionsMax: number;
  readonly trustedProxies: TrustedProxies;
  readonly connectionThrottle: ConnectionThrottleConfig;
  readonly tcpKeepAlive: boolean;
  readonly frameBytesMax: number;
  readonly sessionlessTimeoutMs: number;
  readonly fourLetterWords: ReadonlySet<string>;
  readonly superDigest: string | undefined;
  readonly digestEnabled: boolean;
  /** By Node's name. */
  readonly digestAlgorithm: string;
  readonly skipAcl: boolean;
  readonly auth: ClientAuth;
  readonly outstandingCountMax: number;
  readonly watchCountMax: number;
  readonly ttlNodes: boolean;
  readonly enforceQuota: boolean;
  /** Infinity for no limit. */
  readonly heldBytesMax: number;
  readonly multiPartsMax: number;
  /** Infinity for no limit. */
  readonly childrenBytesMax: number;
  /** Infinity for no limit. */
  readonly watchBytesMax: number;
  readonly reaping: ReapingConfig;
  readonly outputBytesMax: number;
  readonly fsyncWarnMs: number;
  /** Infinity for none. */
  readonly slowRequestMs: number;
  readonly stateLagBytesMax: number;
  readonly retention: Required<RetentionOptions>;
  readonly history: Required<HistoryOptions>;
  /** Undefined where there is no backup. */
  readonly backup: UploadSettings | undefined;
  /** Undefined where no state is kept ready. */
  readonly standby: ArchiveSource | undefined;
  readonly disk: DiskOptions;
  readonly scrub: Required<ScrubSettings>;
  readonly healDamage: boolean;
  /** @internal */
  readonly levels: KnownLevels;
  readonly ensemble: QuorumPeerConfig | undefined;
  /** Undefined for a server that serves clients. */
  readonly follow: FollowConfig | undefined;
  readonly reconfigEnabled: boolean;
  readonly standaloneEnabled: boolean;
  readonly localSessions: boolean;
  readonly localSessionsUpgrading: boolean;
  readonly readOnlyMode: boolean;
  readonly leaderServes: boolean;
  /** Warnings for the operator, one sentence each. */
  readonly notices: readonly string[];
  readonly admin: AdminConfig | undefined;
  readonly metrics: MetricsConfig | undefined;
  readonly initialConfiguration: string;
}

/** All problems of a configuration in one error. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "INVALID_CONFIG";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

const INT_MAX = 2 ** 31 - 1;
/** A connect request with the read-only byte; the frame limit must allow it. */
const CONNECT_REQUEST_BYTES = 45;
/** A larger request would block all others for too long. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Checks options and fills in defaults; throws one {@link ConfigError} that lists every problem.
 */
export function parseServerConfig(options: ServerOptions): ServerConfig {
  const problems: string[] = [];
  const notices: string[] = [];
  const whole = (name: string, value: number, min: number, max: number): number => {
    if (!Number.isInteger(value) || value < min || value > max) {
      problems.push(`${name} is a whole number from ${min} to ${max}, found ${value}`);
      // Consequences of this problem are not reported.
      return min;
    }
    return value;
  };
  const tickMs = whole("tickTime", options.tickMs ?? 2000, 1, INT_MAX);
  const sessionTimeoutMsMin = whole(
    "minSessionTimeout",
    orDefault(options.sessionTimeoutMsMin, Math.min(2 * tickMs, INT_MAX)),
    1,
    INT_MAX,
  );
  const sessionTimeoutMsMax = whole(
    "maxSessionTimeout",
    orDefault(options.sessionTimeoutMsMax, Math.min(20 * tickMs, INT_MAX)),
    1,
    INT_MAX,
  );
  if (sessionTimeoutMsMin > sessionTimeoutMsMax) {
    problems.push(`minSessionTimeout ${sessionTimeoutMsMin} must not exceed maxSessionTimeout ${sessionTimeoutMsMax}`);
  }
  const digestAlgorithm = nodeHashName(options.digestAlgorithm ?? "SHA1");
  if (digestAlgorithm === undefined) {
    problems.push(
      `DigestAuthenticationProvider.digestAlg names a hash such as SHA1, SHA-256 or SHA3-256, found "${options.digestAlgorithm}"`,
    );
  }
  if (digestAlgorithm !== undefined && options.superDigest !== undefined) {
    const hashBytes = createHash(digestAlgorithm).digest().length;
    if (!isDigestOf(options.superDigest, hashBytes))
      notices.push(
        `DigestAuthenticationProvider.superDigest is no USER:HASH with the ${hashBytes} bytes of a hash in base64, so that no password is the superuser's`,
      );
  }
  const digestEnabled = options.digestEnabled ?? true;
  const hasTls = options.securePort !== undefined || options.portUnification === true;
  if (!hasTls && options.tls !== undefined)
    notices.push("ssl.* has no effect: it needs secureClientPort, or client.portUnification=true");
  if (
    options.admin?.tls !== undefined &&
    options.admin.forceHttps !== true &&
    options.admin.portUnification !== true &&
    options.ensemble?.peerStores === undefined
  )
    notices.push(
      "ssl.quorum.* has no effect: it is for sslQuorum=true, admin.forceHttps=true and admin.portUnification=true",
    );
  if (options.secureAddress !== undefined && options.securePort === undefined)
    problems.push("secureClientPortAddress is set, and secureClientPort is not");
  if (options.plainPort === false && options.securePort === undefined)
    problems.push("there is neither a plain port for clients nor one with TLS");
  if (options.follow !== undefined && options.ensemble !== undefined)
    problems.push(
      "zooid.follow and lines server.N are both set: a server that follows an Apache ensemble is in no ensemble of its own",
    );
  if (options.follow !== undefined && options.dataDir === undefined)
    problems.push("zooid.follow needs a data directory (dataDir)");
  const config: ServerConfig = {
    port: whole("clientPort", options.port ?? 2181, 0, 65_535),
    address: options.address ?? "127.0.0.1",
    plainPort: options.plainPort ?? true,
    securePort: options.securePort === undefined ? undefined : whole("secureClientPort", options.securePort, 0, 65_535),
    secureAddress: options.secureAddress ?? "127.0.0.1",
    portUnification: options.portUnification ?? false,
    tls: hasTls ? parseTls(options.tls ?? {}, "ssl", problems, notices) : undefined,
    listenBacklog: options.listenBacklog,
    dataDir: options.dataDir,
    logDir: options.logDir ?? options.dataDir,
    tickMs,
    sessionTimeoutMsMin,
    sessionTimeoutMsMax,
    connectionsPerAddressMax: whole("maxClientCnxns", options.connectionsPerAddressMax ?? 60, 0, INT_MAX),
    connectionsMax: whole("maxCnxns", options.connectionsMax ?? 0, 0, INT_MAX),
    trustedProxies: parseTrustedProxies(options, whole, problems),
    connectionThrottle: parseConnectionThrottle(options.connectionThrottle ?? {}, problems),
    tcpKeepAlive: options.tcpKeepAlive ?? false,
    frameBytesMax: whole("jute.maxbuffer", options.frameBytesMax ?? 0xf_ffff, CONNECT_REQUEST_BYTES, FRAME_BYTES_MAX),
    sessionlessTimeoutMs: whole("nio.sessionlessCnxnTimeout", options.sessionlessTimeoutMs ?? 10_000, 1, INT_MAX),
    fourLetterWords: parseWhitelist(options.fourLetterWords),
    superDigest: options.superDigest,
    digestEnabled,
    digestAlgorithm: digestAlgorithm ?? "sha1",
    skipAcl: options.skipAcl ?? false,
    auth: parseClientAuth(options.auth ?? {}, { digestEnabled, hasCertificates: hasTls }, problems, notices),
    outstandingCountMax: Math.min(
      whole("globalOutstandingLimit", options.outstandingCountMax ?? REPLICA_DEFAULTS.outstandingCountMax, 1, INT_MAX),
      whole("request_throttle_max_requests", options.requestThrottleMax ?? 0, 0, INT_MAX) || INT_MAX,
    ),
    watchCountMax: whole("watchCountMax", options.watchCountMax ?? REPLICA_DEFAULTS.watchCountMax, 1, INT_MAX),
    outputBytesMax: whole("outputBytesMax", options.outputBytesMax ?? 64 * 1024 * 1024, 65_536, INT_MAX),
    ttlNodes: options.ttlNodes ?? false,
    enforceQuota: options.enforceQuota ?? false,
    heldBytesMax:
      whole("zooid.heldBytesMax", options.heldBytesMax ?? shareOfMemory(2), 0, Number.MAX_SAFE_INTEGER) ||
      Number.POSITIVE_INFINITY,
    multiPartsMax: whole(
      "zooid.multiPartsMax",
      options.multiPartsMax ?? REPLICA_DEFAULTS.multiOpCountMax,
      1,
      REPLICA_DEFAULTS.multiOpCountMax,
    ),
    childrenBytesMax:
      whole(
        "zooid.childrenBytesMax",
        options.childrenBytesMax ?? REPLICA_DEFAULTS.createdListingBytesMax,
        0,
        INT_MAX,
      ) || Number.POSITIVE_INFINITY,
    watchBytesMax:
      whole("zooid.watchBytesMax", options.watchBytesMax ?? shareOfMemory(8), 0, Number.MAX_SAFE_INTEGER) ||
      Number.POSITIVE_INFINITY,
    reaping: parseReaping(options.reaping ?? {}, whole),
    fsyncWarnMs: whole("fsync.warningthresholdms", options.fsyncWarnMs ?? 1000, 1, INT_MAX),
    slowRequestMs: whole("zooid.slowRequestMs", options.slowRequestMs ?? 1000, 0, INT_MAX) || Number.POSITIVE_INFINITY,
    stateLagBytesMax: whole("stateLagBytesMax", options.stateLagBytesMax ?? 2 ** 29, 1, Number.MAX_SAFE_INTEGER),
    retention: {
      bytes: whole("zooid.log.retainBytes", options.retention?.bytes ?? 64 * 1024 * 1024, 1, Number.MAX_SAFE_INTEGER),
      ms: whole("zooid.log.retainMs", options.retention?.ms ?? 0, 0, Number.MAX_SAFE_INTEGER),
    },
    history: parseHistory(options, whole, problems),
    backup: parseBackup(options.backup ?? {}, (options.history?.retainMs ?? 0) > 0, whole, problems),
    standby: parseStandby(
      options.standby ?? {},
      {
        isMember: options.ensemble !== undefined,
        dataDir: options.dataDir,
        backupTarget: options.backup?.target,
      },
      problems,
    ),
    disk: parseDisk(options.disk ?? {}, whole),
    scrub: parseScrub(options.scrub ?? {}, whole),
    reconfigEnabled: options.reconfigEnabled ?? false,
    standaloneEnabled: options.standaloneEnabled ?? true,
    healDamage: options.healDamage ?? true,
    levels: options.levels ?? OWN_LEVELS,
    ensemble: options.ensemble === undefined ? undefined : parseEnsemble(options.ensemble, whole, problems, notices),
    follow: options.follow === undefined ? undefined : parseFollow(options.follow, whole, problems),
    localSessions: options.localSessions ?? false,
    localSessionsUpgrading: options.localSessionsUpgrading ?? false,
    readOnlyMode: options.readOnlyMode ?? false,
    leaderServes: options.leaderServes ?? true,
    admin: parseAdmin(options.admin, whole, problems, notices),
    metrics: parseMetrics(options.metrics, whole),
    initialConfiguration: options.initialConfiguration ?? "",
    notices,
  };
  const unknown = unknownWords(options.fourLetterWords);
  if (unknown.length > 0)
    notices.push(`4lw.commands.whitelist has ${unknown.join(", ")}, which no server knows as a four-letter word`);
  if (problems.length === 0) problems.push(...collidingPorts(config, options.admin?.port !== undefined));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

function parseTrustedProxies(
  { trustedProxies = [], trustedProxiesPercent = NO_PROXIES.share * 100 }: ServerOptions,
  whole: Whole,
  problems: string[],
): TrustedProxies {
  const ranges: IpRange[] = [];
  for (const text of trustedProxies) {
    const range = parseProxyRange(withoutBrackets(text));
    if (range !== undefined) ranges.push(range);
    else {
      problems.push(
        `zooid.trustedProxies is a list of ADDRESS or ADDRESS/BITS, separated by commas, such as 10.0.0.5,2001:db8::/64; found "${text}"`,
      );
    }
  }
  return { ranges, share: whole("zooid.trustedProxiesPercent", trustedProxiesPercent, 1, 100) / 100 };
}

/** IPv6 addresses may have brackets, around the address or the whole range. */
function withoutBrackets(text: string): string {
  const [, inside = "", bits = ""] = /^\[([^\]]*)\](\/\d+)?$/.exec(text) ?? [];
  return isIP(inside.split("/")[0] ?? "") === 6 ? `${inside}${bits}` : text;
}

/** A share of the memory of the machine, or of the process' cgroup, in bytes. */
function shareOfMemory(parts: number): number {
  const confined = process.constrainedMemory();
  const whole = totalmem();
  return Math.floor((confined > 0 && confined < whole ? confined : whole) / parts);
}

type Whole = (name: string, value: number, min: number, max: number) => number;

/** A timer cannot be set for longer than 2^31 ms. */
const CHECK_INTERVAL_MS_MAX = 2 ** 30;

function parseReaping(options: ReapingOptions, whole: Whole): ReapingConfig {
  const { checkIntervalMs, perMinuteMax, neverUsedMsMax } = { ...REPLICA_DEFAULTS.reaping, ...options };
  return {
    checkIntervalMs: whole("znode.container.checkIntervalMs", checkIntervalMs, 1, CHECK_INTERVAL_MS_MAX),
    perMinuteMax: whole("znode.container.maxPerMinute", perMinuteMax, 1, INT_MAX),
    neverUsedMsMax: whole("znode.container.maxNeverUsedIntervalMs", neverUsedMsMax, 0, Number.MAX_SAFE_INTEGER),
  };
}

export interface RetentionOptions {
  /** Bytes of the newest segments, on the disk, that learners may catch up from. Default 64 MiB. */
  readonly bytes?: number;
  /**
   * Segments sealed within this time are kept too, in milliseconds. Default 0: none for their age.
   */
  readonly ms?: number;
}

const HISTORY_LAG_BYTES: number = 1024 * 1024 * 1024;
const HISTORY_FILE_MS = 10_000;

function parseHistory(
  { history = {}, dataDir }: ServerOptions,
  whole: Whole,
  problems: string[],
): Required<HistoryOptions> {
  const bytes = (name: string, value: number): number => whole(name, value, 0, Number.MAX_SAFE_INTEGER);
  const retainMs = bytes("zooid.history.retainMs", history.retainMs ?? 0);
  if (retainMs > 0 && dataDir === undefined) problems.push("zooid.history.retainMs needs a data directory (dataDir)");
  if (retainMs > 0 && !hasZstd) {
    problems.push(`zooid.history.retainMs needs Node.js 22.15 or later, this is ${process.version}`);
  }
  return {
    retainMs,
    retainBytes: bytes("zooid.history.retainBytes", history.retainBytes ?? 0),
    lagBytesMax: bytes("zooid.history.lagBytesMax", history.lagBytesMax ?? HISTORY_LAG_BYTES),
    fileMs: whole("zooid.history.fileMs", history.fileMs ?? HISTORY_FILE_MS, 100, 2 ** 31 - 1),
  };
}

function parseDisk({ lowBytes, reserveBytes, testBreak }: DiskOptions, whole: Whole): DiskOptions {
  const bytes = (name: string, value: number): number => whole(name, value, 0, Number.MAX_SAFE_INTEGER);
  return {
    ...(lowBytes === undefined ? {} : { lowBytes: bytes("zooid.disk.lowBytes", lowBytes) }),
    ...(reserveBytes === undefined ? {} : { reserveBytes: bytes("zooid.disk.reserveBytes", reserveBytes) }),
    ...(testBreak === undefined ? {} : { testBreak }),
  };
}

function parseScrub({ bytesPerSecond, everyMs }: ScrubSettings, whole: Whole): Required<ScrubSettings> {
  const rate = bytesPerSecond ?? 4 * 1024 * 1024;
  return {
    bytesPerSecond: whole("zooid.scrub.bytesPerSecond", rate, 0, Number.MAX_SAFE_INTEGER),
    everyMs: whole("zooid.scrub.everyMs", everyMs ?? 3_600_000, 1, INT_MAX),
  };
}

/** Apache writes -1 for "the default" into its sample files. */
function orDefault(value: number | undefined, otherwise: number): number {
  return value === undefined || value === -1 ? otherwise : value;
}

const HASHES: ReadonlyMap<string, string> = new Map([
  ["MD5", "md5"],
  ["SHA", "sha1"],
  ["SHA1", "sha1"],
  ["SHA-1", "sha1"],
  ["SHA-224", "sha224"],
  ["SHA-256", "sha256"],
  ["SHA-384", "sha384"],
  ["SHA-512", "sha512"],
  ["SHA-512/256", "sha512-256"],
  ["SHA3-224", "sha3-224"],
  ["SHA3-256", "sha3-256"],
  ["SHA3-384", "sha3-384"],
  ["SHA3-512", "sha3-512"],
]);

/** Node's name for a hash that Java names; undefined for an unknown one. */
function nodeHashName(javaName: string): string | undefined {
  return HASHES.get(javaName.toUpperCase());
}

function isDigestOf(digest: string, hashBytes: number): boolean {
  const [, hash] = /^[^:]+:([\w+/]+={0,2})$/.exec(digest) ?? [];
  return hash !== undefined && Buffer.from(hash, "base64").length === hashBytes;
}
