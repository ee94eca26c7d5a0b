import type { ServerId } from "@zooid/model";
import type { Network } from "../cluster/network.ts";
import type { SimServer } from "../cluster/server.ts";

/** Something that happens differently in a scripted run, between two steps. */
export type Deviation =
  /** A server crashes, keeps a number of its unsynced writes, and starts again. */
  | { readonly step: number; readonly kind: "crash"; readonly sid: ServerId; readonly kept: number }
  /** A server is isolated for a while. */
  | { readonly step: number; readonly kind: "cut"; readonly sid: ServerId }
  /** The next event waits for the one or two events after it. */
  | { readonly step: number; readonly kind: "later"; readonly by: 1 | 2 };

/**
 * A possible deviation between two steps whose outcome differs from that of the same deviation
 * earlier or later.
 */
export interface ChoicePoint {
  readonly step: number;
  readonly deviation: Deviation;
  /** Only an election is in progress there. */
  readonly isElection: boolean;
}

/**
 * Finds the places of a scripted run at which a fault has another outcome than the same fault a
 * little earlier or later. The README explains why it is enough to try those.
 *
 * ```
 *  step n ───────────────────────▶ between ──────────────────────▶ step n + 1
 *  something of a server reached    │  crash it         cut off      something of one server
 *  another, or its disk changed     │                   one of both  reaches another
 * ```
 */
export class ChoicePoints {
  readonly #found: ChoicePoint[] = [];
  /**
   * Servers of which something became visible in the current step; and whether only to an election.
   */
  readonly #visible = new Map<ServerId, boolean>();
  /** Servers that sent or received something in the current step. */
  readonly #moved = new Map<ServerId, boolean>();
  readonly #disks = new Map<ServerId, DiskSeen>();

  constructor(network: Network) {
    network.arriving = (from, to, what) => {
      // Pings carry no news: without one its receiver does the same, at most a little later.
      if (what === "ping" || what === "pong") return;
      const isElection = what === "election";
      note(this.#visible, from, isElection);
      note(this.#moved, from, isElection);
      note(this.#moved, to, isElection);
    };
  }

  /** In the order of their steps. */
  get all(): readonly ChoicePoint[] {
    const waiting = [...this.#disks.values()].flatMap(({ kept }) => kept);
    return [...this.#found, ...waiting].sort((a, b) => a.step - b.step);
  }

  /**
   * A client sent a request to a server or received an answer; or a commit became known from it,
   * which must last from then on.
   */
  visible(sid: ServerId): void {
    note(this.#visible, sid, false);
  }

  /** After the last step only pings are sent: a server that is isolated then misses nothing. */
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
    this.#visible.clear();
    this.#moved.clear();
  }

  /** @returns whether it did something whose order may matter */
  #endStepOf(server: SimServer, step: number): boolean {
    const { sid, disk } = server;
    const isVisible = this.#visible.get(sid);
    let seen = this.#disks.get(sid);
    if (seen?.server !== server) {
      this.#found.push(...(seen?.kept ?? []));
      seen = { server, durable: undefined, handedCount: 0, doneCount: 0, kept: [] };
      this.#disks.set(sid, seen);
    }
    const handedCount = disk.doneCount + disk.log.pendingCount;
    const isChanged = disk.durable !== seen.durable;
    const isHanded = handedCount > seen.handedCount;
    if (isVisible !== undefined) {
      // Something of it became visible: a crash before that, with these writes kept, is a different
      // run.
      this.#found.push(...seen.kept.splice(0));
    } else if (disk.doneCount > seen.doneCount) {
      // Nothing did: a crash before that kept all of it equals a crash now. Only keeping a part of
      // what one sync made durable differs.
      const count = disk.doneCount - seen.doneCount;
      this.#found.push(...seen.kept.splice(0).filter(({ deviation }) => deviation.kept < count));
    }
    if (isVisible !== undefined || isChanged) {
      const isElection = isVisible === true && !isChanged;
      this.#found.push({ step, deviation: { step, kind: "crash", sid, kept: 0 }, isElection });
    }
    if (isVisible !== undefined || isChanged || isHanded) {
      for (const kept of disk.keepCounts) {
        seen.kept.push({ step, deviation: { step, kind: "crash", sid, kept }, isElection: false });
      }
    }
    seen.durable = disk.durable;
    seen.handedCount = handedCount;
    seen.doneCount = disk.doneCount;
    return isVisible === false || isChanged || isHanded;
  }
}

interface DiskSeen {
  readonly server: SimServer;
  durable: unknown;
  /** All writes so far, and those of them that are durable. */
  handedCount: number;
  doneCount: number;
  /** Crashes that keep unsynced writes and may still equal a crash after the sync. */
  readonly kept: (ChoicePoint & { readonly deviation: Extract<Deviation, { kind: "crash" }> })[];
}

/** Notes whether only elections were concerned. */
function note(noted: Map<ServerId, boolean>, sid: ServerId, isElection: boolean): void {
  noted.set(sid, isElection && noted.get(sid) !== false);
}
