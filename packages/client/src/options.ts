import {
  ArgumentError,
  anyRule,
  found,
  hasMethods,
  misfit,
  misfits,
  OPEN_ACL,
  rules,
  type SessionId,
  type Shape,
  shape,
  wordRule,
} from "@zooid/model";
import { aclProblems } from "./auth/acl-checks.ts";
import type { SaslMechanism } from "./auth/sasl.ts";
import { CallbackFaults, guardedHosts, guardedLogger, guardedRandom, guardedTransport } from "./callers-callbacks.ts";
import { SERVER_FRAME_BYTES_MAX } from "./calls/call.ts";
import type { Interceptor } from "./calls/interceptor.ts";
import { type RetryPolicy, retry } from "./calls/retry.ts";
import type { AclSource, Payload } from "./operations/create-mode.ts";
import type { HostProvider } from "./servers/host-list.ts";
import { type FieldsFirstLogger, type Logger, loggerRule, messageFirst } from "./session/logger.ts";
import { tcpTransport } from "./transport/tcp-transport.ts";
import { type TlsOptions, tlsTransport } from "./transport/tls-transport.ts";
import type { Transport } from "./transport/transport.ts";
import type { TreeWatches } from "./watches/tree-watches.ts";

/** Credentials for one of the server's authentication schemes; `digest` takes `user:password`. */
export interface Credential {
  readonly scheme: string;
  readonly auth: string | Uint8Array;
}

/** Options of a client. Every field has a default; one error lists all problems. */
export interface ClientOptions {
  /** Requested session timeout in milliseconds; the server decides. Default 30000. */
  readonly sessionTimeoutMs?: number;
  /**
   * For one attempt at one address, in milliseconds; `Infinity` for no limit. Default: the
   * session's timeout divided by the number of hosts, at most 10 s. Where there are other
   * addresses, one that is silent is left after half a second, and later than that in further
   * rounds.
   */
  readonly connectTimeoutMs?: number;
  /**
   * Time limit of `connect()` in milliseconds; `Infinity` for none. Default 30000. Calls of a
   * client of `createClient()` have `waitingTimeoutMs`.
   */
  readonly startTimeoutMs?: number;
  /**
   * After this time without a connection, in milliseconds, the client warns once, with the reason
   * for each server; `Infinity` for never. Default 5000.
   */
  readonly connectWarningMs?: number;
  /**
   * Gets the client's log records. A logger that throws or rejects is reported once, as a warning
   * of the process. Default: none, and the warning about a missing connection is a warning of the
   * process (`process.emitWarning`).
   */
  readonly logger?: Logger | FieldsFirstLogger;
  /** Cancels `connect()`. */
  readonly signal?: AbortSignal;
  /** Credentials to send on every connection before any other request. Default none. */
  readonly auth?: readonly Credential[];
  /** SASL authentication on every connection, before the credentials of `auth`. Default: none. */
  readonly sasl?: SaslMechanism;
  /**
   * TLS, with options as for Node's `tls.connect`, or a function that returns them for each
   * connection. Default: plain TCP.
   */
  readonly tls?: TlsOptions | (() => TlsOptions);
  /**
   * Whether to accept a server without a quorum, for reads only. Meanwhile the client asks the
   * other servers and moves to the first one that accepts writes. Default `never`.
   */
  readonly readOnly?: "never" | "allow";
  /**
   * For reads whose connection was lost, and for transient refusals. Default:
   * `retry.exponential()`.
   */
  readonly retry?: RetryPolicy;
  /** A session of another client, to be resumed. */
  readonly session?: { readonly id: SessionId | bigint; readonly password: Uint8Array };
  /** After the end of a session: a new one, or the end of the client. Default `new-session`. */
  readonly onExpiry?: "new-session" | "close";
  /**
   * Behaviour when the session is lost and every server refuses the client because it has seen
   * later zxids, as after a loss or replacement of the servers' data: start with a new session at
   * the servers as they are, or wait for servers that are up to date. Default `reset`.
   */
  readonly onRegression?: "reset" | "wait";
  /** Whether servers are tried in random order or as given. Default `random`. */
  readonly hostOrder?: "random" | "given";
  /** Source of hosts in place of the connect string, which then only gives the chroot. */
  readonly hosts?: HostProvider;
  /**
   * Whether to learn servers from `/zookeeper/config` and try them too. After a change a client may
   * move to another server at random, as after `updateServers`, so that all servers serve equally
   * many clients. With `tls` only ports with TLS are learned; servers before 3.10 do not publish
   * theirs, and then none are learned. Default false: the published addresses are often valid
   * inside the servers' network only.
   */
  readonly trackEnsemble?: boolean;
  /** Largest request, in bytes; as the server's `jute.maxbuffer`. Default 1048575. */
  readonly frameBytesMax?: number;
  /**
   * Largest answer, in bytes. A larger one fails its own call with PACKET_TOO_LARGE. Default 64
   * MiB, or `frameBytesMax` where that is larger.
   */
  readonly responseBytesMax?: number;
  /** Maximum number of requests in flight; further calls wait. Default 1000. */
  readonly inFlightMax?: number;
  /** Maximum number of waiting calls; more fail with QUEUE_FULL. Default 10000. */
  readonly waitingMax?: number;
  /** Maximum size of the waiting calls in bytes. Default 8 MiB. */
  readonly waitingBytesMax?: number;
  /**
   * Maximum time for which a call waits without a connection, in milliseconds; then it fails with
   * CONNECTION_LOSS, not sent. `Infinity` for no limit. Default 30000.
   */
  readonly waitingTimeoutMs?: number;
  /**
   * Access list of nodes that are created without one, or a function that returns it. Default: open
   * to all.
   */
  readonly acl?: AclSource;
  /**
   * Data of nodes that are created without any. Default: empty; in recipes this machine's address,
   * as in Curator.
   */
  readonly defaultData?: Payload;
  /**
   * Default behaviour of recipes when the connection is lost: release what they hold (`lose`), or
   * keep it until the session may be over (`keep`). Default `lose`.
   */
  readonly onSuspended?: "lose" | "keep";
  /** Called around every call; see `ViewOptions.intercept`. */
  readonly intercept?: Interceptor;
  /**
   * How `watchTree$`, and recipes that keep a copy of a tree, learn of changes by default. Default
   * `auto`.
   */
  readonly treeWatches?: TreeWatches;
  /** The transport, in place of `tls`. Default: TCP. */
  readonly transport?: Transport;
  /**
   * A random number in [0, 1), for the order of hosts, back-off, and moves between servers. Default
   * `Math.random`.
   */
  readonly random?: () => number;
}

