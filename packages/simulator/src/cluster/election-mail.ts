import type { ElectionMessage, ServerId } from "@zooid/model";
import type { NetworkEnd } from "./network.ts";
import type { Scheduler } from "./scheduler.ts";

interface Slot {
  message: ElectionMessage;
  isMoving: boolean;
  isNew: boolean;
}

/** What election messages need of the network that they travel. */
export interface ElectionWays {
  readonly scheduler: Scheduler;
  end(sid: ServerId): NetworkEnd | undefined;
  isBlocked(from: ServerId, to: ServerId): boolean;
  delayMs(from?: ServerId, to?: ServerId): number;
  arriving(from: ServerId, to: ServerId): void;
}

/** Election messages between servers: in each direction only the newest one counts. */
export class ElectionMail {
  readonly #ways: ElectionWays;
  readonly #slots = new Map<string, Slot>();
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
      if (ways.isBlocked(from, to)) return;
      ways.arriving(from, to);
      ways.end(to)?.electionLinkUp(from);
      const slot = this.#slots.get(`${from}>${to}`);
      if (slot !== undefined) slot.isNew = true;
      this.#move(from, to);
    });
  }

  /** A server is down: its messages in flight are lost. */
  forget(from: ServerId): void {
    for (const key of [...this.#slots.keys()]) if (key.startsWith(`${from}>`)) this.#slots.delete(key);
  }

  #move(from: ServerId, to: ServerId): void {
    const ways = this.#ways;
    const slot = this.#slots.get(`${from}>${to}`);
    if (slot === undefined || slot.isMoving || !slot.isNew || ways.isBlocked(from, to)) return;
    slot.isMoving = true;
    ways.scheduler.after(ways.delayMs(from, to), () => {
      slot.isMoving = false;
      const end = ways.end(to);
      if (end === undefined || ways.isBlocked(from, to) || !slot.isNew) return;
      slot.isNew = false;
      ways.arriving(from, to);
      end.receivedElection(from, slot.message);
      this.#move(from, to);
    });
  }
}
