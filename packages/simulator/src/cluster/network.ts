import { copyRange, type ElectionMessage, type LinkRef, type PeerMessage, type ServerId } from "@zooid/model";
import type { Prng } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";

/** A server as the network sees it. */
export interface NetworkEnd {
  readonly sid: ServerId;
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void;
  linkClosed(link: LinkRef, reason: string): void;
  received(link: LinkRef, message: PeerMessage): void;
  receivedElection(from: ServerId, message: ElectionMessage): void;
  electionLinkUp(sid: ServerId): void;
}

/** What the network's latencies are, in virtual milliseconds. */
export interface NetworkOptions {
  readonly delayMsMin: number;
  readonly delayMsMax: number;
  /** Without it, all that waits on a link arrives at once. */
  readonly isShuffled?: boolean;
}

/** One direction of a link: what was written arrives in order, or not at all. */
interface Stream {
  readonly from: ServerId;
  readonly to: ServerId;
  readonly ref: LinkRef;
  readonly queue: PeerMessage[];
  /** Nothing more is read from it. */
  isDeaf: boolean;
  /** The writer has ended it: after what is queued, the reader hears so. */
  isEnded: boolean;
  isMoving: boolean;
}

interface Link {
  readonly dialer: Stream;
  readonly acceptor: Stream;
}

const REDIAL_MS = 20;