/** Options without a default value: undefined where they are not given. */
type UndefaultedName = "connectTimeoutMs" | "signal" | "sasl" | "hosts" | "defaultData" | "intercept";
/** Options that the configuration has in another form. */
type ConvertedName = "logger" | "tls" | "session" | "readOnly" | "onRegression" | "hostOrder" | "trackEnsemble";
type Undefaulted = { readonly [Name in UndefaultedName]: ClientOptions[Name] | undefined };
type DefaultedName = Exclude<keyof ClientOptions, UndefaultedName | ConvertedName>;

/** {@link ClientOptions} checked and completed with defaults. */
export interface ClientConfig extends Required<Pick<ClientOptions, DefaultedName>>, Undefaulted {
  readonly logger: Logger | undefined;
  readonly session: { readonly id: SessionId; readonly password: Uint8Array } | undefined;
  readonly allowsReadOnly: boolean;
  readonly acceptsRegression: boolean;
  readonly shufflesHosts: boolean;
  readonly tracksEnsemble: boolean;
}

/** As Zooid's servers limit their listings. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
const INT_MAX = 2 ** 31 - 1;

/** Checked one by one below, with their limits. */
const checked = rules.anything;
const SHAPE: Shape<ClientOptions> = shape<ClientOptions>({
  sessionTimeoutMs: checked,
  connectTimeoutMs: checked,
  startTimeoutMs: checked,
  connectWarningMs: checked,
  frameBytesMax: checked,
  responseBytesMax: checked,
  inFlightMax: checked,
  waitingMax: checked,
  waitingBytesMax: checked,
  waitingTimeoutMs: checked,
  readOnly: checked,
  onExpiry: checked,
  onRegression: checked,
  hostOrder: checked,
  onSuspended: checked,
  treeWatches: checked,
  tls: anyRule(rules.record, rules.callable),
  logger: loggerRule,
  signal: rules.signal,
  auth: rules.list,
  sasl: {
    expected: "a mechanism of SASL with the method begin, such as digestMd5()",
    accepts: (value) => hasMethods(value, ["begin"]),
  },
  retry: rules.callable,
  session: rules.record,
  hosts: { expected: "an object with a method hosts", accepts: (value: unknown) => hasMethods(value, ["hosts"]) },
  trackEnsemble: rules.flag,
  acl: anyRule(rules.list, rules.callable),
  defaultData: rules.payload,
  intercept: rules.callable,
  transport: {
    expected: "an object with the methods resolve and connect",
    accepts: (value: unknown) => hasMethods(value, ["resolve", "connect"]),
  },
  random: rules.callable,
});

/** Its values are checked below. */
const RESUMED: Shape<NonNullable<ClientOptions["session"]>> = shape({ id: checked, password: checked });

/** The problems of credentials. */
export function credentialProblems(credential: Credential): readonly string[] {
  const { scheme, auth } = credential ?? {};
  const problems: string[] = [];
  if (typeof scheme !== "string" || scheme === "") problems.push(`auth: a scheme is a word, found ${found(scheme)}`);
  if (auth === null || !rules.payload.accepts(auth))
    problems.push(`auth: credentials are a string or a Uint8Array, found ${found(auth)}`);
  return problems;
}

