import { crc32 } from "node:zlib";
import type { EntriesMessage, LinkRef, PeerMessage, RefuseReason, ServerId } from "@zooid/model";
import { Backoff, hostPort, reachLimitMs } from "@zooid/model";
import {
  EntryFrames,
  type EnvelopeMessage,
  type RelayBytes,
  type RelayClose,
  type RelayMessage,
  type RelayOpen,
} from "@zooid/peer-protocol";
import { BufferPool, WireError } from "@zooid/wire";
import type { LinkEnd, PeerRefusal, SaidDisk, ZabLinks } from "@zooid/zab";
import type { MovablePort } from "../listening/port-moves.ts";
import { sentenceOf } from "../operators/operator-sentences.ts";
import type { ServerLog } from "../server-api.ts";
import type { HandshakeFault, PeerIdentity } from "./handshake.ts";
import { ObserverMaster } from "./observer-master.ts";
import {
  type ConnectionEnd,
  type ConnectionHandler,
  type PeerConnection,
  type ProtectedLink,
  RENEWED,
} from "./peer-connection.ts";
import { type AcceptedHandler, HANDSHAKE_TIMEOUT_MS, type PeerLinkOptions, PeerPort } from "./peer-port.ts";
import { RelaySocket } from "./relay-socket.ts";
import { RelayedDial } from "./relayed-dial.ts";
import { SentRuns } from "./relayed-runs.ts";

/**
 * Events of links. None is emitted from within a call of {@link QuorumLinks}, and none after
 * `stop`.
 */
export interface QuorumLinkEvents {
  /** Precedes all other events of a turn, so that the turn is open. */
  wake(): void;
  /** The other side is known, and authenticated where there are secrets. */
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean, said: SaidDisk): void;
  /** No leader was reached in time. */
  dialFailed(reason: string): void;
  /** The message's bytes are valid during the call, except for entries, which may be kept. */
  received(link: LinkRef, message: PeerMessage): void;
  /** The link ended, and this side did not close it. */
  linkClosed(link: LinkRef, reason: string): void;
}

export interface QuorumLinkOptions extends PeerLinkOptions {
  /** Unsent bytes of a slow link before it is closed. Default 64 MiB. */
  readonly bufferedBytesMax?: number;
  /** Reports links that are closed for that. */
  readonly warn: ServerLog["warn"];
  /**
   * Why an authenticated server is refused besides, as in {@link ElectionMesh.refusalOf}. Default:
   * it is not.
   */
  readonly refusalOf?: (peer: PeerIdentity) => HandshakeFault | undefined;
}

const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;
const REDIAL_MS_LEAST = 5;
const REDIAL_MS_MOST = 200;
/** Redial delay after a first and after many refusals. */
const REDIAL_REFUSED_MS = 1000;
const REDIAL_REFUSED_MS_MOST = 15_000;
const REFUSAL_CHARS_MAX = 300;
/** A timer for longer than this would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Limit of observers of one link: they can come and go faster than their ends are reported. */
const RELAY_COUNT_PER_SERVER_MAX = 2;

interface Link {
  readonly ref: LinkRef;
  readonly sid: ServerId;
  readonly isDialed: boolean;
  readonly connection: PeerConnection;
  /**
   * The follower's link that relays an observer, or the follower through which this observer
   * reaches its leader.
   */
  readonly way: Way | undefined;
  isDirty: boolean;
  /** For a follower's link: the observers that it relays. */
  readonly relays: Map<number, RelaySocket>;
  /** The newest entries that it was sent since it relays observers. */
  sentRuns: SentRuns;
}

interface Way {
  readonly link: Link | undefined;
  readonly channel: number;
}

interface Dial {
  readonly to: ServerId;
  /** The followers to try, one after the other, and undefined for the leader's own port at last. */
  readonly ways: readonly (ServerId | undefined)[];
  attempts: number;
  /** Consecutive attempts without any answer of an address. */
  silentCount: number;
  readonly backoff: Backoff;
  readonly refusedBackoff: Backoff;
  readonly deadline: NodeJS.Timeout;
  attempt: { destroy(): void } | undefined;
  timer: NodeJS.Timeout | undefined;
  lastReason: string;
  hasFailed: boolean;
}

/**
 * Links between leaders and learners. A learner dials the leader that it wants to follow; every
 * server always listens, since it may be elected. Messages are queued until `flush`, which writes
 * to each link once.
 */
