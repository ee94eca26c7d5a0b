/**
 * The session of the commands: opened when the program starts, closed by `close`, opened again by
 * `connect`. It prints its events in the format of zkCli's default watcher.
 */
import {
  type Client,
  type ClientState,
  createClient,
  formatAddress,
  type SaslMechanism,
  startTimer,
  type TlsOptions,
  tcpTransport,
  tlsTransport,
} from "@zooid/client";
import type { CliCall } from "@zooid/doctor";
import { CliError } from "../cli-error.ts";
import { clientText } from "../explain-error.ts";
import type { Output } from "../output.ts";
import { connectionEvent, type WatchedEvent, watchedEventJson, watchedEventLines } from "../texts/watched-event.ts";
import { ConnectionAttempts } from "./connection-attempts.ts";
import { diagnose } from "./diagnosis.ts";
import { readServers } from "./servers.ts";
import { Watches } from "./watches.ts";

export interface ConnectionOptions {
  /** `host:port[,host:port…][/chroot]` */
  readonly server: string;
  /** The requested session timeout, and the time limit of `-waitforconnection`. */
  readonly timeoutMs: number;
  readonly isReadOnly: boolean;
  /**
   * Waits for a connection within the timeout, instead of giving up when every server has been
   * tried.
   */
  readonly waitsForConnection: boolean;
  readonly frameBytesMax: number;
  /** Undefined: plain TCP. */
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: SaslMechanism | undefined;
  /** Options of the command line that secure the connection, for commands that are printed. */
  readonly securityOptions?: readonly string[];
  readonly output: Output;
}

/** Larger than any server's default, since a listing may be huge and the user asked for it. */
export const FRAME_BYTES_MAX: number = 64 * 1024 * 1024;

/** After this time without a connection the user is informed of the wait. */
const WAITING_NOTICE_MS = 2_000;

const STATE_WORDS: Readonly<Record<ClientState["kind"], string>> = {
  connected: "CONNECTED",
  "read-only": "CONNECTEDREADONLY",
  connecting: "CONNECTING",
  suspended: "CONNECTING",
  lost: "CONNECTING",
  "auth-failed": "AUTH_FAILED",
  closed: "CLOSED",
};

interface Live {
  /** Without the chroot, for paths outside of it. */
  readonly root: Client;
  /** Under the chroot. */
  readonly client: Client;
  readonly attempts: ConnectionAttempts;
  /** Resolves when the last state was printed. */
  readonly ended: Promise<void>;
}

export class Connection {
  readonly watches: Watches;
  /** Whether events are printed: `printwatches`. */
  printsWatches = true;
  /** Whether also the connection's own events are printed, beside those of nodes. */
  printsStates = true;
  /** Largest request in bytes. */
  get frameBytesMax(): number {
    return this.#options.frameBytesMax;
  }

  readonly #options: ConnectionOptions;
  #server: string;
  #live: Live | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#server = options.server;
    this.watches = new Watches((event) => this.#print(event));
  }

  /** The current connect string. */
  get server(): string {
    return this.#server;
  }