/** @throws ArgumentError that lists every problem at once */
export function parseClientOptions(options: ClientOptions): ClientConfig {
  const problems: string[] = [...misfits(options, SHAPE)];
  if (problems.length > 0) throw new ArgumentError("client options", problems);
  const whole = (name: keyof ClientOptions, value: number | undefined, fallback: number, least: number): number => {
    if (value === undefined) return fallback;
    if (Number.isInteger(value) && value >= least && value <= INT_MAX) return value;
    problems.push(`${name} is a whole number from ${least} to ${INT_MAX}, found ${found(value)}`);
    return fallback;
  };
  const time = <T>(name: keyof ClientOptions, value: number | undefined, fallback: T): number | T => {
    if (value === undefined) return fallback;
    if (!rules.duration.accepts(value)) problems.push(misfit(name, value, rules.duration));
    return value;
  };
  const oneOf = <T extends string>(name: keyof ClientOptions, value: T | undefined, known: readonly [T, ...T[]]): T => {
    if (value === undefined || known.includes(value)) return value ?? known[0];
    problems.push(misfit(name, value, wordRule(...known)));
    return known[0];
  };
  for (const credential of options.auth ?? []) problems.push(...credentialProblems(credential));
  if (options.session !== undefined) {
    problems.push(...misfits(options.session, RESUMED));
    const { id, password } = options.session;
    if (typeof id !== "bigint") problems.push(`session: an id is a bigint, found ${found(id)}`);
    if (id === 0n) problems.push("session: an id of 0 names no session");
    if (password === null || typeof password === "string" || !rules.payload.accepts(password))
      problems.push(`session: a password is a Uint8Array, found ${found(password)}`);
  }
  if (Array.isArray(options.acl)) problems.push(...aclProblems(options.acl));
  if (options.tls !== undefined && options.transport !== undefined)
    problems.push("tls and transport: a transport of your own does its own TLS");
  let transport = options.transport ?? tcpTransport;
  try {
    if (options.tls !== undefined) transport = tlsTransport(options.tls);
  } catch (error) {
    problems.push(`tls: ${error instanceof Error ? error.message : error}`);
  }
  const logger = options.logger === undefined ? undefined : guardedLogger(messageFirst(options.logger));
  const faults = new CallbackFaults(logger);
  const frameBytesMax = whole("frameBytesMax", options.frameBytesMax, SERVER_FRAME_BYTES_MAX, 1024);
  const config: ClientConfig = {
    sessionTimeoutMs: whole("sessionTimeoutMs", options.sessionTimeoutMs, 30_000, 1),
    connectTimeoutMs: time("connectTimeoutMs", options.connectTimeoutMs, undefined),
    startTimeoutMs: time("startTimeoutMs", options.startTimeoutMs, 30_000),
    connectWarningMs: time("connectWarningMs", options.connectWarningMs, 5_000),
    logger,
    signal: options.signal,
    auth: options.auth ?? [],
    sasl: options.sasl,
    allowsReadOnly: oneOf("readOnly", options.readOnly, ["never", "allow"]) === "allow",
    retry: options.retry ?? retry.exponential(),
    session:
      options.session === undefined
        ? undefined
        : { id: options.session.id as SessionId, password: Uint8Array.from(options.session.password ?? []) },
    onExpiry: oneOf("onExpiry", options.onExpiry, ["new-session", "close"]),
    acceptsRegression: oneOf("onRegression", options.onRegression, ["reset", "wait"]) === "reset",
    shufflesHosts: oneOf("hostOrder", options.hostOrder, ["random", "given"]) === "random",
    hosts: options.hosts === undefined ? undefined : guardedHosts(options.hosts, faults),
    tracksEnsemble: options.trackEnsemble ?? false,
    frameBytesMax,
    responseBytesMax: whole(
      "responseBytesMax",
      options.responseBytesMax,
      Math.max(frameBytesMax, RESPONSE_BYTES_MAX),
      1024,
    ),
    inFlightMax: whole("inFlightMax", options.inFlightMax, 1000, 1),
    waitingMax: whole("waitingMax", options.waitingMax, 10_000, 0),
    waitingBytesMax: whole("waitingBytesMax", options.waitingBytesMax, 8 * 1024 * 1024, 0),
    waitingTimeoutMs: time("waitingTimeoutMs", options.waitingTimeoutMs, 30_000),
    acl: options.acl ?? OPEN_ACL,
    defaultData: options.defaultData,
    intercept: options.intercept,
    onSuspended: oneOf("onSuspended", options.onSuspended, ["lose", "keep"]),
    treeWatches: oneOf("treeWatches", options.treeWatches, ["auto", "persistent", "one-shot"]),
    transport: guardedTransport(transport, faults),
    random: options.random === undefined ? Math.random : guardedRandom(options.random, faults),
  };
  if (problems.length > 0) throw new ArgumentError("client options", problems);
  return Object.freeze(config);
}
