import { crc32 } from "node:zlib";
import type { LinkRef, PeerMessage, ServerId } from "@zooid/model";
import { BufferPool, EntryFrames, type EnvelopeMessage, WireError } from "@zooid/wire/peer";
import type { ZabLinks } from "@zooid/zab";
import { Backoff } from "./backoff.ts";
import type { HandshakeFault, PeerIdentity } from "./handshake.ts";
import type { ConnectionEnd, PeerConnection } from "./peer-connection.ts";
import { type AcceptedHandler, type PeerLinkOptions, PeerPort } from "./peer-port.ts";

/** What becomes of links. None of these is called from within a call of {@link QuorumLinks}, and none after `stop`. */
export interface QuorumLinkEvents {
  /** Comes before any of the others, so that the turn has its time and its end. */
  wake(): void;
  /** The other side is known, and is who it says where there are secrets. */
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void;
  /** Nobody who leads was reached in time. */
  dialFailed(reason: string): void;
  /** What the message points to is valid during the call, except for entries, which may be kept. */
  received(link: LinkRef, message: PeerMessage): void;
  /** The link ended, and not because this side closed it. */
  linkClosed(link: LinkRef, reason: string): void;
}

export interface QuorumLinkOptions extends PeerLinkOptions {
  /** Bytes that wait for a link that does not take them before it is closed. Default 64 MiB. */
  readonly bufferedBytesMax?: number;
  /** Told of links that are closed for that. */
  readonly warn: (text: string) => void;
}

const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;
const REDIAL_MS_LEAST = 5;
const REDIAL_MS_MOST = 200;
/** Who was told no asks less often. */
const REDIAL_REFUSED_MS = 1000;
const REFUSAL_CHARS_MAX = 300;
/** A timer for longer than this would ring at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

interface Link {
  readonly ref: LinkRef;
  readonly sid: ServerId;
  readonly bootCount: number;
  readonly isDialed: boolean;
  readonly connection: PeerConnection;
  isDirty: boolean;
}

interface Dial {
  readonly to: ServerId;
  readonly backoff: Backoff;
  readonly deadline: NodeJS.Timeout;
  attempt: PeerConnection | undefined;
  timer: NodeJS.Timeout | undefined;
  lastReason: string;
}

/**
 * Links between leaders and learners. A learner dials whom it wants to follow; every server listens all the time, since it may be the
 * one that others elected. What is sent gathers until `flush`, which writes to each link once.
 */