export class QuorumLinks implements ZabLinks {
  readonly #options: QuorumLinkOptions;
  readonly #events: QuorumLinkEvents;
  readonly #port: PeerPort;
  readonly #links = new Map<LinkRef, Link>();
  readonly #dirty: Link[] = [];
  readonly #entryFrames: EntryFrames;
  /** The port for observers at a voter that follows. */
  readonly #master: ObserverMaster | undefined;
  /** The port from which an observer dials such a voter. */
  readonly #toMasters: PeerPort | undefined;
  /** How many relayed links have ended: the next one uses another follower. */
  #lostWays = 0;
  #dial: Dial | undefined;
  #lastDialFault: string | undefined;
  #lastRef = 0;
  #isStopped = false;

  constructor(options: QuorumLinkOptions, events: QuorumLinkEvents) {
    this.#options = options;
    this.#events = events;
    const pool = new BufferPool();
    this.#entryFrames = new EntryFrames({ pool, crc32, frameBytesMax: options.frameBytesMax });
    this.#port = new PeerPort(
      "quorum",
      { ...options, pool },
      {
        accepted: () => this.#acceptedHandler(),
        admit: (peer, { isDialed, isCertain }) => (isDialed || !isCertain ? undefined : options.refusalOf?.(peer)),
      },
    );
    const { observerMasterPort, isObserver } = options.ensemble;
    if (observerMasterPort === undefined) return;
    if (isObserver) this.#toMasters = new PeerPort("observer", { ...options, pool }, NOBODY_COMES);
    else {
      this.#master = new ObserverMaster({
        ...options,
        pool,
        wake: () => this.#events.wake(),
        bufferedBytesMax: this.#bufferedBytesMax,
      });
    }
  }

  /** Resolves once learners can connect. Throws PeerPortError if the port cannot be bound. */
  async listen(): Promise<void> {
    await this.#port.listen();
    await this.#master?.listen();
  }

  /** Also those of observers that this server relays. */
  get protectedLinks(): readonly ProtectedLink[] {
    const own = Array.from(this.#links.values(), (link): ProtectedLink => {
      const { sid, isDialed, connection } = link;
      const renew = (): void => {
        if (!this.#links.has(link.ref)) return;
        this.#events.wake();
        this.#lost(link, RENEWED);
      };
      return { sid, isDialed, ...connection.protection, renew };
    });
    return [...own, ...(this.#master?.protectedLinks ?? [])];
  }

  get movablePorts(): readonly MovablePort[] {
    return [this.#port.movable, ...(this.#master === undefined ? [] : [this.#master.movable])];
  }

  membersChanged(): void {
    this.#port.membersChanged();
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return this.#port.port;
  }

  /** Why the port is not bound yet; undefined if there is no reason. */
  get waitsFor(): string | undefined {
    return this.#port.waitsFor;
  }

  /** The bound port for observers, if this server has one. */
  get observerMasterPort(): number | undefined {
    return this.#master?.port;
  }

  /** The observers that reach their leader through this server. */
  relayedObservers(): readonly ServerId[] {
    return this.#master?.observers() ?? [];
  }

  dial(to: ServerId): void {
    this.cancelDial();
    const { ensemble, tickMs, random = Math.random } = this.#options;
    const dial: Dial = {
      to,
      ways: [...this.#mastersBut(to), undefined],
      attempts: 0,
      silentCount: 0,
      backoff: new Backoff({ leastMs: REDIAL_MS_LEAST, mostMs: REDIAL_MS_MOST, jitter: 0.5, random }),
      refusedBackoff: new Backoff({
        leastMs: REDIAL_REFUSED_MS,
        mostMs: REDIAL_REFUSED_MS_MOST,
        jitter: 0,
        random,
      }),
      deadline: setTimeout(() => this.#dialFailed(dial), Math.min(ensemble.initLimit * tickMs, TIMER_MS_MAX)),
      attempt: undefined,
      timer: undefined,
      lastReason: "it took too long",
      hasFailed: false,
    };
    this.#dial = dial;
    const isListed = ensemble.directory.find(to) !== undefined;
    dial.timer = setTimeout(
      () => (isListed ? this.#attempt(dial) : this.#answerNo(dial, `server ${to} is not listed`)),
      0,
    );
  }

  /** Why the leader that is dialed was not reached so far; undefined if there is no reason yet. */
  get dialFault(): string | undefined {
    return this.#dial?.hasFailed === true ? this.#unreachable(this.#dial) : undefined;
  }

  /** Why the leader that was dialed last was not reached; undefined once one is. */
  get lastDialFault(): string | undefined {
    return this.dialFault ?? this.#lastDialFault;
  }

  cancelDial(): void {
    const dial = this.#dial;
    if (dial === undefined) return;
    this.#lastDialFault = this.dialFault;
    this.#dial = undefined;
    clearTimeout(dial.deadline);
    clearTimeout(dial.timer);
    dial.attempt?.destroy();
  }

  send(link: LinkRef, message: PeerMessage): void {
    const target = this.#links.get(link);
    // The link may have closed a moment ago: the sender is about to receive `linkClosed`.
    if (target === undefined) return;
    // The follower leaves at this message, and with it the way to its observers.
    if (message.kind === "leadership-transfer") this.#flushRelayed(target);
    this.#sendOn(target, message);
  }

  #sendOn(target: Link, message: PeerMessage | RelayMessage): void {
    if (message.kind === "entries" && this.#sentByFollower(target, message)) return;
    try {
      this.#append(target, message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#giveUp(target, error.message);
      return;
    }
    const waiting = target.connection.bufferedBytes;
    if (waiting > this.#bufferedBytesMax) {
      this.#giveUp(target, `${waiting} bytes wait for it and it does not take them`);
    } else if (!target.isDirty) {
      target.isDirty = true;
      this.#dirty.push(target);
    }
  }

  #append({ connection, relays, sentRuns }: Link, message: PeerMessage | RelayMessage): void {
    if (message.kind === "entries") {
      if (relays.size > 0) sentRuns.sent(message);
      if (connection.appendShared(this.#entryFrames.of(message))) return;
    }
    connection.append(message);
  }

  /**
   * Entries that an observer's follower holds are only referenced, in their order among the
   * observer's other messages.
   */
  #sentByFollower({ connection, way }: Link, { kind: _, bytes, start, end, ...header }: EntriesMessage): boolean {
    if (way?.link === undefined || !way.link.sentRuns.covers(header)) return false;
    if (connection.hasGathered) connection.flush();
    this.#sendOn(way.link, { kind: "relay-run", channel: way.channel, ...header });
    return true;
  }

  get #bufferedBytesMax(): number {
    return this.#options.bufferedBytesMax ?? BUFFERED_BYTES_MAX;
  }

  refuse(link: LinkRef, reason: RefuseReason, refusal: PeerRefusal): void {
    this.send(link, { kind: "refuse", reason, text: sentenceOf(refusal) });
  }

  close(link: LinkRef, reason: LinkEnd): void {
    const target = this.#links.get(link);
    if (target === undefined) return;
    this.#remove(target, sentenceOf(reason));
    target.connection.close();
  }

  /** Bytes for a follower's observers leave by its link. */
  #flushRelayed(by: Link): void {
    if (by.relays.size === 0) return;
    for (const { way, connection } of this.#links.values()) if (way?.link === by) connection.flush();
  }

  /** Writes the messages queued since the last call, to each link once. */
  flush(): void {
    this.#master?.flush();
    // Relayed messages first, so that they leave together with the follower's own.
    for (const link of this.#dirty) if (link.way !== undefined && this.#links.has(link.ref)) link.connection.flush();
    for (const link of this.#dirty) {
      link.isDirty = false;
      if (link.way === undefined && this.#links.has(link.ref)) link.connection.flush();
    }
    this.#dirty.length = 0;
    this.#entryFrames.clear();
  }

  /** Closes everything, after its pending messages. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.cancelDial();
    // Relayed messages leave with the follower's link.
    this.flush();
    this.#links.clear();
    this.#dirty.length = 0;
    await Promise.all([this.#port.stop(), this.#master?.stop(), this.#toMasters?.stop()]);
  }

  /** The voters that may relay, in an order that differs between observers. */
  #mastersBut(leader: ServerId): readonly ServerId[] {
    if (this.#toMasters === undefined) return [];
    const { directory, sid: own } = this.#options.ensemble;
    const { servers } = directory;
    const masters = servers.filter(({ sid, isObserver }) => !isObserver && sid !== leader).map(({ sid }) => sid);
    const first = (own + this.#lostWays) % Math.max(masters.length, 1);
    return [...masters.slice(first), ...masters.slice(0, first)];
  }

  #attempt(dial: Dial): void {
    let link: Link | undefined;
    const by = dial.ways[dial.attempts++ % dial.ways.length];
    const limits = { reachMs: reachLimitMs(dial.silentCount) };
    const opened = (connection: PeerConnection, peer: PeerIdentity): void => {
      if (this.#dial !== dial) return;
      this.#dial = undefined;
      this.#lastDialFault = undefined;
      clearTimeout(dial.deadline);
      link = this.#add(connection, peer, { isDialed: true, way: by === undefined ? undefined : BY_FOLLOWER });
      this.#master?.follow({ leader: link.sid, send: (message) => this.#sendUp(link, message) });
      this.#events.linkOpened(link.ref, link.sid, true, peer);
    };
    const handler: Omit<ConnectionHandler, "opened"> = {
      wake: () => this.#events.wake(),
      message: (message) => this.#received(link, message),
      drained: () => {},
      ended: (end) => {
        if (link !== undefined) this.#lost(link, end.reason);
        else if (this.#dial === dial) this.#attemptFailed(dial, end);
      },
    };
    if (by === undefined || this.#toMasters === undefined) {
      const direct: ConnectionHandler = { ...handler, opened: (peer) => opened(attempt, peer) };
      const attempt = this.#port.dial(dial.to, direct, limits);
      dial.attempt = attempt;
    } else {
      const ports = { observer: this.#toMasters, quorum: this.#port };
      const entries = (message: EntriesMessage): void => {
        if (link !== undefined && this.#links.has(link.ref)) this.#events.received(link.ref, message);
      };
      const answerTimeoutMs = this.#options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS;
      const way = { leader: dial.to, by, limits, answerTimeoutMs };
      dial.attempt = new RelayedDial(ports, way, { ...handler, opened, entries });
    }
  }

  #sendUp(link: Link | undefined, message: RelayMessage): void {
    if (link !== undefined && this.#links.has(link.ref)) this.#sendOn(link, message);
  }

  #attemptFailed(dial: Dial, { reason, refusal, isSilent, retryAfterMs }: ConnectionEnd): void {
    dial.lastReason = reason;
    dial.hasFailed = true;
    dial.silentCount = isSilent ? dial.silentCount + 1 : 0;
    const waitMs = refusal === undefined ? dial.backoff.nextDelayMs() : dial.refusedBackoff.nextDelayMs();
    dial.timer = setTimeout(() => this.#attempt(dial), Math.max(waitMs, retryAfterMs));
  }

  #dialFailed(dial: Dial): void {
    this.#answerNo(dial, this.#unreachable(dial));
  }

  #unreachable(dial: Dial): string {
    const address = this.#options.ensemble.directory.addressOf(dial.to);
    const place = address === undefined ? "" : ` at ${hostPort(address.host, address.quorumPort)}`;
    return `server ${dial.to} cannot be reached${place}: ${dial.lastReason}`;
  }

  #answerNo(dial: Dial, reason: string): void {
    if (this.#dial !== dial) return;
    this.cancelDial();
    this.#events.wake();
    this.#events.dialFailed(reason);
  }

  #acceptedHandler(way?: Way): AcceptedHandler {
    let link: Link | undefined;
    return {
      wake: () => this.#events.wake(),
      opened: (connection, peer) => {
        // A learner has one link to its leader: the previous one is dead or abandoned.
        for (const old of this.#links.values()) {
          if (old.sid === peer.sid && !old.isDialed) this.#lost(old, "a newer link of the same server replaced it");
        }
        link = this.#add(connection, peer, { isDialed: false, way });
        this.#events.linkOpened(link.ref, link.sid, false, peer);
      },
      message: (message) => this.#received(link, message),
      drained: () => {},
      ended: (end) => {
        if (link !== undefined) this.#lost(link, end.reason);
      },
    };
  }

  #add(connection: PeerConnection, { sid }: PeerIdentity, { isDialed, way }: Pick<Link, "isDialed" | "way">): Link {
    this.#lastRef++;
    const link: Link = {
      ref: this.#lastRef as LinkRef,
      sid,
      isDialed,
      connection,
      way,
      isDirty: false,
      relays: new Map(),
      sentRuns: new SentRuns(),
    };
    this.#links.set(link.ref, link);
    return link;
  }

  #received(link: Link | undefined, message: EnvelopeMessage): void {
    if (link === undefined) return;
    switch (message.kind) {
      case "link-refuse":
        this.#lost(link, `refused by the other side: ${message.text.slice(0, REFUSAL_CHARS_MAX)}`);
        return;
      case "hello":
      case "auth-proof":
      case "heartbeat":
      case "notification":
      case "poll":
      case "poll-answer":
      case "relay-to":
      case "relay-ready":
        this.#lost(link, `${message.kind} does not belong on a link between leader and learner`);
        return;
      case "relay-open":
        this.#relayOpened(link, message);
        return;
      case "relay-run":
      case "relay-bytes":
      case "relay-close":
        if (!link.isDialed && message.kind !== "relay-run") relayed(link, message);
        else if (link.isDialed && link.way === undefined) this.#master?.relayed(message);
        else this.#lost(link, `${message.kind} came from a server that relays no observers`);
        return;
      default:
        if (link.isDialed) this.#master?.received(message);
        this.#events.received(link.ref, message);
    }
  }

  /** An observer connects through a follower's link. */
  #relayOpened(by: Link, { channel, sid }: RelayOpen): void {
    const { directory } = this.#options.ensemble;
    const { servers } = directory;
    const isVoter = directory.find(by.sid)?.isObserver === false;
    const countMax = RELAY_COUNT_PER_SERVER_MAX * servers.length;
    if (by.isDialed || by.way !== undefined || !isVoter || by.relays.has(channel) || by.relays.size >= countMax) {
      this.#lost(by, `it relays server ${sid} out of turn`);
      return;
    }
    const isHere = (): boolean => this.#links.has(by.ref);
    const socket = new RelaySocket({
      send: (bytes) => {
        if (isHere()) this.#sendOn(by, { kind: "relay-bytes", channel, bytes, start: 0, end: bytes.length });
      },
      flush: () => {
        if (isHere()) by.connection.flush();
      },
      waitingBytes: () => by.connection.bufferedBytes,
      close: () => {
        by.relays.delete(channel);
        if (!isHere()) return;
        this.#sendOn(by, { kind: "relay-close", channel, text: "the leader closed it" });
        by.connection.flush();
      },
    });
    if (by.relays.size === 0) by.sentRuns = new SentRuns();
    by.relays.set(channel, socket);
    this.#port.acceptThrough(socket, sid, by.sid, this.#acceptedHandler({ link: by, channel }));
  }

  /** Closes an existing link, from within an event. */
  #lost(link: Link, reason: string): void {
    if (!this.#remove(link, reason)) return;
    link.connection.destroy();
    this.#events.linkClosed(link.ref, reason);
  }

  /** The relayed links end with it. */
  #remove(link: Link, reason: string): boolean {
    if (!this.#links.delete(link.ref)) return false;
    for (const socket of link.relays.values()) socket.lost(`by way of server ${link.sid}: ${reason}`);
    link.relays.clear();
    if (link.isDialed) this.#master?.follow(undefined);
    if (link.way === BY_FOLLOWER) this.#lostWays++;
    return true;
  }

  /** Closes a link from within a call: its end is reported later. */
  #giveUp(link: Link, reason: string): void {
    this.#remove(link, reason);
    link.connection.destroy();
    this.#options.warn(`closed the link with server ${link.sid}: ${reason}`, { event: "link-closed", peer: link.sid });
    setImmediate(() => {
      if (this.#isStopped) return;
      this.#events.wake();
      this.#events.linkClosed(link.ref, reason);
    });
  }
}

/** At an observer: its link with the leader is relayed by a follower. */
const BY_FOLLOWER: Way = { link: undefined, channel: 0 };

/** A port that only dials. */
const NOBODY_COMES = {
  accepted: (): AcceptedHandler => {
    throw new Error("this port does not listen");
  },
  admit: (): undefined => undefined,
};

function relayed({ relays }: Link, message: RelayBytes | RelayClose): void {
  const socket = relays.get(message.channel);
  // It was closed here a moment ago.
  if (socket === undefined) return;
  if (message.kind === "relay-bytes") socket.arrived(message.bytes.subarray(message.start, message.end));
  else {
    relays.delete(message.channel);
    socket.lost(message.text);
  }
}
