import type { ElectionMessage, LinkRef, PeerMessage, ServerId } from "@zooid/model";
import type { SaidDisk } from "@zooid/zab";
import { Network } from "../cluster/network.ts";
import { type NetworkEnd, saidBy } from "../cluster/network-end.ts";

/** Messages that have arrived in one direction while it is held. */
interface Held {
  readonly messages: { readonly link: LinkRef; readonly message: PeerMessage }[];
  /** Set while messages may pass: tells whether one is the last that may. */
  isLast: ((message: PeerMessage) => boolean) | undefined;
}

/** An action after a number of further messages. */
interface Fuse {
  left: number;
  readonly burnt: () => void;
}

/**
 * A network whose messages between leaders and learners can be held and delivered one by one.
 * Election messages are not held.
 */
export class HeldNetwork extends Network {
  readonly #sids = new Map<LinkRef, ServerId>();
  readonly #held = new Map<string, Held>();
  readonly #fuses = new Map<string, Fuse>();
  readonly #ends = new Map<ServerId, HeldEnd>();

  /** The server at the other end of a link. */
  other(link: LinkRef): ServerId | undefined {
    return this.#sids.get(link);
  }

  override attach(end: NetworkEnd): void {
    const held = new HeldEnd(end, this);
    this.#ends.set(end.sid, held);
    super.attach(held);
  }

  hold(from: ServerId, to: ServerId): void {
    const key = `${from}>${to}`;
    if (!this.#held.has(key)) this.#held.set(key, { messages: [], isLast: undefined });
  }

  /**
   * Delivers held messages, oldest first, and further ones, up to and including the first that
   * satisfies a condition.
   */
  deliver(from: ServerId, to: ServerId, isLast: (message: PeerMessage) => boolean): void {
    const held = this.#held.get(`${from}>${to}`);
    if (held === undefined) throw new RangeError(`nothing is held from server ${from} to server ${to}`);
    held.isLast = isLast;
    for (const { link, message } of held.messages.splice(0)) this.#ends.get(to)?.received(link, message);
  }

  release(from: ServerId, to: ServerId): void {
    const held = this.#held.get(`${from}>${to}`);
    this.#held.delete(`${from}>${to}`);
    for (const { link, message } of held?.messages ?? []) this.#ends.get(to)?.received(link, message);
  }

  releaseAll(): void {
    for (const key of [...this.#held.keys()]) {
      const [from, to] = key.split(">").map(Number);
      this.release(from as ServerId, to as ServerId);
    }
  }

  /** Acts when `count` further messages have arrived in a direction, before the next one. */
  after(count: number, from: ServerId, to: ServerId, burnt: () => void): void {
    if (count === 0) burnt();
    else this.#fuses.set(`${from}>${to}`, { left: count, burnt });
  }

  learned(link: LinkRef, sid: ServerId): void {
    this.#sids.set(link, sid);
  }

  /** @returns whether the message is held back */
  holds(to: ServerId, link: LinkRef, message: PeerMessage): boolean {
    const from = this.#sids.get(link);
    const held = from === undefined ? undefined : this.#held.get(`${from}>${to}`);
    if (held === undefined) return false;
    const { isLast } = held;
    if (isLast === undefined) held.messages.push({ link, message });
    else if (isLast(message)) held.isLast = undefined;
    return isLast === undefined;
  }

  /** A link has ended: its held messages never arrive. */
  forget(to: ServerId, link: LinkRef): void {
    const messages = this.#held.get(`${this.#sids.get(link)}>${to}`)?.messages;
    for (let i = (messages?.length ?? 0) - 1; i >= 0; i--) if (messages?.[i]?.link === link) messages.splice(i, 1);
  }

  arrived(to: ServerId, link: LinkRef): void {
    const key = `${this.#sids.get(link)}>${to}`;
    const fuse = this.#fuses.get(key);
    if (fuse === undefined || --fuse.left > 0) return;
    this.#fuses.delete(key);
    fuse.burnt();
  }
}

/** A server's end of the network, behind the messages that are held. */
class HeldEnd implements NetworkEnd {
  readonly end: NetworkEnd;
  readonly #network: HeldNetwork;

  constructor(end: NetworkEnd, network: HeldNetwork) {
    this.end = end;
    this.#network = network;
  }

  get sid(): ServerId {
    return this.end.sid;
  }

  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean, said?: SaidDisk): void {
    this.#network.learned(link, sid);
    this.end.linkOpened(link, sid, isDialed, said);
  }

  linkClosed(link: LinkRef, reason: string): void {
    this.#network.forget(this.sid, link);
    this.end.linkClosed(link, reason);
  }

  received(link: LinkRef, message: PeerMessage): void {
    if (this.#network.holds(this.sid, link, message)) return;
    this.end.received(link, message);
    this.#network.arrived(this.sid, link);
  }

  receivedElection(from: ServerId, message: ElectionMessage): void {
    this.end.receivedElection(from, message);
  }

  electionLinkUp(sid: ServerId, said: SaidDisk): void {
    this.end.electionLinkUp(sid, said);
  }

  electionLinkDown(sid: ServerId): void {
    this.end.electionLinkDown?.(sid);
  }

  unanswered(sid: ServerId, tookMs: number): void {
    this.end.unanswered?.(sid, tookMs);
  }

  get said(): SaidDisk {
    return saidBy(this.end);
  }

  get awaited(): Iterable<ServerId> {
    return this.end.awaited ?? [];
  }
}
