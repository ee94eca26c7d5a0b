import { join } from "node:path";
import { assert, formatZxid, type Zxid } from "@zooid/model/storage";
import { isFull } from "../disk/database.ts";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import { chainOfEntry } from "../log/schema.ts";
import type { DurableLog, LogPosition } from "../log/txn-log.ts";
import { writeFormatMark } from "./format-mark.ts";
import { isEnoughToJudge, NOTHING_SEEN, pageBytesFor, type SegmentLoad } from "./page-size.ts";
import type { ReaderLeases } from "./reader-leases.ts";
import type { SealedSegment } from "./sealed-segment.ts";
import { type FoundSegment, removeSegment } from "./segment-directory.ts";
import { createSegment, SegmentFile } from "./segment-file.ts";
import { formatSegmentName, type SegmentName } from "./segment-name.ts";
import { SegmentReader } from "./segment-reader.ts";
import type { SegmentHead } from "./segment-schema.ts";
import { takeSpare } from "./spare-segment.ts";

/** The state follows within as many sealed segments; each costs three open files. */
const INDEXED_MAX = 12;

/** A segment that the log no longer holds. */
export interface RetiredSegment {
  readonly name: SegmentName;
  /** From this generation on no reader knows it. */
  readonly generation: number;
}

/** The head that a new segment begins with, apart from its number. */
export type SegmentStart = Omit<SegmentHead, "sequence">;

/** Why a segment did not begin. */
export interface Obstacle {
  readonly cause: unknown;
}

/**
 * The segments of a log, as its one writer knows them: the newest is open, the others are named in
 * its manifest.
 */
export class SegmentSequence {
  /** Segments that left the manifest, oldest first. Their files are still there. */
  readonly retired: RetiredSegment[] = [];
  readonly #directory: string;
  readonly #leases: ReaderLeases;
  /** Sealed segments that a reader can open without making their WAL's index, by sequence. */
  readonly #indexed = new Map<number, Disposable>();
  #head: SegmentHead | undefined;
  /** That of the newest segment, which the mark in the directory has. */
  #format: number | undefined;
  #segment: SegmentFile | undefined;
  /** The load of the newest segment, and of the one before it. */
  #seen: SegmentLoad = NOTHING_SEEN;
  #seenBefore: SegmentLoad = NOTHING_SEEN;

  constructor(directory: string, leases: ReaderLeases) {
    this.#directory = directory;
    this.#leases = leases;
  }

