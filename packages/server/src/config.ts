import { REPLICA_DEFAULTS } from "@zooid/replica";
import { parseWhitelist } from "./admin/four-letter-words.ts";
import { type EnsembleConfig, type EnsembleOptions, parseEnsemble } from "./peers/ensemble-config.ts";

/** What a server is started with. Every field has a default; see {@link parseServerConfig}. */
export interface ServerOptions {
  /** Port for clients; 0 lets the system choose. Default 2181. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1; `*` for every address. */
  readonly address?: string;
  /** Length of the queue of connections that are not accepted yet. Default: the system's. */
  readonly listenBacklog?: number;
  /** Where state and log lie. Undefined keeps everything in memory, for tests and demonstrations. */
  readonly dataDir?: string;
  /** Where the log lies, if apart from the state: a disk of its own makes writes faster. Default: `dataDir`. */
  readonly logDir?: string;
  /** The unit of session expiry, in milliseconds. Default 2000. */
  readonly tickMs?: number;
  /** Bounds of what clients may negotiate, in milliseconds. Defaults: 2 and 20 ticks. */
  readonly sessionTimeoutMsMin?: number;
  readonly sessionTimeoutMsMax?: number;
  /** Connections of one address; 0 is no limit. Default 60. */
  readonly connectionsPerAddressMax?: number;
  /** Connections of all addresses; 0 is no limit. Default 0. */
  readonly connectionsMax?: number;
  /** Largest frame a client may send, in bytes. Default 1048575. */
  readonly frameBytesMax?: number;
  /** A connection without a session is closed after this time, in milliseconds. Default 10000. */
  readonly sessionlessTimeoutMs?: number;
  /** Four-letter words that are answered, separated by commas; `*` for all. `srvr` always is. */
  readonly fourLetterWords?: string;
  /** `user:base64(hash(user:password))` of the superuser. Default: there is none. */
  readonly superDigest?: string;
  /** Whether the digest scheme exists. Default true. */
  readonly digestEnabled?: boolean;
  /** The digest scheme's hash, by Java's name: SHA1, SHA-256, SHA-512, SHA3-256, … Default SHA1. */
  readonly digestAlgorithm?: string;
  /** No access list is checked. Default false. */
  readonly skipAcl?: boolean;
  /** Writes read and not yet committed before clients are read no further. Default 65536. */
  readonly outstandingCountMax?: number;
  /** Watches of one connection before it is closed. Default 1000000. */
  readonly watchCountMax?: number;
  /** Bytes that wait for a client that does not read before it is cut off. Default 64 MiB. */
  readonly outputBytesMax?: number;
  /** A sync of the log that takes longer is told of, in milliseconds. Default 1000. */
  readonly fsyncWarnMs?: number;
  /**
   * Writes wait when the state file is behind by more bytes of log than this: it bounds what a start has to replay and the log's size.
   * Default 512 MiB.
   */
  readonly stateLagBytesMax?: number;
  /** The servers that this one serves together with. Undefined: it serves alone. */
  readonly ensemble?: EnsembleOptions;
  /** Sessions stay with the server that they connected to, and need no write, until they need one. Default false. */
  readonly localSessions?: boolean;
  /** Local sessions become global ones when they create an ephemeral node. Default false. */
  readonly localSessionsUpgrading?: boolean;
  /** Serve clients that ask for it their reads while no leader is known. Default false. */
  readonly readOnlyMode?: boolean;
  /** Whether a server takes clients while it leads. Default true. */
  readonly leaderServes?: boolean;
  /** Deliberate damage, for tests that must see their checks fail. */
  readonly testBreak?: TestBreak;
}

/** `synchronous-normal`: commits are not synced. `reply-before-sync`: clients are answered before the sync. */
export type TestBreak = "synchronous-normal" | "reply-before-sync";

/** {@link ServerOptions} checked and with every default in its place. */
export interface ServerConfig {
  readonly port: number;
  /** `*` for every address. */
  readonly address: string;
  readonly listenBacklog: number | undefined;
  readonly dataDir: string | undefined;
  readonly logDir: string | undefined;
  readonly tickMs: number;
  readonly sessionTimeoutMsMin: number;
  readonly sessionTimeoutMsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly connectionsMax: number;
  readonly frameBytesMax: number;
  readonly sessionlessTimeoutMs: number;
  readonly fourLetterWords: ReadonlySet<string>;
  readonly superDigest: string | undefined;
  readonly digestEnabled: boolean;
  /** As Node's crypto names it. */
  readonly digestAlgorithm: string;
  readonly skipAcl: boolean;
  readonly outstandingCountMax: number;
  readonly watchCountMax: number;
  readonly outputBytesMax: number;
  readonly fsyncWarnMs: number;
  readonly stateLagBytesMax: number;
  readonly ensemble: EnsembleConfig | undefined;
  readonly localSessions: boolean;
  readonly localSessionsUpgrading: boolean;
  readonly readOnlyMode: boolean;
  readonly leaderServes: boolean;
  readonly testBreak: TestBreak | undefined;
}

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const INT_MAX = 2 ** 31 - 1;