/**
 * Links between servers: ordered, delayed, broken at any point. A direction that is blocked holds what was sent until it is open again
 * or the link is reset. Of election messages the newest counts.
 */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #random: Prng;
  readonly #ends = new Map<ServerId, NetworkEnd>();
  readonly #links = new Set<Link>();
  readonly #dials = new Map<ServerId, { readonly to: ServerId; readonly number: number }>();
  readonly #blocked = new Set<string>();
  readonly #clogs = new Map<string, number>();
  readonly #elections = new Map<string, { message: ElectionMessage; isMoving: boolean; isNew: boolean }>();
  #refs = 0;
  #dialNumber = 0;
  options: NetworkOptions;
  messageCount = 0;
  electionCount = 0;
  /** Told before something of a server reaches another one: what it wrote on a link, the link itself, or its vote. */
  arriving: ((from: ServerId, to: ServerId, what: PeerMessage["kind"] | "link" | "election") => void) | undefined;

  constructor(scheduler: Scheduler, random: Prng, options: NetworkOptions) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.options = options;
  }

  // Faults

  block(from: ServerId, to: ServerId): void {
    this.#blocked.add(`${from}>${to}`);
  }

  /** Opens a direction again: what was held moves on. */
  unblock(from: ServerId, to: ServerId): void {
    if (!this.#blocked.delete(`${from}>${to}`)) return;
    for (const { dialer, acceptor } of this.#links) {
      for (const stream of [dialer, acceptor]) if (stream.from === from && stream.to === to) this.#move(stream);
    }
    this.#electionUp(from, to);
  }

  isBlocked(from: ServerId, to: ServerId): boolean {
    return this.#blocked.has(`${from}>${to}`);
  }

  get blockedCount(): number {
    return this.#blocked.size;
  }

  /** Breaks every link between two servers: of what was not read yet a prefix arrives. */
  reset(a: ServerId, b: ServerId): void {
    for (const link of [...this.#links]) {
      const { from, to } = link.dialer;
      if ((from === a && to === b) || (from === b && to === a)) this.#break(link, "connection reset");
    }
  }

  /** One side of every link between two servers is told that it broke; the other hears nothing more and is not told. */
  halfOpen(a: ServerId, b: ServerId): void {
    for (const link of [...this.#links]) {
      const { dialer, acceptor } = link;
      if (!((dialer.from === a && dialer.to === b) || (dialer.from === b && dialer.to === a))) continue;
      const outgoing = dialer.from === a ? dialer : acceptor;
      const incoming = outgoing === dialer ? acceptor : dialer;
      if (outgoing.isDeaf || incoming.isDeaf) continue;
      outgoing.isDeaf = true;
      incoming.isDeaf = true;
      this.#scheduler.after(this.#delay(), () => this.#ends.get(a)?.linkClosed(outgoing.ref, "connection timed out"));
    }
  }

  /** A direction is slow: each message takes so much longer. */
  clog(from: ServerId, to: ServerId, byMs: number): void {
    this.#clogs.set(`${from}>${to}`, byMs);
  }

  unclog(from: ServerId, to: ServerId): void {
    this.#clogs.delete(`${from}>${to}`);
  }

  /** How many links there are; for whoever wants to break one. */
  pairs(): readonly (readonly [ServerId, ServerId])[] {
    return [...this.#links].map(({ dialer }) => [dialer.from, dialer.to] as const);
  }

  // Servers

  attach(end: NetworkEnd): void {
    this.#ends.set(end.sid, end);
    for (const other of this.#ends.keys()) {
      if (other === end.sid) continue;
      this.#electionUp(end.sid, other);
      this.#electionUp(other, end.sid);
    }
  }

  /** The process died: its links break at the other ends. */
  detach(sid: ServerId): void {
    this.#ends.delete(sid);
    this.#dials.delete(sid);
    for (const link of [...this.#links]) {
      if (link.dialer.from === sid || link.dialer.to === sid) this.#break(link, "connection reset", sid);
    }
    for (const key of [...this.#elections.keys()]) if (key.startsWith(`${sid}>`)) this.#elections.delete(key);
  }

  dial(from: ServerId, to: ServerId): void {
    const number = ++this.#dialNumber;
    this.#dials.set(from, { to, number });
    this.#tryDial(from, to, number);
  }

  cancelDial(from: ServerId): void {
    this.#dials.delete(from);
  }

  send(sid: ServerId, ref: LinkRef, message: PeerMessage): void {
    const stream = this.#outgoing(sid, ref);
    if (stream === undefined || stream.isEnded) return;
    this.messageCount++;
    stream.queue.push(ownCopy(message));
    this.#move(stream);
  }

  close(sid: ServerId, ref: LinkRef): void {
    for (const link of this.#links) {
      const outgoing = this.#outgoingOf(link, sid, ref);
      if (outgoing === undefined) continue;
      outgoing.isEnded = true;
      const incoming = outgoing === link.dialer ? link.acceptor : link.dialer;
      incoming.isDeaf = true;
      this.#move(outgoing);
      return;
    }
  }

  elect(from: ServerId, to: ServerId, message: ElectionMessage): void {
    this.electionCount++;
    const key = `${from}>${to}`;
    const slot = this.#elections.get(key);
    if (slot === undefined) this.#elections.set(key, { message, isMoving: false, isNew: true });
    else {
      slot.message = message;
      slot.isNew = true;
    }
    this.#moveElection(from, to);
  }

  #tryDial(from: ServerId, to: ServerId, number: number): void {
    this.#scheduler.after(this.#delay() * 2, () => {
      if (this.#dials.get(from)?.number !== number) return;
      const dialer = this.#ends.get(from);
      const acceptor = this.#ends.get(to);
      if (dialer === undefined) return;
      if (acceptor === undefined || this.isBlocked(from, to) || this.isBlocked(to, from)) {
        this.#scheduler.after(REDIAL_MS, () => this.#tryDial(from, to, number));
        return;
      }
      this.#dials.delete(from);
      const link: Link = {
        dialer: newStream(from, to, ++this.#refs as LinkRef),
        acceptor: newStream(to, from, ++this.#refs as LinkRef),
      };
      this.#links.add(link);
      this.arriving?.(from, to, "link");
      this.arriving?.(to, from, "link");
      acceptor.linkOpened(link.acceptor.ref, from, false);
      dialer.linkOpened(link.dialer.ref, to, true);
    });
  }

  #move(stream: Stream): void {
    if (stream.isMoving || this.isBlocked(stream.from, stream.to)) return;
    if (stream.queue.length === 0 && !stream.isEnded) return;
    stream.isMoving = true;
    this.#scheduler.after(this.#delay(stream.from, stream.to), () => {
      stream.isMoving = false;
      const link = this.#linkOf(stream);
      if (link === undefined || this.isBlocked(stream.from, stream.to)) return;
      // What was written together mostly arrives together.
      let count = this.options.isShuffled === false ? stream.queue.length : 1 + this.#random.below(8);
      for (; count > 0 && stream.queue.length > 0; count--) this.#arrive(link, stream);
      if (stream.queue.length > 0) this.#move(stream);
      else if (stream.isEnded && this.#links.delete(link)) this.#hangUp(link, stream, "closed by the other side");
    });
  }

  #arrive(link: Link, stream: Stream): void {
    const message = stream.queue.shift();
    const reader = this.#ends.get(stream.to);
    if (message === undefined || reader === undefined || stream.isDeaf || !this.#links.has(link)) return;
    this.arriving?.(stream.from, stream.to, message.kind);
    reader.received(this.#refAt(link, stream.to, stream), message);
  }

  #hangUp(link: Link, stream: Stream, reason: string): void {
    if (stream.isDeaf) return;
    this.arriving?.(stream.from, stream.to, "link");
    this.#ends.get(stream.to)?.linkClosed(this.#refAt(link, stream.to, stream), reason);
  }

  #break(link: Link, reason: string, dead?: ServerId): void {
    if (!this.#links.has(link)) return;
    for (const stream of [link.dialer, link.acceptor]) {
      if (stream.to === dead) continue;
      // A prefix of what is on its way still arrives, if the way is open.
      const count = this.isBlocked(stream.from, stream.to) ? 0 : this.#random.below(stream.queue.length + 1);
      const rest = stream.queue.splice(0, count);
      stream.queue.length = 0;
      const isDeaf = stream.isDeaf;
      this.#scheduler.after(this.#delay(), () => {
        const reader = this.#ends.get(stream.to);
        if (reader === undefined || isDeaf || stream.isDeaf) return;
        const ref = this.#refAt(link, stream.to, stream);
        for (const message of rest) if (!stream.isDeaf) reader.received(ref, message);
        if (!stream.isDeaf) reader.linkClosed(ref, reason);
      });
    }
    this.#links.delete(link);
  }

  /** The number that the reader of a stream knows the link by: that of its own outgoing stream. */
  #refAt(link: Link, _: ServerId, stream: Stream): LinkRef {
    return stream === link.dialer ? link.acceptor.ref : link.dialer.ref;
  }

  #outgoing(sid: ServerId, ref: LinkRef): Stream | undefined {
    for (const link of this.#links) {
      const stream = this.#outgoingOf(link, sid, ref);
      if (stream !== undefined) return stream;
    }
    return undefined;
  }

  #outgoingOf({ dialer, acceptor }: Link, sid: ServerId, ref: LinkRef): Stream | undefined {
    if (dialer.from === sid && dialer.ref === ref) return dialer;
    return acceptor.from === sid && acceptor.ref === ref ? acceptor : undefined;
  }

  #linkOf(stream: Stream): Link | undefined {
    for (const link of this.#links) if (link.dialer === stream || link.acceptor === stream) return link;
    return undefined;
  }

  #electionUp(from: ServerId, to: ServerId): void {
    if (!this.#ends.has(from) || !this.#ends.has(to) || this.isBlocked(from, to) || this.isBlocked(to, from)) return;
    this.#scheduler.after(this.#delay(), () => {
      if (this.isBlocked(from, to)) return;
      this.arriving?.(from, to, "election");
      this.#ends.get(to)?.electionLinkUp(from);
      const slot = this.#elections.get(`${from}>${to}`);
      if (slot !== undefined) slot.isNew = true;
      this.#moveElection(from, to);
    });
  }

  #moveElection(from: ServerId, to: ServerId): void {
    const slot = this.#elections.get(`${from}>${to}`);
    if (slot === undefined || slot.isMoving || !slot.isNew || this.isBlocked(from, to)) return;
    slot.isMoving = true;
    this.#scheduler.after(this.#delay(from, to), () => {
      slot.isMoving = false;
      const end = this.#ends.get(to);
      if (end === undefined || this.isBlocked(from, to) || !slot.isNew) return;
      slot.isNew = false;
      this.arriving?.(from, to, "election");
      end.receivedElection(from, slot.message);
      this.#moveElection(from, to);
    });
  }

  #delay(from?: ServerId, to?: ServerId): number {
    const { delayMsMin, delayMsMax } = this.options;
    const clogMs = this.#clogs.size === 0 ? 0 : (this.#clogs.get(`${from}>${to}`) ?? 0);
    return clogMs + delayMsMin + (this.#random.next() / 2 ** 32) * (delayMsMax - delayMsMin);
  }
}

function newStream(from: ServerId, to: ServerId, ref: LinkRef): Stream {
  return { from, to, ref, queue: [], isDeaf: false, isEnded: false, isMoving: false };
}

/** What was sent is not changed by what the sender does to its buffers afterwards. */
function ownCopy(message: PeerMessage): PeerMessage {
  switch (message.kind) {
    case "entries":
    case "forward":
    case "snapshot-chunk": {
      const bytes = copyRange(message.bytes, message.start, message.end);
      return { ...message, bytes, start: 0, end: bytes.length };
    }
    default:
      return message;
  }
}