  get head(): SegmentHead {
    assert(this.#head !== undefined, "a log has a newest segment");
    return this.#head;
  }

  /** The newest segment. */
  get segment(): SegmentFile {
    assert(this.#segment !== undefined, "the newest segment is open");
    return this.#segment;
  }

  /** That of the newest segment, if it is open. */
  get file(): string | undefined {
    return this.#segment?.file;
  }

  /** Continues in a segment that was found. */
  continueIn({ name, head, log }: FoundSegment): void {
    this.#format = log.identity.formatVersion;
    this.#segment = new SegmentFile(join(this.#directory, formatSegmentName(name)));
    this.#head = head;
    this.#leases.newest = name.sequence;
  }

  /**
   * Knows a segment that was found, without opening it for writing: another one will begin behind
   * it.
   */
  continueBehind({ head, log }: FoundSegment): void {
    this.#format = log.identity.formatVersion;
    this.#head = head;
  }

  /**
   * Begins the next segment with its first transaction. Durable when it returns.
   *
   * @param fill adds entries within the first transaction
   */
  begin(start: SegmentStart, log: DurableLog, fill?: (segment: SegmentFile) => void): void {
    const obstacle = this.tryBegin(start, log, fill);
    if (obstacle !== undefined) throw obstacle.cause;
  }

  /**
   * As {@link begin}. Returns an obstacle where nothing was committed, and the segment before is
   * unchanged. Throws where that is not certain.
   */
  tryBegin(start: SegmentStart, log: DurableLog, fill?: (segment: SegmentFile) => void): Obstacle | undefined {
    const { after, manifest } = start;
    assert(
      (manifest[0]?.after ?? after).zxid === log.floor.zxid,
      () => `the floor is ${formatZxid(log.floor.zxid)}, but the segments begin elsewhere`,
    );
    const before = this.#head;
    const head: SegmentHead = { ...start, sequence: (before?.sequence ?? 0) + 1 };
    const begun = this.#beginFile(head, log, fill);
    if (!(begun instanceof SegmentFile)) return begun;
    if (before !== undefined) this.#seal(before.sequence);
    this.#segment = begun;
    this.#head = head;
    this.#format = log.identity.formatVersion;
    if (isEnoughToJudge(this.#seen)) this.#seenBefore = this.#seen;
    this.#seen = NOTHING_SEEN;
    this.#leases.newest = head.sequence;
    if (before !== undefined) {
      this.#retire([...before.manifest, { sequence: before.sequence, after: before.after }], manifest);
    }
    return undefined;
  }

  /**
   * Within an open transaction on the newest segment: its manifest and the rest of its head, to be
   * known after the commit.
   */
  writeHead(head: SegmentHead, log: DurableLog): void {
    this.segment.writeHead(head, log);
  }

  /** After a head that was written is durable. */
  headCommitted(head: SegmentHead): void {
    const before = this.head;
    this.#head = head;
    this.#retire(before.manifest, head.manifest);
  }

  /** Every segment with entries, the newest sealed at an end. */
  sealedAt(end: LogPosition, sealedMs: number): readonly SealedSegment[] {
    const { sequence, after, manifest } = this.head;
    return [...manifest, { sequence, after, end, bytes: this.#segment?.walBytes() ?? 0, sealedMs }];
  }

  /** The position of an entry that the log holds, or where its segment begins. */
  positionOf(zxid: Zxid): LogPosition | undefined {
    const { after, manifest } = this.head;
    if (zxid === after.zxid) return after;
    if (zxid > after.zxid) {
      const entry = this.segment.database.prepare("SELECT entry FROM log WHERE zxid = ?").pluck().get(zxid);
      return entry === undefined ? undefined : { zxid, chain: chainOfEntry(entry as Buffer) };
    }
    const part = manifest.find((sealed) => zxid <= sealed.end.zxid);
    if (part === undefined || zxid < part.after.zxid) return undefined;
    const file = join(this.#directory, formatSegmentName({ sequence: part.sequence, after: part.after.zxid }));
    using reader = new SegmentReader(file);
    const chain = reader.chainAt(zxid);
    if (chain === undefined) reader.assertEnd(part.end);
    return chain === undefined ? undefined : { zxid, chain };
  }

  /** After a commit with entries. */
  committed(entryBytes: number, entryCount: number): void {
    const seen = this.#seen;
    this.#seen = {
      entryBytes: seen.entryBytes + entryBytes,
      entryCount: seen.entryCount + entryCount,
      syncCount: seen.syncCount + 1,
    };
  }

  /** For the next segment. */
  pageBytes(): number {
    // The next segment is made ready soon after the newest one begins.
    return pageBytesFor(isEnoughToJudge(this.#seen) ? this.#seen : this.#seenBefore);
  }

  close(): void {
    this.#segment?.close();
    this.#segment = undefined;
    for (const sequence of this.#indexed.keys()) this.#dropIndex(sequence);
  }

  #seal(sequence: number): void {
    if (this.#segment === undefined) return;
    this.#indexed.set(sequence, this.#segment.seal());
    const [oldest = sequence] = this.#indexed.keys();
    if (this.#indexed.size > INDEXED_MAX) this.#dropIndex(oldest);
  }

  #dropIndex(sequence: number): void {
    this.#indexed.get(sequence)?.[Symbol.dispose]();
    this.#indexed.delete(sequence);
  }

  #beginFile(
    head: SegmentHead,
    log: DurableLog,
    fill: ((segment: SegmentFile) => void) | undefined,
  ): SegmentFile | Obstacle {
    const name = { sequence: head.sequence, after: head.after.zxid };
    const file = join(this.#directory, formatSegmentName(name));
    let segment: SegmentFile | undefined;
    let isCommitting = false;
    try {
      this.#raiseMark(log.identity.formatVersion);
      if (!takeSpare(this.#directory, name)) createSegment(file, this.pageBytes());
      segment = new SegmentFile(file);
      segment.begin();
      segment.writeHead(head, log);
      fill?.(segment);
      isCommitting = true;
      segment.commit();
      // SQLite ignores it when its own sync of the directory fails.
      syncDirectoryOf(file);
      return segment;
    } catch (cause) {
      // Without room nothing was committed, and before the commit neither. Everything else may be
      // on the disk.
      if (isCommitting && !isFull(cause)) throw cause;
      segment?.close();
      removeSegment(this.#directory, name);
      syncDirectoryOf(file);
      return { cause };
    }
  }

  /**
   * The mark is raised before a segment has the format: an earlier version must not take such a
   * segment for a damaged one.
   */
  #raiseMark(format: number): void {
    if (this.#format !== undefined && this.#format !== format) writeFormatMark(this.#directory, format);
  }

  #retire(
    before: readonly { readonly sequence: number; readonly after: LogPosition }[],
    now: readonly SealedSegment[],
  ): void {
    const held = new Set(now.map(({ sequence }) => sequence));
    const gone = before.filter(({ sequence }) => sequence !== this.head.sequence && !held.has(sequence));
    if (gone.length === 0) return;
    const generation = this.#leases.retire();
    for (const { sequence, after } of gone) {
      this.#dropIndex(sequence);
      this.retired.push({ name: { sequence, after: after.zxid }, generation });
    }
  }
}