/** Checks options and fills in defaults; throws one {@link ConfigError} that lists every problem. */
export function parseServerConfig(options: ServerOptions): ServerConfig {
  const problems: string[] = [];
  const whole = (name: string, value: number, min: number, max: number): number => {
    if (!Number.isInteger(value) || value < min || value > max) {
      problems.push(`${name} is a whole number from ${min} to ${max}, found ${value}`);
      // What follows from it is no problem of its own.
      return min;
    }
    return value;
  };
  const tickMs = whole("tickTime", options.tickMs ?? 2000, 1, INT_MAX);
  const sessionTimeoutMsMin = whole(
    "minSessionTimeout",
    orDefault(options.sessionTimeoutMsMin, 2 * tickMs),
    1,
    INT_MAX,
  );
  const sessionTimeoutMsMax = whole(
    "maxSessionTimeout",
    orDefault(options.sessionTimeoutMsMax, 20 * tickMs),
    1,
    INT_MAX,
  );
  if (sessionTimeoutMsMin > sessionTimeoutMsMax) {
    problems.push(`minSessionTimeout ${sessionTimeoutMsMin} must not exceed maxSessionTimeout ${sessionTimeoutMsMax}`);
  }
  const digestAlgorithm = nodeHashName(options.digestAlgorithm ?? "SHA1");
  if (digestAlgorithm === undefined) {
    problems.push(`digestAlg names a hash such as SHA1, SHA-256 or SHA3-256, found "${options.digestAlgorithm}"`);
  }
  const config: ServerConfig = {
    port: whole("clientPort", options.port ?? 2181, 0, 65_535),
    address: options.address ?? "127.0.0.1",
    listenBacklog: options.listenBacklog,
    dataDir: options.dataDir,
    logDir: options.logDir ?? options.dataDir,
    tickMs,
    sessionTimeoutMsMin,
    sessionTimeoutMsMax,
    connectionsPerAddressMax: whole("maxClientCnxns", options.connectionsPerAddressMax ?? 60, 0, INT_MAX),
    connectionsMax: whole("maxCnxns", options.connectionsMax ?? 0, 0, INT_MAX),
    frameBytesMax: whole("jute.maxbuffer", options.frameBytesMax ?? 0xf_ffff, 1024, 2 ** 30),
    sessionlessTimeoutMs: whole("sessionlessCnxnTimeout", options.sessionlessTimeoutMs ?? 10_000, 1, INT_MAX),
    fourLetterWords: parseWhitelist(options.fourLetterWords),
    superDigest: options.superDigest,
    digestEnabled: options.digestEnabled ?? true,
    digestAlgorithm: digestAlgorithm ?? "sha1",
    skipAcl: options.skipAcl ?? false,
    outstandingCountMax: whole(
      "outstandingCountMax",
      options.outstandingCountMax ?? REPLICA_DEFAULTS.outstandingCountMax,
      1,
      INT_MAX,
    ),
    watchCountMax: whole("watchCountMax", options.watchCountMax ?? REPLICA_DEFAULTS.watchCountMax, 1, INT_MAX),
    outputBytesMax: whole("outputBytesMax", options.outputBytesMax ?? 64 * 1024 * 1024, 65_536, INT_MAX),
    fsyncWarnMs: whole("fsync.warningthresholdms", options.fsyncWarnMs ?? 1000, 1, INT_MAX),
    stateLagBytesMax: whole("stateLagBytesMax", options.stateLagBytesMax ?? 2 ** 29, 1, Number.MAX_SAFE_INTEGER),
    ensemble: options.ensemble === undefined ? undefined : parseEnsemble(options.ensemble, whole, problems),
    localSessions: options.localSessions ?? false,
    localSessionsUpgrading: options.localSessionsUpgrading ?? false,
    readOnlyMode: options.readOnlyMode ?? false,
    leaderServes: options.leaderServes ?? true,
    testBreak: options.testBreak,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
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

/** Node's name for a hash that Java names; undefined for one that neither has. */
function nodeHashName(javaName: string): string | undefined {
  return HASHES.get(javaName.toUpperCase());
}