  /** The operator's way to call this program for the same servers. */
  get cliCall(): CliCall {
    return { servers: this.#server, options: this.#options.securityOptions ?? [] };
  }

  /** How other connections to the same servers are secured. */
  get security(): { readonly tls?: TlsOptions } {
    const { tls } = this.#options;
    return tls === undefined ? {} : { tls };
  }

  /**
   * A client of some of the servers, for a look at what they have while others may hang. The caller
   * closes it.
   */
  clientOf(servers: readonly string[]): Client {
    const { timeoutMs, frameBytesMax, tls, sasl } = this.#options;
    return createClient(servers.join(","), {
      sessionTimeoutMs: timeoutMs,
      frameBytesMax,
      responseBytesMax: frameBytesMax,
      connectWarningMs: Number.POSITIVE_INFINITY,
      ...(tls === undefined ? {} : { tls }),
      ...(sasl === undefined ? {} : { sasl }),
    });
  }

  /**
   * A connection to another server with the settings of this one. It is not open, and prints no
   * events.
   */
  beside(server: string): Connection {
    const other = new Connection({ ...this.#options, server, waitsForConnection: false });
    other.printsWatches = false;
    return other;
  }

  /** The state in the prompt. */
  get stateWord(): string {
    const kind = this.#live?.root.state.kind;
    return kind === undefined ? "CLOSED" : STATE_WORDS[kind];
  }

  /** Whether a command can be answered. */
  get isAlive(): boolean {
    const kind = this.#live?.root.state.kind;
    return kind !== undefined && kind !== "closed" && kind !== "auth-failed";
  }

  /**
   * Starts a session; an open one is closed first. It does not wait for the server.
   *
   * @throws CliError for an invalid connect string
   */
  async open(server: string = this.#server): Promise<void> {
    const { hosts, chroot } = readServers(server);
    await this.close();
    const addresses = new Set(hosts.map(formatAddress));
    const attempts = new ConnectionAttempts(addresses.size);
    const { timeoutMs, isReadOnly, frameBytesMax, tls, sasl } = this.#options;
    const root = createClient([...addresses].join(","), {
      sessionTimeoutMs: timeoutMs,
      readOnly: isReadOnly ? "allow" : "never",
      frameBytesMax,
      responseBytesMax: frameBytesMax,
      waitingTimeoutMs: timeoutMs,
      // A waiting command has its own notice.
      connectWarningMs: Number.POSITIVE_INFINITY,
      transport: attempts.observe(tls === undefined ? tcpTransport : tlsTransport(tls)),
      ...(sasl === undefined ? {} : { sasl }),
    });
    const client = chroot === "/" ? root : root.namespace(chroot);
    this.#server = server;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let kind: ClientState["kind"] | undefined;
    root.state$.subscribe({
      next: (state) => {
        // Failed attempts emit the state again; zkCli prints changes only.
        if (state.kind !== kind) this.#took(state, attempts);
        ({ kind } = state);
      },
      error: () => end(),
      complete: () => end(),
    });
    this.#live = { root, client, attempts, ended };
  }

  /** Ends the session, if there is one. */
  async close(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    await live.root.close();
    await live.ended;
    this.#live = undefined;
    this.watches.clear();
  }

  /**
   * The client, once it is connected.
   *
   * @param call.path the waiting command's path, for the message
   * @param call.isAbsolute the path lies outside the chroot
   * @throws CliError CONNECTION_LOSS when no server can be reached
   */
  async ready(call: {
    readonly path?: string;
    readonly isAbsolute?: boolean;
    readonly signal: AbortSignal;
  }): Promise<Client> {
    const live = this.#live;
    if (live === undefined || !this.isAlive) throw new CliError("Not connected", { code: "NOT_CONNECTED" });
    if (!isUp(live.root.state)) await this.#untilUp(live, call);
    return call.isAbsolute === true ? live.root : live.client;
  }

  /** Adds credentials, now and on every later connection of this session. */
  async addAuth(credential: { readonly scheme: string; readonly auth: string }, signal: AbortSignal): Promise<void> {
    const client = await this.ready({ signal });
    await client.addAuth(credential.scheme, credential.auth, { signal });
  }

  async #untilUp(live: Live, call: { readonly path?: string; readonly signal: AbortSignal }): Promise<void> {
    const { timeoutMs, waitsForConnection } = this.#options;
    const gaveUp = new AbortController();
    const timer = startTimer(timeoutMs, () => gaveUp.abort());
    const notice = setTimeout(() => {
      this.#options.output.progress(`waiting for a server at ${this.#server}, for ${timeoutMs / 1000} s at most`);
    }, WAITING_NOTICE_MS);
    live.attempts.reset();
    if (!waitsForConnection) void live.attempts.allFailed().then(() => gaveUp.abort());
    try {
      await live.root.connected({ signal: AbortSignal.any([gaveUp.signal, call.signal]) });
    } catch (error) {
      if (!gaveUp.signal.aborted || call.signal.aborted) throw error;
      const fault = (await this.#diagnosis(call.signal)) ?? live.attempts.lastFault;
      const reason = fault === undefined ? "" : ` (${fault})`;
      throw new CliError(`${clientText("CONNECTION_LOSS", call.path)}${reason}`, {
        code: "CONNECTION_LOSS",
        path: call.path,
        plain: `no session with ${this.#server}${fault === undefined ? "" : `: ${fault}`}`,
      });
    } finally {
      timer.cancel();
      clearTimeout(notice);
    }
  }

  /** The diagnosis of the first server that explains the failure; undefined if none does. */
  async #diagnosis(signal: AbortSignal): Promise<string | undefined> {
    const isSecure = this.#options.tls !== undefined;
    for (const host of readServers(this.#server).hosts) {
      if (host.isService === true) continue;
      const found = await diagnose(host, isSecure, signal);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #took(state: ClientState, attempts: ConnectionAttempts): void {
    if (isUp(state)) attempts.reset();
    const event = connectionEvent(state);
    if (event !== undefined && this.printsStates) this.#print(event);
  }

  #print(event: WatchedEvent): void {
    if (!this.printsWatches) return;
    const { output } = this.#options;
    output.lines(watchedEventLines(event));
    output.eventJson(watchedEventJson(event));
  }
}

function isUp({ kind }: ClientState): boolean {
  return kind === "connected" || kind === "read-only";
}
