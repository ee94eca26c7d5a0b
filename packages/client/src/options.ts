import { OPEN_ACL, type SessionId } from "@zooid/model";
import type { SaslMechanism } from "./auth/sasl.ts";
import type { Interceptor } from "./calls/interceptor.ts";
import { type RetryPolicy, retry } from "./calls/retry.ts";
import type { AclSource, Payload } from "./operations/create-mode.ts";
import type { HostProvider } from "./servers/host-list.ts";
import { tcpTransport } from "./transport/tcp-transport.ts";
import { type TlsOptions, tlsTransport } from "./transport/tls-transport.ts";
import type { Transport } from "./transport/transport.ts";
import type { TreeWatches } from "./watches/tree-watches.ts";

/** A proof of identity for one of the server's schemes; `digest` takes `user:password`. */
export interface Credential {
  readonly scheme: string;
  readonly auth: string | Uint8Array;
}

/** How a client is made. Every field has a default; what is wrong is told all at once. */
export interface ClientOptions {
  /** The session's timeout to ask for, in milliseconds; the server has the last word. Default 30000. */
  readonly sessionTimeoutMs?: number;
  /** For one attempt at one address. Default: the session's timeout divided by the number of hosts, at most 10 s. */
  readonly connectTimeoutMs?: number;
  /** `connect()` gives up after so many milliseconds without a session. Default: it does not. */
  readonly startTimeoutMs?: number;
  /** `connect()` gives up when it is aborted. */
  readonly signal?: AbortSignal;
  /** Identities to show on every connection, before anything else is asked. Default none. */
  readonly auth?: readonly Credential[];
  /** How to authenticate by SASL on every connection, before any identity of `auth` is shown. Default: not at all. */
  readonly sasl?: SaslMechanism;
  /** Speaks TLS, with options as Node's `tls.connect` takes them, or what gives them for each connection. Default: plain TCP. */
  readonly tls?: TlsOptions | (() => TlsOptions);
  /**
   * Whether a server without a quorum will do, for reads only. Meanwhile the others are asked whether they can write, and the first that
   * can is gone to. Default `never`.
   */
  readonly readOnly?: "never" | "allow";
  /** For reads whose connection was lost, and for refusals of the moment. Default: `retry.exponential()`. */
  readonly retry?: RetryPolicy;
  /** A session to go on with, as another client left it. */
  readonly session?: { readonly id: SessionId | bigint; readonly password: Uint8Array };
  /** What follows the end of a session: a new one, or the end of the client. Default `new-session`. */
  readonly onExpiry?: "new-session" | "close";
  /**
   * What a client does whose session is lost and whom every server refuses, as they do when their data were lost or replaced: begin anew
   * with what there is, or wait for servers that know what it has seen. Default `reset`.
   */
  readonly onRegression?: "reset" | "wait";
  /** Whether servers are tried in random order, or as given. Default `random`. */
  readonly hostOrder?: "random" | "given";
  /** Where hosts come from instead of the connect string, which then only names the chroot. */
  readonly hosts?: HostProvider;
  /**
   * Whether servers that join the ensemble later are learned of from `/zookeeper/config` and tried too. When that changes, a client may go to
   * another server by chance, as after `updateServers`, so that all serve alike. With `tls` only ports that speak TLS are learned of; servers
   * before 3.10 do not name theirs, and then nothing is learned. Default false: what the configuration says is often of use inside of the
   * servers' network only.
   */
  readonly trackEnsemble?: boolean;
  /** Largest request and answer, in bytes; as the server's `jute.maxbuffer`. Default 1048575. */
  readonly frameBytesMax?: number;
  /** Requests on their way at a time; the rest waits here. Default 1000. */
  readonly inFlightMax?: number;
  /** Calls that wait for a connection or for room; more are refused with QUEUE_FULL. Default 10000. */
  readonly waitingMax?: number;
  /** What those calls may hold, in bytes. Default 8 MiB. */
  readonly waitingBytesMax?: number;
  /** How long a call may wait before it is sent, in milliseconds; then it fails with CONNECTION_LOSS. Default 30000. */
  readonly waitingTimeoutMs?: number;
  /** Access list of nodes that are created without one, or what gives one for each. Default: open to all. */
  readonly acl?: AclSource;
  /** What nodes hold that are created without data. Default: nothing; and with recipes this machine's address, as with Curator. */
  readonly defaultData?: Payload;
  /**
   * What recipes do when the connection is lost, unless they are told otherwise: give up what they hold (`lose`), or keep it until the session
   * may be over (`keep`). Default `lose`.
   */
  readonly onSuspended?: "lose" | "keep";
  /** Stands around every call; see `ViewOptions.intercept`. */
  readonly intercept?: Interceptor;
  /** How `watchTree$`, and recipes that keep a copy of a tree, learn of changes, unless they are told otherwise. Default `auto`. */
  readonly treeWatches?: TreeWatches;
  /** The byte pipe, in place of `tls`. Default: TCP. */
  readonly transport?: Transport;
  /** Between 0 and 1, for the order of hosts, for back-off, and for who moves when there are other servers. Default `Math.random`. */
  readonly random?: () => number;
}

