import type { ServerId } from "@zooid/model";
import type { Network } from "../cluster/network.ts";
import type { SimServer } from "../cluster/server.ts";

/** Something that happens differently in a scripted run, between a step and the next. */
export type Deviation =
  /** A server dies, with so many of the writes that it has not synced, and comes back. */
  | { readonly step: number; readonly kind: "crash"; readonly sid: ServerId; readonly kept: number }
  /** Nobody hears a server for a while, nor it anybody. */
  | { readonly step: number; readonly kind: "cut"; readonly sid: ServerId }
  /** What is due next waits for the one or two things behind it. */
  | { readonly step: number; readonly kind: "later"; readonly by: 1 | 2 };

/** What can happen differently between a step and the next, and is told from what can happen there sooner or later. */
export interface ChoicePoint {
  readonly step: number;
  readonly deviation: Deviation;
  /** It is the course of an election alone that it falls into. */
  readonly isElection: boolean;
}

/**
 * Finds the places of a scripted run at which a fault is told from the same fault a little sooner or later; why it is enough to try
 * those stands in the README.
 *
 * ```
 *  step n ───────────────────────▶ between ──────────────────────▶ step n + 1
 *  something of a server reached    │  crash it         cut off      something of one server
 *  another, or its disk changed     │                   one of both  reaches another
 * ```
 */
export class ChoicePoints {
  readonly #found: ChoicePoint[] = [];
  /** Servers of which somebody heard in the present step; and whether in an election alone. */
  readonly #heard = new Map<ServerId, boolean>();
  /** Servers between which something moved in the present step. */
  readonly #moved = new Map<ServerId, boolean>();
  readonly #disks = new Map<ServerId, DiskSeen>();

  constructor(network: Network) {
    network.arriving = (from, to, what) => {
      // They bring no news: who is told that a server lives does what it would have done, at most a little later.
      if (what === "ping" || what === "pong") return;
      const isElection = what === "election";
      note(this.#heard, from, isElection);
      note(this.#moved, from, isElection);
      note(this.#moved, to, isElection);
    };
  }

  /** In the order in which they come. */
  get all(): readonly ChoicePoint[] {
    const waiting = [...this.#disks.values()].flatMap(({ kept }) => kept);
    return [...this.#found, ...waiting].sort((a, b) => a.step - b.step);
  }

  /** A client asked a server or was answered by it; or a commit became known by it, which from then on is checked to last. */
  heard(sid: ServerId): void {
    note(this.#heard, sid, false);
  }

  /** Behind the last step nothing moves but pings: whoever is cut off then is cut off in quiet. */
  end(step: number, running: readonly SimServer[]): void {
    for (const { sid } of running) this.#found.push({ step, deviation: { step, kind: "cut", sid }, isElection: false });
  }

  endStep(step: number, running: readonly SimServer[]): void {
    let isMark = false;
    for (const [sid, isElection] of this.#moved) {
      this.#found.push({ step: step - 1, deviation: { step: step - 1, kind: "cut", sid }, isElection });
    }
    for (const server of running) if (this.#endStepOf(server, step)) isMark = true;
    if (isMark) {
      for (const by of [1, 2] as const) {
        this.#found.push({ step, deviation: { step, kind: "later", by }, isElection: false });
      }
    }
    this.#heard.clear();
    this.#moved.clear();
  }

  /** @returns whether it did something that an order can depend on */
  #endStepOf(server: SimServer, step: number): boolean {
    const { sid, disk } = server;
    const heard = this.#heard.get(sid);
    let seen = this.#disks.get(sid);
    if (seen?.server !== server) {
      this.#found.push(...(seen?.kept ?? []));
      seen = { server, durable: undefined, handedCount: 0, doneCount: 0, kept: [] };
      this.#disks.set(sid, seen);
    }
    const handedCount = disk.doneCount + disk.log.pendingCount;
    const isChanged = disk.durable !== seen.durable;
    const isHanded = handedCount > seen.handedCount;
    if (heard !== undefined) {
      // Somebody heard of it meanwhile: with what it has handed to its disk kept, it could have died before that.
      this.#found.push(...seen.kept.splice(0));
    } else if (disk.doneCount > seen.doneCount) {
      // Nobody did: to die before and keep it is to die now. Only a part of what was made durable together could be kept before.
      const count = disk.doneCount - seen.doneCount;
      this.#found.push(...seen.kept.splice(0).filter(({ deviation }) => deviation.kept < count));
    }
    if (heard !== undefined || isChanged) {
      const isElection = heard === true && !isChanged;
      this.#found.push({ step, deviation: { step, kind: "crash", sid, kept: 0 }, isElection });
    }
    if (heard !== undefined || isChanged || isHanded) {
      for (const kept of disk.keepCounts) {
        seen.kept.push({ step, deviation: { step, kind: "crash", sid, kept }, isElection: false });
      }
    }
    seen.durable = disk.durable;
    seen.handedCount = handedCount;
    seen.doneCount = disk.doneCount;
    return heard === false || isChanged || isHanded;
  }
}

interface DiskSeen {
  readonly server: SimServer;
  durable: unknown;
  /** Writes that were ever handed over, and those of them that are durable. */
  handedCount: number;
  doneCount: number;
  /** Crashes that keep what is not durable, not yet told from those behind the end of the sync. */
  readonly kept: (ChoicePoint & { readonly deviation: Extract<Deviation, { kind: "crash" }> })[];
}

/** What is not of an election alone is not of one at all. */
function note(noted: Map<ServerId, boolean>, sid: ServerId, isElection: boolean): void {
  noted.set(sid, isElection && noted.get(sid) !== false);
}
