/**
 * A client's session as a pure machine: which server to try, when to give an attempt up, when to ping, when the session must be taken
 * for over. It owns no socket, timer or clock; every method is told the time, in milliseconds of a monotonic clock.
 *
 *     idle ─▶ resolving ─▶ dialing ─▶ greeting ─▶ connected ─▶ closing ─▶ ended
 *               ▲  │           │          │           │
 *               │  ▼           ▼          ▼           ▼
 *               waiting ◀── (next address, next name, next round)
 */
import {
  assertNever,
  type Backoff,
  type ConnectRequest,
  SESSION_NONE,
  type SessionId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { ConnectResponse } from "@zooid/wire";
import { formatAddress, type HostAddress } from "../servers/connect-string.ts";
import type { HostList } from "../servers/host-list.ts";
import type { ClientState } from "./client-state.ts";

export interface SessionConfig {
  /** Asked for; the server has the last word. */
  readonly timeoutMs: number;
  /** For one address, from the dial to the server's greeting. */
  readonly connectTimeoutMs: number;
  readonly allowsReadOnly: boolean;
  readonly onExpiry: "new-session" | "close";
  /** Whether servers that have lost what this client saw are taken as they are, once its session is lost anyway. */
  readonly acceptsRegression: boolean;
  /** A session to go on with. */
  readonly resume?: { readonly id: SessionId; readonly password: Uint8Array } | undefined;
}

/** Why there will be no session any more. */
export type SessionEnd = "closed" | "expired" | "auth-failed";

/** What the machine has done for it. Calls come in the order in which they must happen. */
export interface SessionSinks {
  /** Find the addresses of a name; answered by `resolved`, with none when it has none. */
  resolve(host: HostAddress): void;
  /** Connect; answered by `opened` or `disconnected`. */
  dial(address: HostAddress): void;
  /** Drop the connection, or the attempt, without a further word from it. */
  hangUp(): void;
  /** Send the first frame; answered by `greeted` or `disconnected`. */
  handshake(request: ConnectRequest): void;
  ping(): void;
  /** Ask the server to end the session; answered by `sessionClosed` or `disconnected`. */
  closeSession(): void;
  /** Requests may go out. */
  established(): void;
  /** The connection that requests went over is gone. */
  severed(): void;
  /** Nothing more comes. */
  ended(end: SessionEnd): void;
  state(state: ClientState): void;
}

type Phase =
  | { readonly kind: "idle" | "ended" }
  | { readonly kind: "resolving" | "waiting" | "closing"; readonly deadlineMs: number }
  | { readonly kind: "dialing" | "greeting"; readonly address: HostAddress; readonly deadlineMs: number }
  | { readonly kind: "connected"; readonly address: HostAddress };

const PASSWORD_NONE = new Uint8Array(16);
/** A quiet connection is pinged after a third of the session's timeout, or after this time. */
const PING_AFTER_MS_MAX = 10_000;
/**
 * So many rounds in which servers hung up on our greeting, and none answered it, say that they all are behind what we saw: their data
 * were lost or replaced. A server without a quorum hangs up too, but it keeps our session, which then is not lost for long.
 */
const REFUSED_ROUNDS = 3;
/** How long closing waits for the server's answer. */
const CLOSE_MS_MAX = 5_000;
/**
 * A follower tells its leader of its sessions only now and then. When it answers us and dies at once, the leader counts from before our
 * last answer: by no more than one tick, of 2 s unless configured otherwise.
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
  /** Until then no server can have expired the session. */
  #aliveUntilMs = Number.POSITIVE_INFINITY;
  #isLost = false;
  #isReadOnly = false;
  /** A server without a quorum made the session up: no other server knows it, and nothing depends on it. */
  #isProvisional = false;
  #lastZxid: Zxid = ZXID_NONE;
  /** Rounds in a row in which every server that could be reached hung up on the greeting. */
  #refusedRounds = 0;
  #wasRefused = false;
  #handshakeAtMs = 0;
  #sentAtMs = 0;
  #receivedAtMs = 0;
  /** When the pings on their way were sent, oldest first. */
  #pingsAtMs: number[] = [];

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

  /** 0 while there is none. */
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

  /** The highest that an answer carried. */
  get lastZxid(): Zxid {
    return this.#lastZxid;
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Whether requests may go out. */
  get isConnected(): boolean {
    return this.#phase.kind === "connected";
  }

  /** The address that is connected, dialled or greeted. */
  get server(): string | undefined {
    return "address" in this.#phase ? formatAddress(this.#phase.address) : undefined;
  }

  /** The address that is connected. */
  get connectedAddress(): HostAddress | undefined {
    return this.#phase.kind === "connected" ? this.#phase.address : undefined;
  }

  /** Until when the session certainly lives, as far as its servers' answers say; of use while it is neither lost nor new. */
  get aliveUntilMs(): number {
    return this.#aliveUntilMs;
  }

  /** When `tick` is wanted next. It may come too late, never too early, for what it should do. */
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

  resolved(addresses: readonly HostAddress[], nowMs: number): void {
    if (this.#phase.kind !== "resolving") return;
    this.#hosts.resolved(addresses);
    this.#attempt(nowMs);
  }

  /** The connection stands. */
  opened(nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind !== "dialing") return;
    this.#phase = { ...phase, kind: "greeting" };
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
      (isOther && this.#config.onExpiry === "close")
    ) {
      this.#refused(nowMs);
      return;
    }
    if (nowMs >= livesFrom(this.#handshakeAtMs, response.timeoutMs)) {
      // This process slept over it: what it says of the session may not be true any more.
      this.#sinks.hangUp();
      if (this.#mayBeLost() && this.#declareLossBy(nowMs)) return;
      this.#attempt(nowMs);
      return;
    }
    if (isOther && !this.#isLost) {
      // No server should answer so, but what it means is plain: the session that was asked for is gone.
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
    const connected: Phase = { kind: "connected", address: phase.address };
    this.#phase = connected;
    this.#sinks.established();
    // Whoever was told may have closed.
    if (this.#phase !== connected) return;
    this.#sinks.state({
      kind: this.#isReadOnly ? "read-only" : "connected",
      sessionId: this.#id,
      server: formatAddress(phase.address),
    });
  }

  /** Requests have left. */
  sent(nowMs: number): void {
    this.#sentAtMs = nowMs;
  }

  /**
   * Bytes have arrived, before anybody reads them.
   *
   * @returns false when they come too late to be believed: this process slept so long that the session may be over, which its users
   *   must learn before they learn anything else
   */
  received(nowMs: number): boolean {
    this.#receivedAtMs = nowMs;
    if (this.#phase.kind !== "connected" || nowMs < this.#aliveUntilMs) return true;
    this.#sinks.hangUp();
    this.disconnected(nowMs);
    return false;
  }

  /** A request was answered, which the server cannot have seen before it was sent. */
  answered(sentAtMs: number, zxid: Zxid): void {
    const untilMs = livesFrom(sentAtMs, this.#timeoutMs);
    if (untilMs > this.#aliveUntilMs) this.#aliveUntilMs = untilMs;
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
  }

  /** A ping was answered: the oldest one, so no more is proven than when that one was sent, however late its answer is. */
  pingAnswered(zxid: Zxid): void {
    const sentAtMs = this.#pingsAtMs.shift();
    if (sentAtMs !== undefined) this.answered(sentAtMs, zxid);
  }

  /**
   * The connection, or the attempt at one, has ended.
   *
   * @param isFault whether the server said what it should not: then the pauses between rounds go on growing
   */
  disconnected(nowMs: number, isFault = false): void {
    const { kind } = this.#phase;
    if (kind === "closing") {
      this.#end("closed");
      return;
    }
    if (kind === "connected") {
      if (!isFault) this.#backoff.reset();
      this.#phase = { kind: "waiting", deadlineMs: nowMs };
      this.#sinks.severed();
      this.#sinks.state({ kind: "suspended", sessionId: this.#id });
      if (this.#isEnded() || this.#declareLossBy(nowMs)) return;
      this.#attempt(nowMs);
    } else if (kind === "dialing" || kind === "greeting") {
      if (kind === "greeting") this.#wasRefused = true;
      this.#attempt(nowMs);
    }
  }

  /** The server has refused credentials; nothing else would help. */
  authFailed(): void {
    if (this.#phase.kind !== "ended") this.#end("auth-failed");
  }

  close(nowMs: number): void {
    const { kind } = this.#phase;
    if (kind === "closing" || kind === "ended") return;
    if (kind !== "connected") {
      this.#end("closed");
      return;
    }
    this.#phase = { kind: "closing", deadlineMs: nowMs + Math.min(CLOSE_MS_MAX, this.#timeoutMs) };
    this.#sinks.closeSession();
  }

  /** The server has confirmed the end of the session. */
  sessionClosed(): void {
    if (this.#phase.kind === "closing") this.#end("closed");
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
        if (nowMs >= phase.deadlineMs) this.#end("closed");
        return;
      case "waiting":
      case "resolving":
        if (nowMs >= phase.deadlineMs) this.#attempt(nowMs);
        return;
      case "dialing":
      case "greeting":
        if (nowMs >= phase.deadlineMs) {
          this.#sinks.hangUp();
          this.#attempt(nowMs);
        }
        return;
      default:
        assertNever(phase);
    }
  }

  /** Goes on to the next address, the next name, or the next round. */
  #attempt(nowMs: number): void {
    const deadlineMs = nowMs + this.#config.connectTimeoutMs;
    const address = this.#hosts.takeAddress();
    if (address !== undefined) {
      this.#phase = { kind: "dialing", address, deadlineMs };
      this.#sinks.dial(address);
      return;
    }
    const host = this.#hosts.takeHost();
    if (host !== undefined) {
      this.#phase = { kind: "resolving", deadlineMs };
      this.#sinks.resolve(host);
      return;
    }
    this.#endRound();
    this.#phase = { kind: "waiting", deadlineMs: nowMs + this.#backoff.nextDelayMs() };
  }

  #endRound(): void {
    const hasSession = this.#id !== SESSION_NONE && !this.#isLost;
    this.#refusedRounds = this.#wasRefused && !hasSession ? this.#refusedRounds + 1 : 0;
    this.#wasRefused = false;
    if (this.#refusedRounds >= REFUSED_ROUNDS && this.#config.acceptsRegression) this.#lastZxid = ZXID_NONE;
  }

  /** The server does not know the session any more, or has refused to make one. */
  #refused(nowMs: number): void {
    const gone = this.#id;
    this.#forget();
    this.#sinks.hangUp();
    if (gone !== SESSION_NONE && !this.#isLost) this.#sinks.state({ kind: "lost", sessionId: gone });
    this.#isLost = false;
    if (this.#isEnded()) return;
    if (gone !== SESSION_NONE && this.#config.onExpiry === "close") this.#end("expired");
    else this.#attempt(nowMs);
  }

  #forget(): void {
    this.#id = SESSION_NONE;
    this.#password = PASSWORD_NONE;
    this.#aliveUntilMs = Number.POSITIVE_INFINITY;
    this.#isProvisional = false;
  }

  /** Whether time alone can end the session: it exists, no server answers, and nobody was told yet. */
  #mayBeLost(): boolean {
    const { kind } = this.#phase;
    return this.#id !== SESSION_NONE && !this.#isLost && kind !== "connected" && kind !== "closing" && kind !== "ended";
  }

  /** Takes the session for lost when it may be; true when that was the end. Attempts go on, since the server may be more patient. */
  #declareLossBy(nowMs: number): boolean {
    if (nowMs < this.#aliveUntilMs) return false;
    this.#isLost = true;
    this.#sinks.state({ kind: "lost", sessionId: this.#id });
    if (this.#isEnded()) return true;
    if (this.#config.onExpiry !== "close") return false;
    this.#sinks.hangUp();
    this.#end("expired");
    return true;
  }

  /** Asked after whoever hears of a state was told it: he may have closed. */
  #isEnded(): boolean {
    return this.#phase.kind === "ended";
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

/** Until when a server that has heard from the client at a time keeps its session at least. */
function livesFrom(sentAtMs: number, timeoutMs: number): number {
  return sentAtMs + timeoutMs - Math.min(timeoutMs / 5, TOUCH_LAG_MS_MAX);
}
