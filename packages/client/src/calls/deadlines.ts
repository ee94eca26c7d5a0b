/**
 * A binary heap of deadlines. One timer serves all entries, so a call with a time limit needs no
 * timer of its own. A stale entry stays in place and is skipped when its time comes.
 */
export class Deadlines<T> {
  #heap: { readonly atMs: number; readonly item: T }[] = [];
  readonly #isStale: (item: T) => boolean;

  constructor(isStale: (item: T) => boolean) {
    this.#isStale = isStale;
  }

  get count(): number {
    return this.#heap.length;
  }

  /** Infinity when there is none. */
  get nextMs(): number {
    let first = this.#heap[0];
    while (first !== undefined && this.#isStale(first.item)) {
      this.#pop();
      first = this.#heap[0];
    }
    return first?.atMs ?? Number.POSITIVE_INFINITY;
  }

  add(atMs: number, item: T): void {
    // Stale entries must not accumulate where limits are long and answers quick.
    if (this.#heap.length >= this.#sweepAt) this.#sweep();
    this.#heap.push({ atMs, item });
    this.#up(this.#heap.length - 1);
  }

  /** The next due item, or undefined. */
  takeDue(nowMs: number): T | undefined {
    return this.nextMs <= nowMs ? this.#pop() : undefined;
  }

  /** Removes and returns all items, due or not, stale or not, unordered. */
  drain(): T[] {
    return this.#heap.splice(0).map(({ item }) => item);
  }

  #sweepAt = 64;

  #sweep(): void {
    // A sorted array is a heap.
    this.#heap = this.#heap.filter(({ item }) => !this.#isStale(item)).sort((a, b) => a.atMs - b.atMs);
    this.#sweepAt = Math.max(64, this.#heap.length * 2);
  }

  #pop(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (heap.length > 0) {
      heap[0] = last;
      this.#down(0);
    }
    return first.item;
  }

  #up(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      [heap[at], heap[parent]] = [heap[parent] as (typeof heap)[number], heap[at] as (typeof heap)[number]];
      at = parent;
    }
  }

  #down(from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      const left = at * 2 + 1;
      if (left >= heap.length) return;
      const child = left + 1 < heap.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, at)) return;
      [heap[at], heap[child]] = [heap[child] as (typeof heap)[number], heap[at] as (typeof heap)[number]];
      at = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    return left !== undefined && right !== undefined && left.atMs < right.atMs;
  }
}
