import type { Prng } from "./prng.ts";

interface Due {
  readonly atMs: number;
  readonly tie: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Virtual time: a queue of events, of which the earliest happens next. The seed decides the order
 * of simultaneous events.
 */
export class Scheduler {
  readonly #ties: Prng;
  readonly #heap: Due[] = [];
  #nowMs = 0;
  #order = 0;

  constructor(ties: Prng) {
    this.#ties = ties;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): void {
    this.#push({ atMs: this.#nowMs + Math.max(0, delayMs), tie: this.#ties.next(), order: this.#order++, run });
  }

  /** Runs the next event; false when there is none, or none before `untilMs`. */
  runNext(untilMs: number): boolean {
    const next = this.#heap[0];
    if (next === undefined || next.atMs > untilMs) {
      this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#pop();
    this.#nowMs = next.atMs;
    next.run();
    return true;
  }

  /**
   * Like {@link runNext}, but runs the n-th event first if it is due within `withinMs` of the next
   * one; those before it wait.
   *
   * @returns false when there is no such event; nothing happens then
   */
  runLater(n: number, withinMs: number): boolean {
    const first = this.#heap[0];
    if (first === undefined || this.#heap.length <= n) return false;
    const passed: Due[] = [];
    let chosen: Due | undefined;
    while (passed.length <= n) {
      const due = this.#heap[0] as Due;
      this.#pop();
      passed.push(due);
      chosen = due;
    }
    if (chosen === undefined || chosen.atMs > first.atMs + withinMs) {
      for (const due of passed) this.#push(due);
      return false;
    }
    const { atMs } = chosen;
    for (const due of passed) if (due !== chosen) this.#push({ ...due, atMs: Math.max(due.atMs, atMs) });
    this.#nowMs = atMs;
    chosen.run();
    return true;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Due;
      if (!isBefore(due, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Due;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Due)) child++;
      const below = heap[child] as Due;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Due, b: Due): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  return a.tie !== b.tie ? a.tie < b.tie : a.order < b.order;
}
