import type { ElectionMessage, ServerId } from "@zooid/model";
import type { SaidDisk } from "@zooid/zab";
import { isRefused, type NetworkEnd, saidBy } from "./network-end.ts";
import type { Scheduler } from "./scheduler.ts";
import { TICK_MS } from "./server-options.ts";

interface Slot {
  message: ElectionMessage;
  isMoving: boolean;
  isNew: boolean;
}

/** How long a silent connection is kept. */
const SILENT_MS_MAX = 3 * TICK_MS;
/** How often a server that awaits others tries to connect to them. */
const REDIAL_MS = 250;

/** The calls of the network that election messages need. */
export interface ElectionWays {
  readonly scheduler: Scheduler;
  end(sid: ServerId): NetworkEnd | undefined;
  isBlocked(from: ServerId, to: ServerId): boolean;
  delayMs(from?: ServerId, to?: ServerId): number;
  arriving(from: ServerId, to: ServerId): void;
}

/**
 * Connections for elections between servers, and the messages on them: in each direction only the
 * newest one counts. Servers of two ensembles refuse each other.
 */
export class ElectionMail {
  readonly #ways: ElectionWays;
  readonly #slots = new Map<string, Slot>();
  /** The directions in which a connection is open: `a>b` with what b has heard of a's disk. */
  readonly #open = new Map<string, SaidDisk>();
  count = 0;

  constructor(ways: ElectionWays) {
    this.#ways = ways;
  }

  send(from: ServerId, to: ServerId, message: ElectionMessage): void {
    this.count++;
    const key = `${from}>${to}`;
    const slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, { message, isMoving: false, isNew: true });
    else {
      slot.message = message;
      slot.isNew = true;
    }
    this.#move(from, to);
  }

  /**
   * A connection for elections is made, where both servers are up and both directions are open; the
   * last message is sent again.
   */
  connect(from: ServerId, to: ServerId): void {
    const ways = this.#ways;
    if (ways.end(from) === undefined || ways.end(to) === undefined) return;
    if (ways.isBlocked(from, to) || ways.isBlocked(to, from)) return;
    ways.scheduler.after(ways.delayMs(), () => {
      const [there, here] = [ways.end(from), ways.end(to)];
      if (ways.isBlocked(from, to) || here === undefined) return;
      ways.arriving(from, to);
      if (there !== undefined && isRefused(there, here)) {
        here.electionLinkDown?.(from);
        return;
      }
      if (there !== undefined) this.#openTo(there, here);
      const slot = this.#slots.get(`${from}>${to}`);
      if (slot !== undefined) slot.isNew = true;
      this.#move(from, to);
    });
  }

  /** A server is down: its messages in flight are lost, and its connections end. */
  forget(from: ServerId): void {
    for (const key of [...this.#slots.keys()]) if (key.startsWith(`${from}>`)) this.#slots.delete(key);
    for (const key of [...this.#open.keys()]) {
      const [sender, reader] = key.split(">").map(Number) as [ServerId, ServerId];
      if (sender === from) this.#end(from, reader);
      else if (reader === from) this.#open.delete(key);
    }
  }

  /** A direction is blocked: the connection ends if that lasts, since it is silent. */
  blocked(from: ServerId, to: ServerId): void {
    if (!this.#open.has(`${from}>${to}`) && !this.#open.has(`${to}>${from}`)) return;
    this.#ways.scheduler.after(SILENT_MS_MAX, () => {
      if (!this.#ways.isBlocked(from, to)) return;
      this.#end(from, to);
      this.#end(to, from);
    });
  }

  /** A server that awaits others tries to connect to them, until it awaits none any more. */
  await(end: NetworkEnd): void {
    const ways = this.#ways;
    ways.scheduler.after(REDIAL_MS, () => {
      if (ways.end(end.sid) !== end) return;
      let isAwaiting = false;
      for (const sid of end.awaited ?? []) {
        isAwaiting = true;
        if (sid === end.sid || this.#open.has(`${sid}>${end.sid}`)) continue;
        const isBlocked = ways.isBlocked(end.sid, sid) || ways.isBlocked(sid, end.sid);
        const other = ways.end(sid);
        if (other === undefined || isBlocked) end.unanswered?.(sid, isBlocked ? REDIAL_MS : 0);
        else this.connect(sid, end.sid);
      }
      if (isAwaiting) this.await(end);
    });
  }

  /** The reports of the other ends of a server's connections about their disks. */
  *heardBy(sid: ServerId): Generator<readonly [ServerId, SaidDisk]> {
    for (const [key, said] of this.#open) {
      const [from, to] = key.split(">").map(Number) as [ServerId, ServerId];
      if (to === sid) yield [from, said];
    }
  }

  /** A connection begins with what a server says of its disk, before any message. */
  #openTo(from: NetworkEnd, to: NetworkEnd): void {
    const said = saidBy(from);
    this.#open.set(`${from.sid}>${to.sid}`, said);
    to.electionLinkUp(from.sid, said);
  }

  #end(from: ServerId, to: ServerId): void {
    if (!this.#open.delete(`${from}>${to}`)) return;
    this.#ways.end(to)?.electionLinkDown?.(from);
  }

  #move(from: ServerId, to: ServerId): void {
    const ways = this.#ways;
    const slot = this.#slots.get(`${from}>${to}`);
    if (slot === undefined || slot.isMoving || !slot.isNew || ways.isBlocked(from, to)) return;
    slot.isMoving = true;
    ways.scheduler.after(ways.delayMs(from, to), () => {
      slot.isMoving = false;
      const end = ways.end(to);
      if (end === undefined || ways.isBlocked(from, to) || !slot.isNew || this.#isRefused(from, end)) return;
      slot.isNew = false;
      ways.arriving(from, to);
      const sender = ways.end(from);
      if (sender !== undefined && !this.#open.has(`${from}>${to}`)) this.#openTo(sender, end);
      end.receivedElection(from, slot.message);
      this.#move(from, to);
    });
  }

  /** Whether there is no connection, and there can be none. */
  #isRefused(from: ServerId, to: NetworkEnd): boolean {
    if (this.#open.has(`${from}>${to.sid}`)) return false;
    const there = this.#ways.end(from);
    return there !== undefined && isRefused(there, to);
  }
}