/** {@link ClientOptions} checked and with every default in its place. */
export interface ClientConfig {
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number | undefined;
  readonly startTimeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly auth: readonly Credential[];
  readonly sasl: SaslMechanism | undefined;
  readonly allowsReadOnly: boolean;
  readonly retry: RetryPolicy;
  readonly session: { readonly id: SessionId; readonly password: Uint8Array } | undefined;
  readonly onExpiry: "new-session" | "close";
  readonly acceptsRegression: boolean;
  readonly shufflesHosts: boolean;
  readonly hosts: HostProvider | undefined;
  readonly tracksEnsemble: boolean;
  readonly frameBytesMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
  readonly waitingBytesMax: number;
  readonly waitingTimeoutMs: number;
  readonly acl: AclSource;
  readonly defaultData: Payload | undefined;
  readonly onSuspended: "lose" | "keep";
  readonly intercept: Interceptor | undefined;
  readonly treeWatches: TreeWatches;
  readonly transport: Transport;
  readonly random: () => number;
}

const INT_MAX = 2 ** 31 - 1;

/** @throws RangeError that lists every problem at once */
export function parseClientOptions(options: ClientOptions): ClientConfig {
  const problems: string[] = [];
  const whole = (name: keyof ClientOptions, value: number | undefined, fallback: number, least: number): number => {
    if (value === undefined) return fallback;
    if (Number.isInteger(value) && value >= least && value <= INT_MAX) return value;
    problems.push(`${name} is a whole number from ${least} to ${INT_MAX}, found ${value}`);
    return fallback;
  };
  const optional = (name: keyof ClientOptions, value: number | undefined): number | undefined =>
    value === undefined ? undefined : whole(name, value, 0, 1);
  const oneOf = <T extends string>(name: keyof ClientOptions, value: T | undefined, known: readonly [T, ...T[]]): T => {
    if (value === undefined || known.includes(value)) return value ?? known[0];
    problems.push(`${name} is ${known.join(" or ")}, found ${JSON.stringify(value)}`);
    return known[0];
  };
  for (const { scheme } of options.auth ?? []) {
    if (scheme === "") problems.push("auth: a credential's scheme is empty");
  }
  if (options.session !== undefined && options.session.id === 0n) problems.push("session: an id of 0 names no session");
  if (options.acl?.length === 0 && typeof options.acl !== "function")
    problems.push("acl: an empty list would let nobody in");
  if (options.tls !== undefined && options.transport !== undefined)
    problems.push("tls and transport: a transport of your own does its own TLS");
  let transport = options.transport ?? tcpTransport;
  try {
    if (options.tls !== undefined) transport = tlsTransport(options.tls);
  } catch (error) {
    problems.push(`tls: ${error instanceof Error ? error.message : error}`);
  }
  const config: ClientConfig = {
    sessionTimeoutMs: whole("sessionTimeoutMs", options.sessionTimeoutMs, 30_000, 1),
    connectTimeoutMs: optional("connectTimeoutMs", options.connectTimeoutMs),
    startTimeoutMs: optional("startTimeoutMs", options.startTimeoutMs),
    signal: options.signal,
    auth: options.auth ?? [],
    sasl: options.sasl,
    allowsReadOnly: oneOf("readOnly", options.readOnly, ["never", "allow"]) === "allow",
    retry: options.retry ?? retry.exponential(),
    session:
      options.session === undefined
        ? undefined
        : { id: options.session.id as SessionId, password: Uint8Array.from(options.session.password) },
    onExpiry: oneOf("onExpiry", options.onExpiry, ["new-session", "close"]),
    acceptsRegression: oneOf("onRegression", options.onRegression, ["reset", "wait"]) === "reset",
    shufflesHosts: oneOf("hostOrder", options.hostOrder, ["random", "given"]) === "random",
    hosts: options.hosts,
    tracksEnsemble: options.trackEnsemble ?? false,
    frameBytesMax: whole("frameBytesMax", options.frameBytesMax, 0xf_ffff, 1024),
    inFlightMax: whole("inFlightMax", options.inFlightMax, 1000, 1),
    waitingMax: whole("waitingMax", options.waitingMax, 10_000, 0),
    waitingBytesMax: whole("waitingBytesMax", options.waitingBytesMax, 8 * 1024 * 1024, 0),
    waitingTimeoutMs: whole("waitingTimeoutMs", options.waitingTimeoutMs, 30_000, 1),
    acl: options.acl ?? OPEN_ACL,
    defaultData: options.defaultData,
    intercept: options.intercept,
    onSuspended: oneOf("onSuspended", options.onSuspended, ["lose", "keep"]),
    treeWatches: oneOf("treeWatches", options.treeWatches, ["auto", "persistent", "one-shot"]),
    transport,
    random: options.random ?? Math.random,
  };
  if (problems.length > 0) throw new RangeError(`client options: ${problems.join("; ")}`);
  return Object.freeze(config);
}
