/**
 * Which sessions wait for which, by the queues of locks. An edge leads from a waiting session to
 * one that must release its lock first. Sessions that wait for each other in a circle wait
 * indefinitely, unless one of them gives up: the lists of a cycle name each session and the lock
 * that it waits for.
 */
import type { WaitCycleJson, WaitJson } from "../api/recipe-shapes.ts";

/** A lock with its queue, in the order of the queue. */
export interface Queue {
  readonly path: string;
  readonly contenders: readonly Contending[];
}

export interface Contending {
  readonly owner: string | null;
  readonly state: "holds" | "waits";
  readonly kind: "exclusive" | "shared";
}

const EDGES_MAX = 1_000;

export interface WaitGraph {
  readonly waits: readonly WaitJson[];
  readonly cycles: readonly WaitCycleJson[];
  /** There are more edges than are looked at. */
  readonly isCut: boolean;
}

export function waitGraph(queues: readonly Queue[]): WaitGraph {
  const waits = queues.flatMap(waitsOf);
  const kept = waits.slice(0, EDGES_MAX);
  return { waits: kept, cycles: cyclesOf(kept), isCut: waits.length > kept.length };
}

/**
 * A contender waits for the nearest ones before it that exclude it: a reader for the last writer, a
 * writer for the readers behind that writer, or for the writer where there are none. Those wait for
 * the ones before them in turn.
 */
function waitsOf({ path, contenders }: Queue): readonly WaitJson[] {
  const found: WaitJson[] = [];
  let lastWriter: Contending | undefined;
  let readers: Contending[] = [];
  for (const contender of contenders) {
    const before =
      contender.kind === "exclusive" && readers.length > 0 ? readers : lastWriter === undefined ? [] : [lastWriter];
    if (contender.state === "waits" && contender.owner !== null) {
      for (const { owner } of before) {
        // A session that has two places in a queue, of two threads, does not block itself.
        if (owner !== null && owner !== contender.owner) found.push({ from: contender.owner, to: owner, path });
      }
    }
    if (contender.kind === "shared") readers.push(contender);
    else [lastWriter, readers] = [contender, []];
  }
  return found;
}

/**
 * One cycle for each set of sessions that all wait for each other: the shortest from its smallest
 * session.
 */
function cyclesOf(waits: readonly WaitJson[]): readonly WaitCycleJson[] {
  const edges = new Map<string, WaitJson[]>();
  for (const wait of waits) edges.set(wait.from, [...(edges.get(wait.from) ?? []), wait]);
  const cycles: WaitCycleJson[] = [];
  const inCycle = new Set<string>();
  for (const session of [...edges.keys()].toSorted()) {
    if (inCycle.has(session)) continue;
    const cycle = shortestCycle(session, edges);
    if (cycle.length === 0) continue;
    for (const { from } of cycle) inCycle.add(from);
    cycles.push({ waits: [...cycle] });
  }
  return cycles;
}

/** Breadth first; empty where no path leads back. */
function shortestCycle(start: string, edges: ReadonlyMap<string, readonly WaitJson[]>): readonly WaitJson[] {
  const reachedBy = new Map<string, WaitJson>();
  const waiting = [start];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    for (const wait of edges.get(at) ?? []) {
      if (wait.to === start) return [...pathTo(at, start, reachedBy), wait];
      if (reachedBy.has(wait.to)) continue;
      reachedBy.set(wait.to, wait);
      waiting.push(wait.to);
    }
  }
  return [];
}

function pathTo(end: string, start: string, reachedBy: ReadonlyMap<string, WaitJson>): readonly WaitJson[] {
  const path: WaitJson[] = [];
  for (let at = end; at !== start; ) {
    const wait = reachedBy.get(at);
    if (wait === undefined) break;
    path.unshift(wait);
    at = wait.from;
  }
  return path;
}
