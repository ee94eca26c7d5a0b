import type { ElectionMessage, ServerId } from "@zooid/model";
import { Backoff, reachLimitMs } from "@zooid/model";
import { type EnvelopeMessage, HANDSHAKE_FRAME_BYTES_MAX } from "@zooid/peer-protocol";
import type { MovablePort } from "../listening/port-moves.ts";
import type { HandshakeFault, PeerIdentity } from "./handshake.ts";
import {
  type ConnectionEnd,
  type ConnectionHandler,
  type PeerConnection,
  type ProtectedLink,
  RENEWED,
} from "./peer-connection.ts";
import { type AcceptedHandler, type AdmittedSide, type PeerLinkOptions, PeerPort } from "./peer-port.ts";
import { SecondHosts } from "./second-host.ts";

/**
 * Events of the mesh. None is emitted from within a call of {@link ElectionMesh}, and none after
 * `stop`.
 */
export interface ElectionMeshEvents {
  /** Precedes all other events of a turn, so that the turn is open. */
  wake(): void;
  message(from: ServerId, message: ElectionMessage): void;
  /**
   * A connection is open, the first or a new one. The last message may have been lost with the old
   * connection and is sent once more.
   */
  linkUp(sid: ServerId, peer: PeerIdentity): void;
  /** @param isReplaced the other side has a newer connection, which this side is about to have */
  linkDown(sid: ServerId, reason: string, isReplaced: boolean): void;
  /**
   * An attempt to connect has failed; another one follows.
   *
   * @param isRefused one of the two servers objects to the other
   */
  dialFailed(sid: ServerId, reason: string, isRefused: boolean): void;
  /**
   * A server without a connection accepts one, and has not said anything. `unheard` or `linkUp`
   * follows.
   */
  answers(sid: ServerId): void;
  /** That connection has ended: the server was silent, or one side refused the other. */
  unheard(sid: ServerId, refusal: ConnectionEnd["refusal"]): void;
  /** An attempt to connect ended without a connection after `tookMs`, and there is none. */
  unanswered(sid: ServerId, tookMs: number): void;
  /** The round-trip time. Reported before the first `linkUp` if it is known then, and each tick. */
  measured(sid: ServerId, roundTripMs: number): void;
  /**
   * How far the wall clock of the other server is ahead of this one's, within half a round trip.
   */
  clockCompared(sid: ServerId, aheadMs: number, roundTripMs: number): void;
}

/** Silent ticks before a connection is closed: middleboxes drop idle connections. */
const SILENT_TICKS_MAX = 3;
const REDIAL_MS_LEAST = 20;
const REDIAL_MS_MOST = 1000;
const REFUSED_MS_MOST = 15_000;
/**
 * The side that does not dial does so after three of the longest waits: the other one may be unable
 * to.
 */
const OTHERS_TURN_MS = 3 * REDIAL_MS_MOST;
/** A server that may found an ensemble tries often, so that its attempts say how things are now. */
const FOUNDING_ATTEMPT_MS = 2000;
/** The wait ends at the other side of a turn, by a clock that is read in whole milliseconds. */
const FOUNDING_SLACK_MS = 20;

export interface ElectionMeshOptions extends PeerLinkOptions {
  /**
   * Whether this server may found an ensemble: it dials all others at once. Default: it may not.
   */
  readonly isFounder?: () => boolean;
  /** In milliseconds since 1970. Default: the system's clock. */
  readonly wallMs?: () => number;
  /** Wait before dialing a server that should dial. Default 3000. */
  readonly othersTurnMs?: number;
}

interface Line {
  readonly connection: PeerConnection;
  readonly secondHosts: SecondHosts;
  readonly isDialed: boolean;
}

/** Another server, and the one connection to it. */
interface Neighbour {
  readonly sid: ServerId;
  /** The side that dials: this server, the other one, or only this one. */
  dialer: "self" | "other" | "never self";
  readonly backoff: Backoff;
  /** After refusals, which only an operator can end. */
  readonly refusedBackoff: Backoff;
  line: Line | undefined;
  attempt: PeerConnection | undefined;
  /** The attempt was accepted, and has not opened. */
  isAnswering: boolean;
  /** Consecutive attempts without any answer of the address. */
  silentCount: number;
  timer: NodeJS.Timeout | undefined;
  /** The newest message, which is sent first on a new connection. */
  last: ElectionMessage | undefined;
  /** It waits for room in the connection. */
  isLastWaiting: boolean;
  silentTicks: number;
  heartbeat: number;
  heartbeatSentMs: number;
}

