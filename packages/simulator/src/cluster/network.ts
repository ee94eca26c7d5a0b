import type { ElectionMessage, LinkRef, PeerMessage, ServerId } from "@zooid/model";
import type { SaidDisk } from "@zooid/zab";
import { ElectionMail } from "./election-mail.ts";
import { isBetween, type Link, newLink, outgoingOf, ownCopy, readerRef, type Stream } from "./link.ts";
import { isRefused, type NetworkEnd, saidBy } from "./network-end.ts";
import type { Prng } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";

/** The latency of every message, in virtual milliseconds. */
export interface NetworkOptions {
  readonly delayMsMin: number;
  readonly delayMsMax: number;
  /** False: everything that waits on a link arrives at once. Default: true. */
  readonly isShuffled?: boolean;
}

const REDIAL_MS = 20;

/**
 * Links between servers: ordered, with latency, broken at any point. A blocked direction holds what
 * was sent until it is open again or the link is reset.
 */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #random: Prng;
  readonly #ends = new Map<ServerId, NetworkEnd>();
  readonly #links = new Set<Link>();
  readonly #dials = new Map<ServerId, { readonly to: ServerId; readonly number: number }>();
  readonly #blocked = new Set<string>();
  readonly #clogs = new Map<string, number>();
  readonly #elections: ElectionMail;
  #refs = 0;
  #dialNumber = 0;
  options: NetworkOptions;
  messageCount = 0;
  /**
   * Called before something of a server reaches another one: a message, the begin or end of a link,
   * or a vote.
   */
  arriving: ((from: ServerId, to: ServerId, what: PeerMessage["kind"] | "link" | "election") => void) | undefined;

  constructor(scheduler: Scheduler, random: Prng, options: NetworkOptions) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.options = options;
    this.#elections = new ElectionMail({
      scheduler,
      end: (sid) => this.#ends.get(sid),
      isBlocked: (from, to) => this.isBlocked(from, to),
      delayMs: (from, to) => this.#delay(from, to),
      arriving: (from, to) => this.arriving?.(from, to, "election"),
    });
  }

  get electionCount(): number {
    return this.#elections.count;
  }

  // Faults

  block(from: ServerId, to: ServerId): void {
    this.#blocked.add(`${from}>${to}`);
    this.#elections.blocked(from, to);
  }

  /** Opens a direction again and delivers the messages that it held. */
  unblock(from: ServerId, to: ServerId): void {
    if (!this.#blocked.delete(`${from}>${to}`)) return;
    for (const { dialer, acceptor } of this.#links) {
      for (const stream of [dialer, acceptor]) if (stream.from === from && stream.to === to) this.#move(stream);
    }
    this.#elections.connect(from, to);
  }

  isBlocked(from: ServerId, to: ServerId): boolean {
    return this.#blocked.has(`${from}>${to}`);
  }

  get blockedCount(): number {
    return this.#blocked.size;
  }

  /** Breaks every link between two servers: a prefix of what is in flight still arrives. */
  reset(a: ServerId, b: ServerId): void {
    for (const link of [...this.#links]) {
      if (isBetween(link, a, b)) this.#break(link, "connection reset");
    }
  }

  /** The links of `a` to `b` break, and only `a` learns of it; `b` receives nothing more. */
  halfOpen(a: ServerId, b: ServerId): void {
    this.#timeOut(a, b, (outgoing, incoming) => [outgoing, incoming]);
  }

  /** One end gives up its links; the other is not told, and still receives what is in flight. */
  leave(a: ServerId, b: ServerId): void {
    this.#timeOut(a, b, (_outgoing, incoming) => [incoming]);
  }

  /** `a` learns that its links to `b` have ended; messages on the chosen streams are lost. */
  #timeOut(a: ServerId, b: ServerId, lost: (outgoing: Stream, incoming: Stream) => readonly Stream[]): void {
    for (const link of [...this.#links]) {
      if (!isBetween(link, a, b)) continue;
      const { dialer, acceptor } = link;
      const [outgoing, incoming] = dialer.from === a ? [dialer, acceptor] : [acceptor, dialer];
      const streams = lost(outgoing, incoming);
      if (streams.some(({ isDeaf }) => isDeaf)) continue;
      for (const stream of streams) stream.isDeaf = true;
      this.#scheduler.after(this.#delay(), () => this.#ends.get(a)?.linkClosed(outgoing.ref, "connection timed out"));
    }
  }

  /** Adds latency to every message of a direction. */
  clog(from: ServerId, to: ServerId, byMs: number): void {
    this.#clogs.set(`${from}>${to}`, byMs);
  }

  unclog(from: ServerId, to: ServerId): void {
    this.#clogs.delete(`${from}>${to}`);
  }

  // Servers

  attach(end: NetworkEnd): void {
    this.#ends.set(end.sid, end);
    for (const other of this.#ends.keys()) {
      if (other === end.sid) continue;
      this.#elections.connect(end.sid, other);
      this.#elections.connect(other, end.sid);
    }
    this.#elections.await(end);
  }

  /** The process has crashed: its links break at the other ends. */
  detach(sid: ServerId): void {
    this.#ends.delete(sid);
    this.#dials.delete(sid);
    for (const link of [...this.#links]) {
      if (link.dialer.from === sid || link.dialer.to === sid) this.#break(link, "connection reset", sid);
    }
    this.#elections.forget(sid);
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
      const outgoing = outgoingOf(link, sid, ref);
      if (outgoing === undefined) continue;
      outgoing.isEnded = true;
      const incoming = outgoing === link.dialer ? link.acceptor : link.dialer;
      incoming.isDeaf = true;
      this.#move(outgoing);
      return;
    }
  }

  /**
   * The servers whose connections for elections a server has, with what they said of their disks.
   */
  heardBy(sid: ServerId): Iterable<readonly [ServerId, SaidDisk]> {
    return this.#elections.heardBy(sid);
  }

  elect(from: ServerId, to: ServerId, message: ElectionMessage): void {
    this.#elections.send(from, to, message);
  }

  #tryDial(from: ServerId, to: ServerId, number: number): void {
    this.#scheduler.after(this.#delay() * 2, () => {
      if (this.#dials.get(from)?.number !== number) return;
      const dialer = this.#ends.get(from);
      const acceptor = this.#ends.get(to);
      if (dialer === undefined) return;
      const isReachable = acceptor !== undefined && !this.isBlocked(from, to) && !this.isBlocked(to, from);
      if (!isReachable || isRefused(dialer, acceptor)) {
        this.#scheduler.after(REDIAL_MS, () => this.#tryDial(from, to, number));
        return;
      }
      this.#dials.delete(from);
      const link = newLink(from, to, { dialer: ++this.#refs as LinkRef, acceptor: ++this.#refs as LinkRef });
      this.#links.add(link);
      this.arriving?.(from, to, "link");
      this.arriving?.(to, from, "link");
      acceptor.linkOpened(link.acceptor.ref, from, false, saidBy(dialer));
      dialer.linkOpened(link.dialer.ref, to, true, saidBy(acceptor));
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
      // Messages that were written together mostly arrive together.
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
    reader.received(readerRef(link, stream), message);
  }

  #hangUp(link: Link, stream: Stream, reason: string): void {
    if (stream.isDeaf) return;
    this.arriving?.(stream.from, stream.to, "link");
    this.#ends.get(stream.to)?.linkClosed(readerRef(link, stream), reason);
  }

  #break(link: Link, reason: string, dead?: ServerId): void {
    if (!this.#links.has(link)) return;
    for (const stream of [link.dialer, link.acceptor]) {
      if (stream.to === dead) continue;
      // A prefix of what is in flight still arrives, if the direction is open.
      const count = this.isBlocked(stream.from, stream.to) ? 0 : this.#random.below(stream.queue.length + 1);
      const rest = stream.queue.splice(0, count);
      stream.queue.length = 0;
      const isDeaf = stream.isDeaf;
      this.#scheduler.after(this.#delay(), () => {
        const reader = this.#ends.get(stream.to);
        if (reader === undefined || isDeaf || stream.isDeaf) return;
        const ref = readerRef(link, stream);
        for (const message of rest) if (!stream.isDeaf) reader.received(ref, message);
        if (!stream.isDeaf) reader.linkClosed(ref, reason);
      });
    }
    this.#links.delete(link);
  }

  #outgoing(sid: ServerId, ref: LinkRef): Stream | undefined {
    for (const link of this.#links) {
      const stream = outgoingOf(link, sid, ref);
      if (stream !== undefined) return stream;
    }
    return undefined;
  }

  #linkOf(stream: Stream): Link | undefined {
    for (const link of this.#links) if (link.dialer === stream || link.acceptor === stream) return link;
    return undefined;
  }

  #delay(from?: ServerId, to?: ServerId): number {
    const { delayMsMin, delayMsMax } = this.options;
    const clogMs = this.#clogs.size === 0 ? 0 : (this.#clogs.get(`${from}>${to}`) ?? 0);
    return clogMs + delayMsMin + (this.#random.next() / 2 ** 32) * (delayMsMax - delayMsMin);
  }
}
