import type { ElectionMessage, LinkRef, PeerMessage, ServerId } from "@zooid/model";
import { Network, type NetworkEnd } from "../cluster/network.ts";

/** What arrives in one direction while it is held. */
interface Held {
  readonly messages: { readonly link: LinkRef; readonly message: PeerMessage }[];
  /** Whether one more may pass, and whether it is the last; undefined when none may. */
  isLast: ((message: PeerMessage) => boolean) | undefined;
}

/** What happens when so many messages more have arrived. */
interface Fuse {
  left: number;
  readonly burnt: () => void;
}

/** A network whose messages between leaders and learners can be held and let through one by one. Elections are not held. */
export class ScenarioNetwork extends Network {
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

  /** Lets held messages through, oldest first and those that come, until one satisfies a condition: that one too. */
  deliver(from: ServerId, to: ServerId, isLast: (message: PeerMessage) => boolean): void {
    const held = this.#held.get(`${from}>${to}`);
    if (held === undefined) throw new RangeError(`nothing is held from server ${from} to server ${to}`);
    held.isLast = isLast;
    for (const { link, message } of held.messages.splice(0)) this.#ends.get(to)?.received(link, message);
  }

  letGo(from: ServerId, to: ServerId): void {
    const held = this.#held.get(`${from}>${to}`);
    this.#held.delete(`${from}>${to}`);
    for (const { link, message } of held?.messages ?? []) this.#ends.get(to)?.received(link, message);
  }

  letAllGo(): void {
    for (const key of [...this.#held.keys()]) {
      const [from, to] = key.split(">").map(Number);
      this.letGo(from as ServerId, to as ServerId);
    }
  }

  /** When `count` messages more have arrived in a direction, something happens before the next. */
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

  /** What is held on a link that has ended never arrives. */
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

/** A server's end of the network, with what is held before it. */
class HeldEnd implements NetworkEnd {
  readonly end: NetworkEnd;
  readonly #network: ScenarioNetwork;

  constructor(end: NetworkEnd, network: ScenarioNetwork) {
    this.end = end;
    this.#network = network;
  }

  get sid(): ServerId {
    return this.end.sid;
  }

  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void {
    this.#network.learned(link, sid);
    this.end.linkOpened(link, sid, isDialed);
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

  electionLinkUp(sid: ServerId): void {
    this.end.electionLinkUp(sid);
  }
}