/**
 * One connection between each pair of servers, over which elections are held. Of two voters the one
 * with the larger id dials, of a voter and an observer the observer. Of the messages that wait for
 * a connection only the newest is kept: older votes are worthless.
 */
export class ElectionMesh {
  readonly #options: ElectionMeshOptions;
  readonly #events: ElectionMeshEvents;
  readonly #port: PeerPort;
  readonly #neighbours = new Map<ServerId, Neighbour>();
  #tick: NodeJS.Timeout | undefined;
  #foundingTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ElectionMeshOptions, events: ElectionMeshEvents) {
    this.#options = options;
    this.#events = events;
    for (const { sid } of options.ensemble.directory.servers) if (sid !== options.ensemble.sid) this.#add(sid);
    this.#port = new PeerPort(
      "election",
      // All messages here are short.
      { ...options, frameBytesMax: HANDSHAKE_FRAME_BYTES_MAX },
      {
        accepted: () => this.#acceptedHandler(),
        admit: (peer, side) => this.#admit(peer, side),
      },
    );
  }

  #wallMs(): number {
    return Math.round(this.#options.wallMs?.() ?? Date.now());
  }

  #add(sid: ServerId): Neighbour {
    const { random = Math.random } = this.#options;
    const neighbour: Neighbour = {
      sid,
      dialer: this.#dialerOf(sid),
      backoff: new Backoff({ leastMs: REDIAL_MS_LEAST, mostMs: REDIAL_MS_MOST, jitter: 0.5, random }),
      refusedBackoff: new Backoff({ leastMs: REDIAL_MS_MOST, mostMs: REFUSED_MS_MOST, jitter: 0, random }),
      line: undefined,
      attempt: undefined,
      isAnswering: false,
      silentCount: 0,
      timer: undefined,
      last: undefined,
      isLastWaiting: false,
      silentTicks: 0,
      heartbeat: 0,
      heartbeatSentMs: 0,
    };
    this.#neighbours.set(sid, neighbour);
    return neighbour;
  }

  /**
   * A server that is not listed is not dialed: it may be about to join, or has left. One that only
   * the files list is dialed, though it has no vote here:
   *
   * 1. S1 and S3 cannot reach each other, and an operator recovers both: each is an ensemble alone.
   * 2. They can reach each other again. Neither lists the other one, and both should say so.
   */
  #dialerOf(sid: ServerId): Neighbour["dialer"] {
    const { directory, sid: own } = this.#options.ensemble;
    const other = directory.find(sid);
    if (other === undefined || (other.isObserver && other.isUnlisted !== true)) return "never self";
    const isObserver = directory.find(own)?.isObserver ?? false;
    return isObserver || own > sid ? "self" : "other";
  }

  /**
   * Servers came, left, or changed their roles: connections are opened to those that came, and
   * those that left may close theirs.
   */
  membersChanged(): void {
    const { directory, sid: own } = this.#options.ensemble;
    this.#port.membersChanged();
    for (const { sid } of directory.servers) if (sid !== own && !this.#neighbours.has(sid)) this.#add(sid);
    for (const neighbour of this.#neighbours.values()) {
      const { sid, dialer, line } = neighbour;
      neighbour.dialer = this.#dialerOf(sid);
      const isGone = directory.find(sid) === undefined;
      if (isGone && line === undefined) this.#forget(neighbour);
      else if (this.#tick !== undefined && line === undefined && neighbour.dialer !== dialer) this.#dialSoon(neighbour);
      else if (this.#tick !== undefined && line === undefined && neighbour.timer === undefined)
        this.#dialSoon(neighbour);
    }
  }

  #forget(neighbour: Neighbour): void {
    clearTimeout(neighbour.timer);
    neighbour.attempt?.destroy();
    neighbour.attempt = undefined;
    this.#neighbours.delete(neighbour.sid);
  }

  #dialSoon(neighbour: Neighbour): void {
    this.#dialIn(neighbour, this.#isOwnTurn(neighbour) ? 0 : this.#othersTurnMs);
  }

  /**
   * Whether this server dials without waiting for the other one: it must know who is there before
   * it founds an ensemble.
   */
  #isOwnTurn({ dialer }: Neighbour): boolean {
    return dialer === "self" || (dialer === "other" && this.#isFounder);
  }

  get #isFounder(): boolean {
    return this.#options.isFounder?.() ?? false;
  }

  /** Resolves once others can connect. Throws PeerPortError if the port cannot be bound. */
  listen(): Promise<void> {
    return this.#port.listen();
  }

  get protectedLinks(): readonly ProtectedLink[] {
    return Array.from(this.#neighbours.values()).flatMap((neighbour) => {
      const { sid, line } = neighbour;
      if (line === undefined) return [];
      const renew = (): void => {
        if (neighbour.line !== line) return;
        this.#events.wake();
        line.connection.destroy();
        this.#lost(neighbour, line, RENEWED);
      };
      return [{ sid, isDialed: line.isDialed, ...line.connection.protection, renew }];
    });
  }

  get movablePorts(): readonly MovablePort[] {
    return [this.#port.movable];
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return this.#port.port;
  }

  /** Why the port is not bound yet; undefined if there is no reason. */
  get waitsFor(): string | undefined {
    return this.#port.waitsFor;
  }

  /** Listens, unless it does already, and starts to connect. */
  async start(): Promise<void> {
    await this.listen();
    if (this.#isStopped || this.#tick !== undefined) return;
    this.#tick = setInterval(() => this.#ticked(), this.#options.tickMs);
    for (const neighbour of this.#neighbours.values()) {
      if (neighbour.line === undefined) this.#dialSoon(neighbour);
    }
    const waitMs = this.#options.ensemble.foundingWaitMs + FOUNDING_SLACK_MS;
    if (this.#isFounder) this.#foundingTimer = setTimeout(() => this.#dialAgain(), waitMs);
  }

  /**
   * The wait is over: servers that were not heard are dialed once more, and not with an attempt
   * that began while their links may have been down.
   */
  #dialAgain(): void {
    for (const neighbour of this.#neighbours.values()) {
      if (neighbour.line !== undefined || neighbour.isAnswering || neighbour.dialer === "never self") continue;
      clearTimeout(neighbour.timer);
      neighbour.attempt?.destroy();
      neighbour.attempt = undefined;
      this.#dial(neighbour);
    }
  }

  /**
   * Replaces a message that still waits: only the newest one matters. A server that is not listed
   * gets none.
   */
  send(to: ServerId, message: ElectionMessage): void {
    const neighbour = this.#neighbours.get(to);
    if (neighbour === undefined) return;
    neighbour.last = message;
    this.#sendLast(neighbour);
  }

  /** Closes everything. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#tick);
    clearTimeout(this.#foundingTimer);
    for (const neighbour of this.#neighbours.values()) {
      clearTimeout(neighbour.timer);
      neighbour.line = undefined;
    }
    await this.#port.stop();
  }

  get #othersTurnMs(): number {
    return this.#options.othersTurnMs ?? OTHERS_TURN_MS;
  }

  #sendLast(neighbour: Neighbour): void {
    const { line, last } = neighbour;
    if (line === undefined || last === undefined) return;
    neighbour.isLastWaiting = line.connection.isChoked;
    if (neighbour.isLastWaiting) return;
    line.connection.append(last);
    line.connection.flush();
  }

  #dialIn(neighbour: Neighbour, waitMs: number): void {
    if (this.#isStopped || neighbour.dialer === "never self") return;
    clearTimeout(neighbour.timer);
    neighbour.timer = setTimeout(() => this.#dial(neighbour), waitMs);
  }

  #dial(neighbour: Neighbour): void {
    if (neighbour.line !== undefined || neighbour.attempt !== undefined) return;
    let line: Line | undefined;
    const beganMs = performance.now();
    const handler: ConnectionHandler = {
      wake: () => this.#events.wake(),
      answered: () => {
        if (neighbour.attempt !== attempt || neighbour.line !== undefined) return;
        neighbour.isAnswering = true;
        this.#events.answers(neighbour.sid);
      },
      opened: (peer, roundTripMs) => {
        neighbour.attempt = undefined;
        line = { connection: attempt, secondHosts: new SecondHosts(neighbour.sid, peer), isDialed: true };
        this.#opened(neighbour, line, { peer, roundTripMs });
      },
      message: (message) => this.#received(neighbour, line, message),
      drained: () => this.#drained(neighbour, line),
      ended: (end) => {
        if (line !== undefined) this.#lost(neighbour, line, end.reason, isDuplicate(end));
        else this.#attemptFailed(neighbour, attempt, end, performance.now() - beganMs);
      },
    };
    const { connectTimeoutMs } = this.#options.ensemble;
    const limits = this.#isFounder
      ? { connectTimeoutMs: Math.min(connectTimeoutMs, FOUNDING_ATTEMPT_MS) }
      : { reachMs: reachLimitMs(neighbour.silentCount) };
    const attempt = this.#port.dial(neighbour.sid, handler, limits);
    neighbour.attempt = attempt;
  }

  #attemptFailed(neighbour: Neighbour, attempt: PeerConnection, end: ConnectionEnd, tookMs: number): void {
    const { reason, refusal, retryAfterMs } = end;
    if (neighbour.attempt !== attempt) return;
    neighbour.attempt = undefined;
    neighbour.isAnswering = false;
    neighbour.silentCount = end.isSilent ? neighbour.silentCount + 1 : 0;
    if (neighbour.line === undefined) {
      if (end.isAnswered) this.#events.unheard(neighbour.sid, refusal);
      else this.#events.unanswered(neighbour.sid, Math.floor(tookMs));
    }
    // Of two connections that the pair dials at the same moment one is refused, and the other
    // stays.
    const isSecond = isDuplicate(end);
    const isRefused = refusal !== undefined && !isSecond;
    const waitMs = isRefused ? neighbour.refusedBackoff.nextDelayMs() : neighbour.backoff.nextDelayMs();
    this.#dialIn(neighbour, isSecond ? Math.max(REDIAL_MS_MOST, retryAfterMs) : Math.max(waitMs, retryAfterMs));
    if (neighbour.line === undefined && !isSecond) this.#events.dialFailed(neighbour.sid, reason, isRefused);
  }

  #acceptedHandler(): AcceptedHandler {
    let neighbour: Neighbour | undefined;
    let line: Line | undefined;
    return {
      wake: () => this.#events.wake(),
      opened: (connection, peer, roundTripMs) => {
        // A server that is not listed may be about to join, and looks for the leader.
        neighbour = this.#neighbours.get(peer.sid) ?? this.#add(peer.sid);
        line = { connection, secondHosts: new SecondHosts(peer.sid, peer), isDialed: false };
        this.#opened(neighbour, line, { peer, roundTripMs });
      },
      message: (message) => {
        if (neighbour !== undefined) this.#received(neighbour, line, message);
      },
      drained: () => {
        if (neighbour !== undefined) this.#drained(neighbour, line);
      },
      ended: (end) => {
        if (neighbour !== undefined && line !== undefined) {
          this.#lost(neighbour, line, end.reason, isDuplicate(end));
        }
      },
    };
  }

  /**
   * A new connection replaces the old one, with two exceptions:
   *
   * 1. A connection of another start of the server, see {@link SecondHosts}.
   * 2. Of two connections that the pair dialed at the same moment, both sides keep the one of the
   * dialer whose turn it is.
   */
  #admit(peer: PeerIdentity, { isDialed, isCertain }: AdmittedSide): HandshakeFault | undefined {
    const { sid } = peer;
    const neighbour = this.#neighbours.get(sid);
    const old = neighbour?.line;
    if (neighbour === undefined || old === undefined) return undefined;
    if (!old.secondHosts.isConnected(peer)) return isCertain ? this.refusalOf(peer) : old.secondHosts.refusalOf(peer);
    const hasTurn = isDialed === (neighbour.dialer === "self");
    if (isDialed === old.isDialed || hasTurn) return undefined;
    return { reason: "duplicate", text: `servers ${this.#options.ensemble.sid} and ${sid} are connected` };
  }

  /**
   * Why a server is refused that is authenticated: another start of it is connected. Undefined if
   * it is not refused.
   */
  refusalOf(peer: PeerIdentity): HandshakeFault | undefined {
    const neighbour = this.#neighbours.get(peer.sid);
    const line = neighbour?.line;
    if (neighbour === undefined || line === undefined || line.secondHosts.isConnected(peer)) return undefined;
    return line.secondHosts.refuse(peer, () => {
      // Without an answer the connection is closed after a full tick.
      neighbour.silentTicks = Math.max(neighbour.silentTicks, SILENT_TICKS_MAX - 1);
      const next = neighbour.heartbeat + 1;
      this.#beat(neighbour, line);
      return next;
    });
  }

  #opened(
    neighbour: Neighbour,
    line: Line,
    { peer, roundTripMs }: { readonly peer: PeerIdentity; readonly roundTripMs: number | undefined },
  ): void {
    const { sid, last } = neighbour;
    clearTimeout(neighbour.timer);
    neighbour.attempt?.destroy();
    neighbour.attempt = undefined;
    neighbour.isAnswering = false;
    neighbour.line?.connection.refuse({ reason: "duplicate", text: "a newer connection replaces it", retryAfterMs: 0 });
    neighbour.line = line;
    neighbour.refusedBackoff.reset();
    neighbour.silentCount = 0;
    neighbour.silentTicks = 0;
    // This connection was dialed by the other side, so this side may redial at once when it is
    // lost.
    if (!line.isDialed) neighbour.backoff.reset();
    if (roundTripMs !== undefined) this.#events.measured(sid, roundTripMs);
    this.#beat(neighbour, line);
    this.#events.linkUp(sid, peer);
    // Unless there is a newer one already.
    if (neighbour.line === line && neighbour.last === last) this.#sendLast(neighbour);
  }

  #lost(neighbour: Neighbour, line: Line, reason: string, isReplaced = false): void {
    if (neighbour.line !== line) return;
    neighbour.line = undefined;
    if (this.#options.ensemble.directory.find(neighbour.sid) === undefined) this.#forget(neighbour);
    else this.#dialIn(neighbour, this.#isOwnTurn(neighbour) ? neighbour.backoff.nextDelayMs() : this.#othersTurnMs);
    this.#events.linkDown(neighbour.sid, reason, isReplaced);
  }

  #received(neighbour: Neighbour, line: Line | undefined, message: EnvelopeMessage): void {
    if (line === undefined || neighbour.line !== line) return;
    neighbour.silentTicks = 0;
    switch (message.kind) {
      case "notification":
      case "poll":
      case "poll-answer":
        this.#events.message(neighbour.sid, message);
        return;
      case "heartbeat":
        this.#heartbeat(neighbour, line, message);
        return;
      default:
        line.connection.destroy();
        this.#lost(neighbour, line, `it sent a ${message.kind}, which has no place in an election`);
    }
  }

  #heartbeat(
    neighbour: Neighbour,
    line: Line,
    message: Extract<EnvelopeMessage, { readonly kind: "heartbeat" }>,
  ): void {
    if (!message.isEcho) {
      if (line.connection.isChoked) return;
      line.connection.append({ ...message, isEcho: true, wallMs: this.#wallMs() });
      line.connection.flush();
      return;
    }
    if (message.sequence > neighbour.heartbeat) return;
    line.secondHosts.answered(message.sequence);
    if (message.sequence === neighbour.heartbeat) {
      neighbour.backoff.reset();
      const roundTripMs = performance.now() - neighbour.heartbeatSentMs;
      this.#events.measured(neighbour.sid, roundTripMs);
      // The other clock was read about half a round trip ago.
      if (message.wallMs > 0)
        this.#events.clockCompared(neighbour.sid, message.wallMs + roundTripMs / 2 - this.#wallMs(), roundTripMs);
    }
  }

  #beat(neighbour: Neighbour, line: Line): void {
    if (line.connection.isChoked) return;
    neighbour.heartbeat++;
    neighbour.heartbeatSentMs = performance.now();
    line.connection.append({ kind: "heartbeat", sequence: neighbour.heartbeat, isEcho: false, wallMs: 0 });
    line.connection.flush();
  }

  #drained(neighbour: Neighbour, line: Line | undefined): void {
    if (neighbour.line === line && neighbour.isLastWaiting) this.#sendLast(neighbour);
  }

  /**
   * Counts ticks instead of time: a process that was suspended has not listened, and must not give
   * up the others for that.
   */
  #ticked(): void {
    for (const neighbour of this.#neighbours.values()) {
      const { line } = neighbour;
      if (line === undefined) continue;
      if (neighbour.silentTicks >= SILENT_TICKS_MAX) {
        this.#events.wake();
        line.connection.destroy();
        this.#lost(neighbour, line, `no message for ${SILENT_TICKS_MAX} ticks`);
      } else {
        neighbour.silentTicks++;
        this.#beat(neighbour, line);
      }
    }
  }
}

function isDuplicate({ refusal }: ConnectionEnd): boolean {
  return refusal?.kind === "duplicate";
}
