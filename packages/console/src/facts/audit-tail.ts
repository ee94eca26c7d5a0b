/** One write, as the audit tail shows it. */
export interface AuditEntry {
  readonly atMs: number;
  readonly session: string;
  /** Names of the requester; undefined where the server itself acted. */
  readonly user: string | undefined;
  readonly address: string | undefined;
  readonly operation: string;
  readonly path: string | undefined;
  readonly result: "success" | "failure";
}

/** Calls back with each turn's writes, until the returned function is called. */
export type AuditSource = (next: (entries: readonly AuditEntry[]) => void) => () => void;

export interface NumberedEntry extends AuditEntry {
  readonly number: number;
}

export interface AuditPage {
  readonly entries: readonly NumberedEntry[];
  /** Entries after the cursor that are not kept any more. */
  readonly droppedCount: number;
}

const KEPT_MAX = 2_000;
const UNREAD_MS = 60_000;
const CHECK_MS = 10_000;

/**
 * The newest writes, while anybody looks: a server records none for its own sake, so the tail follows
 * it from the first look until a minute after the last one.
 */
export class AuditTail {
  readonly #source: AuditSource;
  readonly #nowMs: () => number;
  #entries: NumberedEntry[] = [];
  #count = 0;
  #stop: (() => void) | undefined;
  #readMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: AuditSource, nowMs: () => number = () => performance.now()) {
    this.#source = source;
    this.#nowMs = nowMs;
  }

  get isFollowing(): boolean {
    return this.#stop !== undefined;
  }

  /** @param after the number of the last entry that the reader has; 0 for none */
  read(after: number, limit: number): AuditPage {
    this.#readMs = this.#nowMs();
    this.#follow();
    const first = this.#entries[0]?.number ?? this.#count + 1;
    const droppedCount = after === 0 ? 0 : Math.max(0, first - after - 1);
    const newer = this.#entries.filter(({ number }) => number > after);
    return { entries: newer.slice(-limit), droppedCount: droppedCount + Math.max(0, newer.length - limit) };
  }

  /** Stops following the server once nothing was read for a minute. */
  stopIfUnread(): void {
    if (this.#nowMs() - this.#readMs >= UNREAD_MS) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stop?.();
    this.#stop = undefined;
  }

  #follow(): void {
    if (this.#stop !== undefined) return;
    this.#stop = this.#source((entries) => this.#add(entries));
    this.#timer = setInterval(() => this.stopIfUnread(), CHECK_MS).unref();
  }

  #add(entries: readonly AuditEntry[]): void {
    for (const entry of entries.slice(-KEPT_MAX)) this.#entries.push({ ...entry, number: ++this.#count });
    // Cutting in large pieces keeps the cost of each entry small.
    if (this.#entries.length > 2 * KEPT_MAX) this.#entries = this.#entries.slice(-KEPT_MAX);
  }
}
