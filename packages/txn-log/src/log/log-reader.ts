import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { assert, formatZxid, type Zxid } from "@zooid/model/storage";
import type { EntrySink } from "../segments/entry-sink.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { formatSegmentName, listSegments } from "../segments/segment-name.ts";
import { SegmentReader, type Walk, type WalkLimits } from "../segments/segment-reader.ts";
import { NEVER_BEGUN, scanSteps, wholeBytes } from "../segments/wal-scan.ts";
import { StoreError } from "../store/store-error.ts";
import { type Chain, formatChain } from "./chain.ts";
import type { EntryRun, LogPosition } from "./txn-log.ts";

export type { EntrySink } from "../segments/entry-sink.ts";
export type { Walk, WalkLimits } from "../segments/segment-reader.ts";

/** Segments that {@link LogReader.entries} keeps open. */
const OPEN_MAX = 32;

/** A sealed segment, for its user. */
export interface SealedPart {
  readonly file: string;
  readonly sequence: number;
  readonly after: Zxid;
  readonly end: Zxid;
  /** Bytes of the frames in its WAL when it was sealed; 0 where that was not known. */
  readonly bytes: number;
}

/** One segment as the newest one's manifest describes it. */
interface Part {
  readonly file: string;
  readonly sequence: number;
  readonly after: LogPosition;
  /** Undefined for the newest segment, which has no end yet. */
  readonly end: LogPosition | undefined;
  /** Bytes of the frames when it was sealed. */
  readonly bytes: number;
}

/** A reader's view of the log, as of one generation and one newest segment. */
interface View {
  readonly generation: number;
  readonly newest: number;
  readonly floor: LogPosition;
  /** Oldest first. */
  readonly parts: readonly Part[];
}

/**
 * Entries out of all segments of a log, for one thread. A call sees exactly what is durable, and
 * each entry is checked against the chain.
 *
 * Each call holds a lease, so no file that its view names is removed or reused meanwhile. Between
 * calls the reader keeps the newest segment and the one it read last open; it reads neither of them
 * again before it has looked whether the log still holds them.
 */
export class LogReader implements Disposable {
  readonly #directory: string;
  readonly #leases: ReaderLeases;
  readonly #open = new Map<number, SegmentReader>();
  #view: View | undefined;

  /** @param leases the memory that the log thread shares */
  constructor(directory: string, leases: SharedArrayBuffer) {
    this.#directory = directory;
    this.#leases = new ReaderLeases(leases);
  }

  /** For a directory that no log thread has open. */
  static ofClosed(directory: string, newestSequence: number): LogReader {
    const leases = new ReaderLeases();
    leases.newest = newestSequence;
    return new LogReader(directory, leases.memory);
  }

  /**
   * Hands over entries after a zxid, in order, each checked. The answer's count is 0 only at the
   * log's end, or at `upTo`.
   */
  walk(after: Zxid, limits: WalkLimits, sink: EntrySink): Walk {
    return this.#inSegment(after, limits, (reader, within) => reader.walk(after, within, sink));
  }

