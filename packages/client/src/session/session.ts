/**
 * A client's session as a pure state machine: it decides which server to try, when to give an
 * attempt up, when to ping, and when the session must be assumed lost. It owns no socket, timer or
 * clock; every method takes the time, in milliseconds of a monotonic clock.
 *
 *     idle ─▶ resolving ─▶ dialing ─▶ greeting ─▶ connected ─▶ closing ─▶ ended
 *               ▲  │           │          │           │           │
 *               │  ▼           ▼          ▼           ▼           ▼
 *               waiting ◀── (next address, next name, next round)
 *
 * A close that insists on the server's confirmation goes back from closing to waiting when the
 * connection ends, and from greeting to closing when the session is attached again.
 */
import {
  assertNever,
  type Backoff,
  type ConnectRequest,
  reachLimitMs,
  SESSION_NONE,
  type SessionId,
  SILENT_ATTEMPTS_PER_DOUBLING,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { ConnectResponse } from "@zooid/wire";
import { addressText, type HostAddress } from "../servers/connect-string.ts";
import type { HostList } from "../servers/host-list.ts";
import { type AttemptFailure, systemCode } from "./attempt-failures.ts";
import type { ClientState } from "./client-state.ts";

export interface SessionConfig {
  /** Requested; the server decides. */
  readonly timeoutMs: number;
  /** For one address, from dialling to the server's connect response. */
  readonly connectTimeoutMs: number;
  readonly allowsReadOnly: boolean;
  readonly onExpiry: "new-session" | "close";
  /**
   * Whether to accept servers that have lost data which this client saw, once its session is lost
   * anyway.
   */
  readonly acceptsRegression: boolean;
  /** A session to resume. */
  readonly resume?: { readonly id: SessionId; readonly password: Uint8Array } | undefined;
}

/** The reason why there will be no session any more. */
export type SessionEnd = "closed" | "expired" | "auth-failed";

export interface DisconnectReason {
  readonly isFault?: boolean;
  readonly cause?: Error | undefined;
  /** The bytes that came in place of a connect response, for messages. */
  readonly received?: string | undefined;
}

/** The actions of the machine. Calls come in the order in which they must be carried out. */
export interface SessionSinks {
  /** Resolve a name; answered by `resolved`, with an empty list if it has no address. */
  resolve(host: HostAddress): void;
  /**
   * Connect; answered by `opened` or `disconnected`.
   *
   * @param reachMs maximum time until the address accepts or refuses the connection; undefined:
   *   only the attempt as a whole is limited
   */
  dial(address: HostAddress, reachMs: number | undefined): void;
  /** Close the connection, or cancel the attempt, without further events of it. */
  hangUp(): void;
  /** Send the first frame; answered by `greeted` or `disconnected`. */
  handshake(request: ConnectRequest): void;
  ping(): void;
  /**
   * Ask the server to end the session; answered by `sessionClosed`, `closeRefused` or
   * `disconnected`.
   */
  closeSession(): void;
  /** Requests may be sent. */
  established(): void;
  /** The connection that requests were sent on is lost. */
  severed(cause?: Error): void;
  /** An attempt at a server has failed; the next one follows. */
  attemptFailed(failure: AttemptFailure): void;
  /** The machine has ended. */
  ended(end: SessionEnd): void;
  state(state: ClientState): void;
}

type Phase =
  | { readonly kind: "idle" | "ended" }
  | { readonly kind: "waiting" | "closing"; readonly deadlineMs: number }
  | { readonly kind: "resolving"; readonly host: HostAddress; readonly deadlineMs: number }
  | { readonly kind: "dialing" | "greeting"; readonly address: HostAddress; readonly deadlineMs: number }
  | { readonly kind: "connected"; readonly address: HostAddress };

const PASSWORD_NONE = new Uint8Array(16);
/**
 * Largest interval between pings on an idle connection; otherwise a third of the session's timeout.
 */
const PING_AFTER_MS_MAX = 10_000;
/**
 * After this many rounds in which servers closed the connection after our connect request, and none
 * answered it, all of them are assumed to be behind the zxid that we saw: their data were lost or
 * replaced. A server without a quorum closes connections too, but then our session lives on and is
 * not lost for long.
 */
const REFUSED_ROUNDS = 3;
/** Time that closing waits for the server's answer. */
const CLOSE_MS_MAX = 5_000;
/**
 * A follower reports its sessions to the leader once a tick. If it answers us and dies at once, the
 * leader counts from before our last answer: by at most one tick, 2 s unless configured otherwise.
 */
const TOUCH_LAG_MS_MAX = 2_000;

export class Session {
  readonly #config: SessionConfig;
  readonly #hosts: HostList;
  readonly #backoff: Backoff;
  readonly #sinks: SessionSinks;
  #phase: Phase = { kind: "idle" };
  #id: SessionId;
  #password: Uint8Array;
  #timeoutMs = 0;
  /** No server can have expired the session before this time. */
  #aliveUntilMs = Number.POSITIVE_INFINITY;
  #isLost = false;
  #isReadOnly = false;
  /**
   * A server without a quorum created the session locally: no other server knows it, and nothing
   * depends on it.
   */
  #isProvisional = false;
  #lastZxid: Zxid = ZXID_NONE;
  /**
   * Consecutive rounds in which every reachable server closed the connection after our connect
   * request.
   */
  #refusedRounds = 0;
  #wasRefused = false;
  /**
   * Silent attempts since the last connection, for {@link reachLimitMs}. A round in which one of
   * the addresses answered counts as one: servers without a leader answer and refuse, while the
   * silent one may be far away. After a round in which no address answered, the limit doubles.
   */
  #silentCount = 0;
  #wasReached = false;
  #handshakeAtMs = 0;
  #sentAtMs = 0;
  #receivedAtMs = 0;
  /** Send times of unanswered pings, oldest first. */
  #pingsAtMs: number[] = [];
  #isClosedAtServer = false;
  /** Whether the client ends only when a server has confirmed the end of the session. */
  #insistsOnClose = false;
  /** Whether a connection on which the session was being closed has ended before. */
  #wasCloseCutOff = false;

  constructor(
    config: SessionConfig,
    { hosts, backoff, sinks }: { readonly hosts: HostList; readonly backoff: Backoff; readonly sinks: SessionSinks },
  ) {
    this.#config = config;
    this.#hosts = hosts;
    this.#backoff = backoff;
    this.#sinks = sinks;
    this.#id = config.resume?.id ?? SESSION_NONE;
    this.#password = config.resume?.password ?? PASSWORD_NONE;
  }

  /** 0 if there is none. */
  get id(): SessionId {
    return this.#id;
  }

  get password(): Uint8Array {
    return this.#password;
  }

  /** As negotiated; 0 before. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The highest zxid that an answer carried. */
  get lastZxid(): Zxid {
    return this.#lastZxid;
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Whether requests may be sent. */
  get isConnected(): boolean {
    return this.#phase.kind === "connected";
  }

  /** How far the attempt under way is, as a clause for messages; undefined where there is none. */
  get attempt(): string | undefined {
    const phase = this.#phase;
    switch (phase.kind) {
      case "resolving":
        return `${addressText(phase.host)}: its name is not resolved yet`;
      case "dialing":
        return `${addressText(phase.address)}: not connected yet`;
      case "greeting":
        return `${addressText(phase.address)}: connected, and no answer to the connect request yet`;
      default:
        return undefined;
    }
  }

  /** The address that is connected or being tried. */
  get server(): string | undefined {
    return "address" in this.#phase ? addressText(this.#phase.address) : undefined;
  }

  /** The connected address. */
  get connectedAddress(): HostAddress | undefined {
    return this.#phase.kind === "connected" ? this.#phase.address : undefined;
  }

  /**
   * Time until which the session is guaranteed to live by its servers' answers; only meaningful
   * while it is neither lost nor new.
   */
  get aliveUntilMs(): number {
    return this.#aliveUntilMs;
  }

  /** Time of the next `tick`. A late call is safe, an early one too. */
  get deadlineMs(): number {
    const lossMs = this.#mayBeLost() ? this.#aliveUntilMs : Number.POSITIVE_INFINITY;
    const phase = this.#phase;
    switch (phase.kind) {
      case "idle":
      case "ended":
        return Number.POSITIVE_INFINITY;
      case "connected":
        return Math.min(this.#sentAtMs + this.#pingAfterMs(), this.#receivedAtMs + this.#readTimeoutMs());
      case "resolving":
      case "waiting":
      case "closing":
      case "dialing":
      case "greeting":
        return Math.min(phase.deadlineMs, lossMs);
      default:
        return assertNever(phase);
    }
  }

  start(nowMs: number): void {
    if (this.#phase.kind !== "idle") return;
    this.#attempt(nowMs);
  }

  /** @param cause why there are no addresses */
  resolved(addresses: readonly HostAddress[], nowMs: number, cause?: Error): void {
    const phase = this.#phase;
    if (phase.kind !== "resolving") return;
    this.#hosts.resolved(addresses);
    if (addresses.length > 0) this.#attempt(nowMs);
    else this.#attemptAfter({ host: phase.host, step: "resolve", kind: "failed", cause }, nowMs);
  }

  /** The connection is open. */
  opened(nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind !== "dialing") return;
    this.#phase = { ...phase, kind: "greeting" };
    this.#wasReached = true;
    this.#handshakeAtMs = nowMs;
    if (this.#isProvisional) this.#forget();
    this.#sinks.handshake({
      protocolVersion: 0,
      lastZxidSeen: this.#lastZxid,
      timeoutMs: this.#config.timeoutMs,
      sessionId: this.#id,
      password: { bytes: this.#password, start: 0, end: this.#password.length },
      readOnly: this.#config.allowsReadOnly,
    });
  }

  greeted(response: ConnectResponse, nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind !== "greeting") return;
    const isOther = this.#id !== SESSION_NONE && response.sessionId !== this.#id;
    if (
      response.timeoutMs <= 0 ||
      response.sessionId === SESSION_NONE ||
      (isOther && (this.#insistsOnClose || this.#config.onExpiry === "close"))
    ) {
      this.#refused(phase, nowMs);
      return;
    }
    if (nowMs >= livesFrom(this.#handshakeAtMs, response.timeoutMs)) {
      // This process was suspended meanwhile: the answer about the session may be outdated.
      this.#sinks.hangUp();
      if (this.#mayBeLost() && this.#declareLossBy(nowMs)) return;
      this.#attempt(nowMs);
      return;
    }
    if (isOther && !this.#isLost) {
      // No correct server answers so, but the meaning is clear: the requested session is gone.
      this.#sinks.state({ kind: "lost", sessionId: this.#id });
      if (this.#isEnded()) return;
    }
    const { bytes, start, end } = response.password;
    this.#isProvisional = response.readOnly === true && (this.#id === SESSION_NONE || this.#isProvisional);
    this.#id = response.sessionId;
    this.#password = new Uint8Array(bytes.subarray(start, end));
    this.#timeoutMs = response.timeoutMs;
    this.#isReadOnly = response.readOnly === true;
    this.#isLost = false;
    this.#wasRefused = false;
    this.#refusedRounds = 0;
    this.#aliveUntilMs = livesFrom(this.#handshakeAtMs, this.#timeoutMs);
    this.#sentAtMs = nowMs;
    this.#receivedAtMs = nowMs;
    this.#pingsAtMs = [];
    if (this.#insistsOnClose) {
      this.#phase = { kind: "closing", deadlineMs: nowMs + this.#readTimeoutMs() };
      this.#sinks.established();
      return;
    }
    const connected: Phase = { kind: "connected", address: phase.address };
    this.#phase = connected;
    this.#sinks.established();
    // A state listener may have closed the client.
    if (this.#phase !== connected) return;
    this.#sinks.state({
      kind: this.#isReadOnly ? "read-only" : "connected",
      sessionId: this.#id,
      server: addressText(phase.address),
    });
  }

  /** Requests were sent. */
  sent(nowMs: number): void {
    this.#sentAtMs = nowMs;
  }

  /**
   * Bytes have arrived and are not decoded yet.
   *
   * @returns false when they come too late: this process was suspended for so long that the session
   *   may be over, and its users must be informed of that first
   */
  received(nowMs: number): boolean {
    this.#receivedAtMs = nowMs;
    if (this.#phase.kind !== "connected" || nowMs < this.#aliveUntilMs) return true;
    this.#sinks.hangUp();
    this.disconnected(nowMs);
    return false;
  }

  /** A request was answered, which the server cannot have received before it was sent. */
  answered(sentAtMs: number, zxid: Zxid): void {
    const untilMs = livesFrom(sentAtMs, this.#timeoutMs);
    if (untilMs > this.#aliveUntilMs) this.#aliveUntilMs = untilMs;
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
  }

  /**
   * A ping was answered: the oldest one, so the session is proven alive only up to its send time,
   * however late the answer is.
   */
  pingAnswered(zxid: Zxid): void {
    const sentAtMs = this.#pingsAtMs.shift();
    if (sentAtMs !== undefined) this.answered(sentAtMs, zxid);
  }

  /**
   * The connection, or the attempt at one, has ended.
   *
   * @param end `isFault`: the server sent invalid data, so the back-off is not reset
   */
  disconnected(nowMs: number, { isFault = false, cause, received }: DisconnectReason = {}): void {
    const phase = this.#phase;
    const { kind } = phase;
    if (kind === "closing") {
      if (this.#insistsOnClose) this.#closeCutOff(nowMs);
      else this.#end("closed");
      return;
    }
    if (kind === "connected") {
      if (!isFault) this.#backoff.reset();
      this.#silentCount = 0;
      this.#phase = { kind: "waiting", deadlineMs: nowMs };
      this.#sinks.severed(cause);
      this.#sinks.state({ kind: "suspended", sessionId: this.#id });
      if (this.#isEnded() || this.#declareLossBy(nowMs)) return;
      this.#attempt(nowMs);
    } else if (kind === "dialing" || kind === "greeting") {
      if (kind === "greeting") this.#wasRefused = true;
      if (cause !== undefined && systemCode(cause) === "ECONNREFUSED") this.#wasReached = true;
      const step = kind === "greeting" ? "greet" : "connect";
      this.#attemptAfter({ host: phase.address, step, kind: "failed", cause, received }, nowMs);
    }
  }

  /** The server has refused the credentials; another attempt would not help. */
  authFailed(): void {
    if (this.#phase.kind !== "ended") this.#end("auth-failed");
  }

  /**
   * @param waitMsMax how long it waits for the server's answer, at most for the session's timeout
   */
  close(nowMs: number, waitMsMax: number = CLOSE_MS_MAX): void {
    const { kind } = this.#phase;
    const isRepeated = kind === "closing" && !this.#insistsOnClose;
    if (kind === "ended" || isRepeated) return;
    this.#insistsOnClose = false;
    if (kind !== "connected" && kind !== "closing") {
      this.#end("closed");
      return;
    }
    this.#phase = { kind: "closing", deadlineMs: nowMs + Math.min(waitMsMax, this.#timeoutMs) };
    if (kind === "connected") this.#sinks.closeSession();
  }

  /**
   * Ends the session as {@link close} does, and does not give up: when the connection ends before
   * the answer, the session is attached again and closed there. The client ends when a server has
   * confirmed the end of the session or does not know it any more. Without a session it ends at
   * once. A close under way keeps its own limit.
   */
  closeConfirmed(nowMs: number): void {
    const { kind } = this.#phase;
    if (kind === "closing" || kind === "ended") return;
    if (this.#id === SESSION_NONE || (kind !== "connected" && this.#isProvisional)) {
      this.#endClosed();
      return;
    }
    this.#insistsOnClose = true;
    if (kind !== "connected") return;
    this.#phase = { kind: "closing", deadlineMs: nowMs + this.#readTimeoutMs() };
    this.#sinks.closeSession();
  }

  /** Ends the client, and leaves the session to the servers, which end it after its timeout. */
  abandon(): void {
    if (this.#phase.kind !== "ended") this.#end("closed");
  }

  /** The server has confirmed the end of the session. */
  sessionClosed(): void {
    if (this.#phase.kind === "closing") this.#endClosed();
  }

  /** The server does not end the session, as one without a quorum: another one may. */
  closeRefused(nowMs: number): void {
    if (this.#phase.kind !== "closing") return;
    if (this.#insistsOnClose) this.#sinks.hangUp();
    this.disconnected(nowMs);
  }

  /**
   * Whether the servers hold no session: one has confirmed its end or does not know it any more, or
   * there was none.
   */
  get isClosedAtServer(): boolean {
    return this.#isClosedAtServer;
  }

  /** Whether the session is to be closed on the connection that is being established. */
  get isClosing(): boolean {
    return this.#phase.kind === "closing";
  }

  tick(nowMs: number): void {
    if (this.#mayBeLost() && this.#declareLossBy(nowMs)) return;
    const phase = this.#phase;
    switch (phase.kind) {
      case "idle":
      case "ended":
        return;
      case "connected":
        if (nowMs >= this.#receivedAtMs + this.#readTimeoutMs()) {
          this.#sinks.hangUp();
          this.disconnected(nowMs);
        } else if (nowMs >= this.#sentAtMs + this.#pingAfterMs()) {
          this.#sentAtMs = nowMs;
          this.#pingsAtMs.push(nowMs);
          this.#sinks.ping();
        }
        return;
      case "closing":
        if (nowMs < phase.deadlineMs) return;
        if (this.#insistsOnClose) this.#sinks.hangUp();
        this.disconnected(nowMs);
        return;
      case "waiting":
        if (nowMs >= phase.deadlineMs) this.#attempt(nowMs);
        return;
      case "resolving":
        if (nowMs >= phase.deadlineMs)
          this.#attemptAfter({ host: phase.host, step: "resolve", kind: "timeout" }, nowMs);
        return;
      case "dialing":
      case "greeting":
        if (nowMs >= phase.deadlineMs) {
          this.#sinks.hangUp();
          const step = phase.kind === "greeting" ? "greet" : "connect";
          this.#attemptAfter({ host: phase.address, step, kind: "timeout" }, nowMs);
        }
        return;
      default:
        assertNever(phase);
    }
  }

  /**
   * The connection has ended before the answer to a close. The first further attempt comes at once;
   * back-off before the others bounds the load on servers that hang up at every close.
   */
  #closeCutOff(nowMs: number): void {
    const delayMs = this.#wasCloseCutOff ? this.#backoff.nextDelayMs() : 0;
    this.#wasCloseCutOff = true;
    if (this.#isProvisional) {
      this.#endClosed();
      return;
    }
    this.#phase = { kind: "waiting", deadlineMs: nowMs + delayMs };
    this.#sinks.severed();
    this.#sinks.state({ kind: "suspended", sessionId: this.#id });
    if (!this.#isEnded() && delayMs === 0) this.#attempt(nowMs);
  }

  /** Reports a failed attempt, then continues unless a listener has ended the client. */
  #attemptAfter(failure: AttemptFailure, nowMs: number): void {
    this.#sinks.attemptFailed(failure);
    if (!this.#isEnded()) this.#attempt(nowMs);
  }

  /** Continues with the next address, the next name, or the next round. */
  #attempt(nowMs: number): void {
    const deadlineMs = nowMs + this.#config.connectTimeoutMs;
    const address = this.#hosts.takeAddress();
    if (address !== undefined) {
      this.#phase = { kind: "dialing", address, deadlineMs };
      this.#sinks.dial(address, this.#reachMs);
      return;
    }
    const host = this.#hosts.takeHost();
    if (host !== undefined) {
      this.#phase = { kind: "resolving", host, deadlineMs };
      this.#sinks.resolve(host);
      return;
    }
    this.#endRound();
    this.#phase = { kind: "waiting", deadlineMs: nowMs + this.#backoff.nextDelayMs() };
  }

  get #reachMs(): number | undefined {
    if (!this.#hosts.hasSeveral) return undefined;
    const reachMs = reachLimitMs(this.#silentCount);
    return reachMs < this.#config.connectTimeoutMs ? reachMs : undefined;
  }

  #endRound(): void {
    this.#silentCount += this.#wasReached ? 1 : SILENT_ATTEMPTS_PER_DOUBLING;
    this.#wasReached = false;
    const hasSession = this.#id !== SESSION_NONE && !this.#isLost;
    this.#refusedRounds = this.#wasRefused && !hasSession ? this.#refusedRounds + 1 : 0;
    this.#wasRefused = false;
    if (this.#refusedRounds >= REFUSED_ROUNDS && this.#config.acceptsRegression) this.#lastZxid = ZXID_NONE;
  }

  /** The server does not know the session any more, or has refused to create one. */
  #refused({ address }: { readonly address: HostAddress }, nowMs: number): void {
    if (this.#insistsOnClose) {
      this.#endClosed();
      return;
    }
    const gone = this.#id;
    this.#forget();
    this.#sinks.hangUp();
    if (gone !== SESSION_NONE && !this.#isLost) this.#sinks.state({ kind: "lost", sessionId: gone });
    this.#isLost = false;
    if (this.#isEnded()) return;
    if (gone !== SESSION_NONE && this.#config.onExpiry === "close") this.#end("expired");
    else if (gone !== SESSION_NONE) {
      // This server answers: it is asked for a new session at once, without the back-off of a
      // round.
      this.#hosts.prefer(address);
      this.#attempt(nowMs);
    } else this.#attemptAfter({ host: address, step: "greet", kind: "refused" }, nowMs);
  }

  #forget(): void {
    this.#id = SESSION_NONE;
    this.#password = PASSWORD_NONE;
    this.#aliveUntilMs = Number.POSITIVE_INFINITY;
    this.#isProvisional = false;
  }

  /**
   * Whether time alone can end the session: it exists, no server answers, and its loss was not
   * reported yet.
   */
  #mayBeLost(): boolean {
    const { kind } = this.#phase;
    return this.#id !== SESSION_NONE && !this.#isLost && kind !== "connected" && kind !== "closing" && kind !== "ended";
  }

  /**
   * Assumes that the session is lost when it may be; true when that was the end. Attempts continue,
   * since the server may keep it longer.
   */
  #declareLossBy(nowMs: number): boolean {
    if (nowMs < this.#aliveUntilMs) return false;
    this.#isLost = true;
    this.#sinks.state({ kind: "lost", sessionId: this.#id });
    if (this.#isEnded()) return true;
    if (this.#config.onExpiry !== "close" || this.#insistsOnClose) return false;
    this.#sinks.hangUp();
    this.#end("expired");
    return true;
  }

  /** Checked after state listeners ran: one of them may have closed the client. */
  #isEnded(): boolean {
    return this.#phase.kind === "ended";
  }

  #endClosed(): void {
    this.#isClosedAtServer = true;
    this.#end("closed");
  }

  #end(end: SessionEnd): void {
    this.#phase = { kind: "ended" };
    this.#sinks.hangUp();
    this.#sinks.state({ kind: end === "auth-failed" ? "auth-failed" : "closed" });
    this.#sinks.ended(end);
  }

  #pingAfterMs(): number {
    return Math.min(this.#timeoutMs / 3, PING_AFTER_MS_MAX);
  }

  #readTimeoutMs(): number {
    return (this.#timeoutMs * 2) / 3;
  }
}

/**
 * Time until which a server that received data from the client at a time keeps its session at
 * least.
 */
function livesFrom(sentAtMs: number, timeoutMs: number): number {
  return sentAtMs + timeoutMs - Math.min(timeoutMs / 5, TOUCH_LAG_MS_MAX);
}
