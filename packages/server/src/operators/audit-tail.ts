import { formatSessionId } from "@zooid/model";
import type { Observable } from "rxjs";
import type { AuditRecord } from "./audit-trail.ts";
import { auditUsers } from "./audit-users.ts";

/** One write, as the audit tail keeps it. */
export interface AuditTailEntry {
  /** Consecutive since {@link AuditTailPage.sinceMs}, from 1 on. */
  readonly number: number;
  /** Milliseconds since 1970, by this server's clock. */
  readonly atMs: number;
  readonly session: string;
  /** Names of the requester; undefined where the server itself acted. */
  readonly user: string | undefined;
  readonly address: string | undefined;
  readonly operation: string;
  readonly path: string | undefined;
  readonly result: "success" | "failure";
  /** A text was too long, and has its beginning only. */
  readonly isCut: boolean;
}

export interface AuditTailPage {
  /**
   * Since when writes are recorded, milliseconds since 1970; numbers of another time mean other
   * entries.
   */
  readonly sinceMs: number;
  readonly entries: readonly AuditTailEntry[];
  /** Entries after the cursor that are not kept any more. */
  readonly droppedCount: number;
}

/** The last entry that a reader has. */
export interface AuditCursor {
  readonly sinceMs: number;
  readonly number: number;
}

export interface AuditTailClocks {
  /** Monotonic. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
}

const KEPT_MAX = 2_000;
/**
 * Characters of a path, or of a client's names, that are kept: so 4000 entries are a few megabytes
 * at most.
 */
const TEXT_CHARS_MAX = 1_024;
const UNREAD_MS = 60_000;
const CHECK_MS = 10_000;

/**
 * The newest writes of this server's clients, while an operator reads them: a server records none
 * otherwise, so the tail follows it from the first reading until a minute after the last one.
 */
export class AuditTail {
  readonly #records$: Observable<readonly AuditRecord[]>;
  readonly #clocks: AuditTailClocks;
  #entries: AuditTailEntry[] = [];
  #count = 0;
  #sinceMs = 0;
  #following: { unsubscribe(): void } | undefined;
  #readMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    records$: Observable<readonly AuditRecord[]>,
    clocks: AuditTailClocks = { now: () => performance.now(), wall: () => Date.now() },
  ) {
    this.#records$ = records$;
    this.#clocks = clocks;
  }

  get isFollowing(): boolean {
    return this.#following !== undefined;
  }

  /** @param after undefined: the reader has no entry */
  read(after: AuditCursor | undefined, countMax: number): AuditTailPage {
    this.#readMs = this.#clocks.now();
    this.#follow();
    const last = after?.sinceMs === this.#sinceMs ? after.number : 0;
    const first = this.#entries[0]?.number ?? this.#count + 1;
    const newer = this.#entries.filter(({ number }) => number > last);
    return {
      sinceMs: this.#sinceMs,
      entries: newer.slice(-countMax),
      droppedCount: Math.max(0, first - last - 1) + Math.max(0, newer.length - countMax),
    };
  }

  /** Stops following the server once nothing was read for a minute. */
  stopIfUnread(): void {
    if (this.#clocks.now() - this.#readMs >= UNREAD_MS) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#following?.unsubscribe();
    this.#following = undefined;
    this.#entries = [];
  }

  #follow(): void {
    if (this.#following !== undefined) return;
    this.#count = 0;
    // A clock that was set back does not make an earlier time valid again.
    this.#sinceMs = Math.max(this.#clocks.wall(), this.#sinceMs + 1);
    this.#following = this.#records$.subscribe((records) => this.#add(records));
    this.#timer = setInterval(() => this.stopIfUnread(), CHECK_MS).unref();
  }

  #add(records: readonly AuditRecord[]): void {
    const atMs = this.#clocks.wall();
    this.#count += Math.max(0, records.length - KEPT_MAX);
    for (const record of records.slice(-KEPT_MAX)) this.#entries.push(entryOf(record, ++this.#count, atMs));
    // Cutting in large pieces keeps the cost of each entry small.
    if (this.#entries.length > 2 * KEPT_MAX) this.#entries = this.#entries.slice(-KEPT_MAX);
  }
}

function entryOf(record: AuditRecord, number: number, atMs: number): AuditTailEntry {
  const { session, identities, address, operation, path, result } = record;
  const user = identities === undefined ? undefined : auditUsers(identities);
  const isCut = (path?.length ?? 0) > TEXT_CHARS_MAX || (user?.length ?? 0) > TEXT_CHARS_MAX;
  return {
    number,
    atMs,
    session: formatSessionId(session),
    user: shortened(user),
    address,
    operation,
    path: shortened(path),
    result,
    isCut,
  };
}

function shortened(text: string | undefined): string | undefined {
  return text === undefined || text.length <= TEXT_CHARS_MAX ? text : text.slice(0, TEXT_CHARS_MAX).toWellFormed();
}