  /**
   * Hands over the first of the entries with these zxids, and more of them up to `bytesMax` and the
   * end of the segment. Each is checked against its predecessor. Returns the count.
   *
   * Segments stay open until {@link closeSealed}, for callers that return to each of them.
   *
   * @param zxids ascending, none of them the first of its epoch
   */
  entries(zxids: Float64Array, bytesMax: number, sink: EntrySink): number {
    using _lease = this.#leases.take();
    const { parts } = this.#look();
    const [first = 0] = zxids;
    const part = parts.find(({ end }) => end === undefined || first <= end.zxid);
    assert(part !== undefined, "the newest segment has no end");
    const { end } = part;
    const behind = end === undefined ? -1 : zxids.findIndex((zxid) => zxid > end.zxid);
    const reader = this.#readerOf(part.sequence, part.file);
    if (this.#open.size > OPEN_MAX) this.closeSealed(part.sequence);
    return reader.entries(behind === -1 ? zxids : zxids.subarray(0, behind), bytesMax, sink);
  }

  /** Closes the readers of sealed segments, except for one. */
  closeSealed(but?: number): void {
    for (const sequence of this.#open.keys()) {
      if (sequence !== this.#view?.newest && sequence !== but) this.#close(sequence);
    }
  }

  /** The entries after a zxid as frames. */
  read(after: Zxid, bytesMax: number): EntryRun {
    using _lease = this.#leases.take();
    let run = this.#readInSegment(after, { bytesMax });
    const runs: EntryRun[] = [];
    let bytes = 0;
    let count = 0;
    while (run.count > 0) {
      runs.push(run);
      bytes += run.bytes.length;
      count += run.count;
      if (!this.#isSealedAt(run.last.zxid)) break;
      run = this.#readInSegment(run.last.zxid, { bytesMax: bytesMax - bytes, isStrict: true });
    }
    const [first = run] = runs;
    if (runs.length < 2) return first;
    const last = runs.at(-1)?.last ?? run.last;
    return { bytes: concatenated(runs, bytes), after: first.after, last, count };
  }

  /** The entry before the first one that is held. */
  floor(): LogPosition {
    using _lease = this.#leases.take();
    return this.#look().floor;
  }

  /** The chain at a zxid that the log holds or that is its floor. */
  chainAt(zxid: Zxid): Chain | undefined {
    using _lease = this.#leases.take();
    const { floor, parts } = this.#look();
    if (zxid <= floor.zxid) return zxid === floor.zxid ? floor.chain : undefined;
    const part = parts.find(({ end }) => end === undefined || zxid <= end.zxid);
    if (part === undefined || zxid < part.after.zxid) return undefined;
    if (zxid === part.end?.zxid) return part.end.chain;
    const reader = this.#reader(part);
    const chain = reader.chainAt(zxid);
    // An entry that a damaged WAL hides is not an entry that never was.
    if (chain === undefined && part.end !== undefined) reader.assertEnd(part.end);
    return chain;
  }

  /** The sealed segments, oldest first. */
  sealed(): readonly SealedPart[] {
    using _lease = this.#leases.take();
    return this.#look().parts.flatMap(({ file, sequence, after, end, bytes }) => {
      return end === undefined ? [] : [{ file, sequence, after: after.zxid, end: end.zxid, bytes }];
    });
  }

  /**
   * Checks the frames of a sealed segment's WAL, in steps; yields the bytes of each. Ends early
   * when the log no longer holds the segment.
   *
   * Where the WAL has an index, SQLite checks no frame's checksum, and reads no frame whose page a
   * later one replaces. The next start rebuilds the index, and would hide everything behind a bad
   * frame.
   */
  *checkFrames(sealed: SealedPart): Generator<number, void> {
    const wal = `${sealed.file}-wal`;
    // Another program has moved the entries, which were found, to the main file.
    const isMoved = (statSync(wal, { throwIfNoEntry: false })?.size ?? 0) === 0;
    if (isMoved) return;
    const steps = scanSteps(wal);
    try {
      for (;;) {
        const step = this.#whileHeld(sealed, () => steps.next());
        if (step === undefined) return;
        if (step.done === true) return assertWhole(sealed, wholeBytes(step.value));
        yield step.value;
      }
    } finally {
      steps.return(NEVER_BEGUN);
    }
  }

  #whileHeld<T>({ sequence }: SealedPart, act: () => T): T | undefined {
    using _lease = this.#leases.take();
    return this.#look().parts.some((part) => part.sequence === sequence) ? act() : undefined;
  }

  /** Checks some entries after a zxid, up to the end of a segment at most, as {@link walk} does. */
  check(after: Zxid, bytesMax: number, upTo: Zxid): { readonly last: Zxid; readonly bytes: number } {
    let bytes = 0;
    const { last } = this.walk(after, { bytesMax, upTo }, (_zxid, _bytes, start, end) => {
      bytes += end - start;
    });
    return { last: last.zxid, bytes };
  }

  ensembleId(): string {
    using _lease = this.#leases.take();
    const newest = this.#look().parts.at(-1);
    assert(newest !== undefined, "a log has a newest segment");
    return this.#reader(newest).ensembleId();
  }

  [Symbol.dispose](): void {
    for (const reader of this.#open.values()) reader[Symbol.dispose]();
    this.#open.clear();
  }

  #readInSegment(after: Zxid, limits: WalkLimits): EntryRun {
    return this.#inSegment(after, limits, (reader, within) => reader.read(after, within));
  }