export class QuorumLinks implements ZabLinks {
  readonly #options: QuorumLinkOptions;
  readonly #events: QuorumLinkEvents;
  readonly #port: PeerPort;
  readonly #links = new Map<LinkRef, Link>();
  readonly #dirty: Link[] = [];
  readonly #entryFrames: EntryFrames;
  #dial: Dial | undefined;
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
        admit: (peer, isDialed) => (isDialed ? undefined : this.#admit(peer)),
      },
    );
  }

  /** Resolves once learners can connect. Throws PeerPortError for a port that cannot be had. */
  listen(): Promise<void> {
    return this.#port.listen();
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return this.#port.port;
  }

  dial(to: ServerId): void {
    this.cancelDial();
    const { ensemble, tickMs, random } = this.#options;
    const dial: Dial = {
      to,
      backoff: new Backoff(REDIAL_MS_LEAST, REDIAL_MS_MOST, random),
      deadline: setTimeout(() => this.#dialFailed(dial), Math.min(ensemble.initLimit * tickMs, TIMER_MS_MAX)),
      ...{ attempt: undefined, timer: undefined, lastReason: "it took too long" },
    };
    this.#dial = dial;
    const isListed = ensemble.servers.some(({ sid }) => sid === to);
    dial.timer = setTimeout(
      () => (isListed ? this.#attempt(dial) : this.#answerNo(dial, `server ${to} is not listed`)),
      0,
    );
  }

  cancelDial(): void {
    const dial = this.#dial;
    if (dial === undefined) return;
    this.#dial = undefined;
    clearTimeout(dial.deadline);
    clearTimeout(dial.timer);
    dial.attempt?.destroy();
  }

  send(link: LinkRef, message: PeerMessage): void {
    const target = this.#links.get(link);
    // It may have closed a moment ago: who sends is told of it soon.
    if (target === undefined) return;
    try {
      this.#append(target.connection, message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#giveUp(target, error.message);
      return;
    }
    const waiting = target.connection.bufferedBytes;
    if (waiting > (this.#options.bufferedBytesMax ?? BUFFERED_BYTES_MAX)) {
      this.#giveUp(target, `${waiting} bytes wait for it and it does not take them`);
    } else if (!target.isDirty) {
      target.isDirty = true;
      this.#dirty.push(target);
    }
  }

  #append(connection: PeerConnection, message: PeerMessage): void {
    if (message.kind === "entries" && connection.appendShared(this.#entryFrames.of(message))) return;
    connection.append(message);
  }

  close(link: LinkRef, _reason: string): void {
    const target = this.#links.get(link);
    this.#links.delete(link);
    target?.connection.close();
  }

  /** Writes what was sent since the last time, to each link once. */
  flush(): void {
    for (const link of this.#dirty) {
      link.isDirty = false;
      if (this.#links.has(link.ref)) link.connection.flush();
    }
    this.#dirty.length = 0;
    this.#entryFrames.clear();
  }

  /** Closes everything, behind what was sent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.cancelDial();
    this.#links.clear();
    this.#dirty.length = 0;
    await this.#port.stop();
  }

  #attempt(dial: Dial): void {
    let link: Link | undefined;
    const attempt = this.#port.dial(dial.to, {
      wake: () => this.#events.wake(),
      opened: (peer) => {
        if (this.#dial !== dial) return;
        this.#dial = undefined;
        clearTimeout(dial.deadline);
        link = this.#add(attempt, peer, true);
        this.#events.linkOpened(link.ref, link.sid, true);
      },
      message: (message) => this.#received(link, message),
      drained: () => {},
      ended: (end) => {
        if (link !== undefined) this.#lost(link, end.reason);
        else if (this.#dial === dial) this.#attemptFailed(dial, end);
      },
    });
    dial.attempt = attempt;
  }

  #attemptFailed(dial: Dial, { reason, refusal, retryAfterMs }: ConnectionEnd): void {
    dial.lastReason = reason;
    const waitMs = dial.backoff.next();
    const least = refusal === undefined ? 0 : Math.max(REDIAL_REFUSED_MS, retryAfterMs);
    dial.timer = setTimeout(() => this.#attempt(dial), Math.max(waitMs, least));
  }

  #dialFailed(dial: Dial): void {
    const { host, quorumPort } = this.#options.ensemble.addressOf(dial.to);
    this.#answerNo(dial, `server ${dial.to} cannot be reached at ${host}:${quorumPort}: ${dial.lastReason}`);
  }

  #answerNo(dial: Dial, reason: string): void {
    if (this.#dial !== dial) return;
    this.cancelDial();
    this.#events.wake();
    this.#events.dialFailed(reason);
  }

  /** A life of a server that is over must not push out the one that is. */
  #admit({ sid, bootCount }: PeerIdentity): HandshakeFault | undefined {
    for (const link of this.#links.values()) {
      if (link.sid === sid && link.bootCount > bootCount) {
        const text = `a later start of server ${sid} is connected (${link.bootCount}, this one is ${bootCount})`;
        return { reason: "duplicate", text };
      }
    }
    return undefined;
  }

  #acceptedHandler(): AcceptedHandler {
    let link: Link | undefined;
    return {
      wake: () => this.#events.wake(),
      opened: (connection, peer) => {
        // A learner has one link to its leader: the one before this is dead or forgotten.
        for (const old of this.#links.values()) {
          if (old.sid === peer.sid && !old.isDialed) this.#lost(old, "a newer link of the same server replaced it");
        }
        link = this.#add(connection, peer, false);
        this.#events.linkOpened(link.ref, link.sid, false);
      },
      message: (message) => this.#received(link, message),
      drained: () => {},
      ended: (end) => {
        if (link !== undefined) this.#lost(link, end.reason);
      },
    };
  }

  #add(connection: PeerConnection, { sid, bootCount }: PeerIdentity, isDialed: boolean): Link {
    this.#lastRef++;
    const link: Link = { ref: this.#lastRef as LinkRef, sid, bootCount, isDialed, connection, isDirty: false };
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
        this.#lost(link, `${message.kind} does not belong on a link between leader and learner`);
        return;
      default:
        this.#events.received(link.ref, message);
    }
  }

  /** Ends a link that is there, from within an event. */
  #lost(link: Link, reason: string): void {
    if (!this.#links.delete(link.ref)) return;
    link.connection.destroy();
    this.#events.linkClosed(link.ref, reason);
  }

  /** Ends a link from within a call: it is told of afterwards. */
  #giveUp(link: Link, reason: string): void {
    this.#links.delete(link.ref);
    link.connection.destroy();
    this.#options.warn(`closed the link with server ${link.sid}: ${reason}`);
    setImmediate(() => {
      if (this.#isStopped) return;
      this.#events.wake();
      this.#events.linkClosed(link.ref, reason);
    });
  }
}
