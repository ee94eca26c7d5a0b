/**
 * How often each node changed lately: counts of the present and of the last minute, for a bounded
 * number of nodes.
 */
import type { WatchEvent } from "@zooid/client";

export interface NodeChanges {
  readonly path: string;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
}

interface Counts {
  created: number;
  changed: number;
  deleted: number;
}

interface Window {
  readonly startMs: number;
  readonly nodes: Map<string, Counts>;
  eventCount: number;
}

export interface ChangeSummary {
  /** The time that the counts are of. */
  readonly spanMs: number;
  readonly eventCount: number;
  /** The most changed nodes first. */
  readonly nodes: readonly NodeChanges[];
}

const WINDOW_MS = 60_000;
const NODES_MAX = 4_096;

/**
 * Beyond 4,096 nodes in a minute the half with the fewest changes is forgotten: a node with a
 * steady share of the changes is kept, and its count may miss its first ones.
 */
export class ChangeCounts {
  #previous: Window | undefined;
  #present: Window;

  constructor(nowMs: number) {
    this.#present = emptyWindow(nowMs);
  }

  add(type: WatchEvent["type"], path: string, nowMs: number): void {
    this.#rotate(nowMs);
    const { nodes } = this.#present;
    this.#present.eventCount++;
    let counts = nodes.get(path);
    if (counts === undefined) {
      if (nodes.size >= NODES_MAX) forgetHalf(nodes);
      counts = { created: 0, changed: 0, deleted: 0 };
      nodes.set(path, counts);
    }
    if (type === "created") counts.created++;
    else if (type === "deleted") counts.deleted++;
    else counts.changed++;
  }

  summary(nowMs: number, countMax: number): ChangeSummary {
    this.#rotate(nowMs);
    const sums = new Map<string, Counts>();
    for (const { nodes } of [this.#previous, this.#present].filter((window) => window !== undefined)) {
      for (const [path, { created, changed, deleted }] of nodes) {
        const sum = sums.get(path) ?? { created: 0, changed: 0, deleted: 0 };
        sums.set(path, {
          created: sum.created + created,
          changed: sum.changed + changed,
          deleted: sum.deleted + deleted,
        });
      }
    }
    const nodes = [...sums]
      .map(([path, counts]) => ({ path, ...counts }))
      .sort((a, b) => total(b) - total(a) || (a.path < b.path ? -1 : 1));
    return {
      spanMs: Math.max(0, nowMs - (this.#previous ?? this.#present).startMs),
      eventCount: (this.#previous?.eventCount ?? 0) + this.#present.eventCount,
      nodes: nodes.slice(0, countMax),
    };
  }

  #rotate(nowMs: number): void {
    const ageMs = nowMs - this.#present.startMs;
    if (ageMs < WINDOW_MS) return;
    const endMs = this.#present.startMs + WINDOW_MS;
    // After a pause both minutes are over.
    this.#previous = ageMs < 2 * WINDOW_MS ? this.#present : emptyWindow(nowMs - WINDOW_MS);
    this.#present = emptyWindow(ageMs < 2 * WINDOW_MS ? endMs : nowMs);
  }
}

function emptyWindow(startMs: number): Window {
  return { startMs, nodes: new Map(), eventCount: 0 };
}

function forgetHalf(nodes: Map<string, Counts>): void {
  const kept = [...nodes].sort(([, a], [, b]) => total(b) - total(a)).slice(0, NODES_MAX / 2);
  nodes.clear();
  for (const [path, counts] of kept) nodes.set(path, counts);
}

function total({ created, changed, deleted }: Counts): number {
  return created + changed + deleted;
}