  /** Whether a segment ends there, and another one follows. */
  #isSealedAt(zxid: Zxid): boolean {
    return this.#view?.parts.some(({ end }) => end?.zxid === zxid) === true;
  }

  #inSegment<T extends Walk>(
    after: Zxid,
    limits: WalkLimits,
    act: (reader: SegmentReader, limits: WalkLimits) => T,
  ): T {
    using _lease = this.#leases.take();
    const { floor, parts } = this.#look();
    if (after < floor.zxid) {
      throw new StoreError({ code: "BELOW_FLOOR", asked: formatZxid(after), floor: formatZxid(floor.zxid) });
    }
    const part = parts.find(({ end }) => end === undefined || after < end.zxid);
    assert(part !== undefined, "the newest segment has no end");
    const { end } = part;
    if (end === undefined) return act(this.#reader(part), limits);
    const upTo = limits.upTo === undefined || limits.upTo > end.zxid ? end.zxid : limits.upTo;
    const walk = act(this.#reader(part), { ...limits, upTo });
    const isShort = walk.count === 0 && upTo === end.zxid && limits.isStrict !== true;
    const isWhole = walk.last.zxid === end.zxid ? walk.last.chain === end.chain : !isShort;
    if (isWhole) return walk;
    throw new StoreError({
      code: "DAMAGED",
      file: part.file,
      place: `entries up to ${formatZxid(end.zxid)}, chain ${formatChain(end.chain)}`,
      found: `entries up to ${formatZxid(walk.last.zxid)}, chain ${formatChain(walk.last.chain)}`,
    });
  }

  /**
   * The log as it is now. To be called with a lease: then every file is there that the answer
   * names.
   */
  #look(): View {
    // In this order: a generation is raised after the newest segment is named.
    const { generation } = this.#leases;
    const { newest } = this.#leases;
    const known = this.#view;
    if (known?.generation === generation && known.newest === newest) return known;
    this.#view = this.#lookAnew(generation, newest);
    return this.#view;
  }

  #lookAnew(generation: number, newest: number): View {
    const name = listSegments(readdirSync(this.#directory)).find(({ sequence }) => sequence === newest);
    if (name === undefined) {
      const file = join(this.#directory, `segment ${newest}`);
      throw new StoreError({ code: "DAMAGED", file, place: "the newest segment", found: "the file is missing" });
    }
    const file = join(this.#directory, formatSegmentName(name));
    const reader = this.#readerOf(newest, file);
    const head = reader.head();
    if (head === undefined) {
      throw new StoreError({ code: "DAMAGED", file, place: "the first transaction", found: "it is missing" });
    }
    const sealed = head.manifest.map(({ sequence, after, end, bytes }): Part => {
      return {
        file: join(this.#directory, formatSegmentName({ sequence, after: after.zxid })),
        sequence,
        after,
        end,
        bytes,
      };
    });
    const parts = [...sealed, { file, sequence: newest, after: head.after, end: undefined, bytes: 0 }];
    for (const sequence of this.#open.keys()) {
      if (!parts.some((part) => part.sequence === sequence)) this.#close(sequence);
    }
    return { generation, newest, floor: reader.floor(), parts };
  }

  #reader({ sequence, file }: Part): SegmentReader {
    // Of sealed segments one at a time: a walk goes from each to the next.
    if (!this.#open.has(sequence)) this.closeSealed();
    return this.#readerOf(sequence, file);
  }

  #readerOf(sequence: number, file: string): SegmentReader {
    const known = this.#open.get(sequence);
    if (known !== undefined) return known;
    if (!existsSync(file)) {
      throw new StoreError({ code: "DAMAGED", file, place: "the segment", found: "the file is missing" });
    }
    const reader = new SegmentReader(file);
    this.#open.set(sequence, reader);
    return reader;
  }

  #close(sequence: number): void {
    this.#open.get(sequence)?.[Symbol.dispose]();
    this.#open.delete(sequence);
  }
}

function assertWhole({ file, bytes }: SealedPart, found: number): void {
  if (found >= bytes) return;
  throw new StoreError({
    code: "DAMAGED",
    file: `${file}-wal`,
    place: `${bytes} bytes of frames`,
    found: `${found} that are whole`,
  });
}

function concatenated(runs: readonly EntryRun[], length: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const run of runs) {
    bytes.set(run.bytes, at);
    at += run.bytes.length;
  }
  return bytes;
}
