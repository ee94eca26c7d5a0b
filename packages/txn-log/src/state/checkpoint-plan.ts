import { counterOf, type Zxid } from "@zooid/model/storage";
import type { Pace } from "../threads/pace.ts";
import type { CheckpointMark } from "./state-store.ts";

/** Entries with consecutive zxids, none of them the first of its epoch. */
export interface EntryRange {
  readonly first: Zxid;
  readonly last: Zxid;
}

type MarkedWrites = Pick<CheckpointMark, "dataWrites" | "bytes">;

/** Skipping a range costs as much as reading this many small entries. */
const ENTRIES_PER_RANGE = 16;
/** Reading this many bytes takes as long as reading a small entry. */
const BYTES_PER_ENTRY = 1024;
const WRITES_PER_STEP = 256;
/**
 * Node id and index of a write are sorted as one number below 2^53, hence both limits. The
 * checkpoint reads writes beyond them from the log like any other entry.
 */
export const DATA_WRITES_MAX: number = 2 ** 20;
const NODE_LIMIT = 2 ** 32;
/** Smaller rows share a page of the state file. */
const SMALL_BYTES = 4096;
const DROPPED = 0;
const NONE = new Uint32Array(0);

/**
 * Which log entries a checkpoint reads, and in which order. Of the data writes to a node
 * ({@link CheckpointMark.dataWrites}) the checkpoint reads only the last one.
 *
 * ```
 *  log            │ create │ set b │ set a │ set a │ multi │ set a │ set c │ set a │ delete │
 *
 *  log order      │ create │ set b │               │ multi │       │ set c │ set a │ delete │   skips superseded writes
 *  node order     │ create │                       │ multi │                       │ delete │   skips all data writes,
 *                 set a, set b, set c                                                           then reads the last of each node
 * ```
 *
 * The checkpoint uses node order if the last writes are many and small: several rows share a page
 * of the state file, and node order visits each page once. It does not skip short ranges.
 *
 * The data writes come from the memory of the thread that applied them. Entries that are read back
 * from disk may be damaged and must not decide which entries are skipped.
 */
export class CheckpointPlan {
  /** Ranges that the pass in log order skips, ascending. */
  readonly skipped: readonly EntryRange[];
  readonly #pace: Pace | undefined;
  /** Nodes whose last data write is in {@link lastWrites}, ascending. */
  readonly #nodes: Float64Array;
  /** The zxids of these writes, or DROPPED. */
  readonly #zxids: Float64Array;
  readonly #entryBytes: number;

  /**
   * @param after the last zxid in the state
   * @param upTo the last zxid of the checkpoint; this entry is always read in log order
   * @param rowBytesMax bytes of rows that fit in the arena: more of them are written in node order
   */
  constructor(
    marks: readonly MarkedWrites[],
    { after, upTo, rowBytesMax }: { readonly after: Zxid; readonly upTo: Zxid; readonly rowBytesMax: number },
    pace?: Pace,
  ) {
    this.#pace = pace;
    const writes = writesBetween(marks, after, upTo);
    const bytes = marks.reduce((sum, mark) => sum + mark.bytes, 0);
    this.#entryBytes = bytes / Math.max(1, writes.zxids.length);
    const last = this.#lastOf(writes);
    const isByNode = this.#entryBytes < SMALL_BYTES && last.length * this.#entryBytes > rowBytesMax;
    const isKept = new Uint8Array(writes.zxids.length);
    if (!isByNode) for (const at of last) isKept[at] = 1;
    this.skipped = this.#rangesOf(writes.zxids, isKept);
    const left = isByNode ? last.filter((at) => isWithin(this.skipped, writes.zxids[at] as Zxid)) : NONE;
    this.#nodes = Float64Array.from(left, (at) => writes.nodes[at] as number);
    this.#zxids = Float64Array.from(left, (at) => writes.zxids[at] as number);
  }

  /** Whether the checkpoint uses node order. */
  get hasLastWrites(): boolean {
    return this.#zxids.length > 0;
  }

  /**
   * Removes the last data write of a node: the transaction `zxid`, which is later, replaces or
   * deletes it.
   */
  drop(node: number, zxid: Zxid): void {
    const at = indexOf(this.#nodes, node);
    if (at !== -1 && (this.#zxids[at] as number) < zxid) this.#zxids[at] = DROPPED;
  }

  /**
   * The zxids of the last writes in groups of about `groupBytes`. Groups are disjoint ranges of
   * node ids; the zxids of a group ascend.
   */
  *lastWrites(groupBytes: number): Generator<Float64Array> {
    const count = Math.max(1, Math.floor(groupBytes / Math.max(1, this.#entryBytes)));
    for (let from = 0; from < this.#zxids.length; from += count) {
      yield this.#zxids
        .slice(from, from + count)
        .filter((zxid) => zxid !== DROPPED)
        .sort();
    }
  }

  /** Runs of consecutive data writes that are not kept, without short ones. */
  #rangesOf(zxids: Float64Array, isKept: Uint8Array): EntryRange[] {
    const countMin = Math.ceil(ENTRIES_PER_RANGE / (1 + this.#entryBytes / BYTES_PER_ENTRY));
    const ranges: EntryRange[] = [];
    for (let from = 0; from < zxids.length; ) {
      let to = from;
      while (to < zxids.length && isKept[to] === 0 && zxids[to] === (zxids[from] as number) + to - from) to++;
      if (to - from >= countMin) ranges.push({ first: zxids[from] as Zxid, last: zxids[to - 1] as Zxid });
      from = Math.max(to, from + 1);
    }
    return ranges;
  }

  /** The indexes of those writes that are the last of their nodes, in node order. */
  #lastOf({ nodes, zxids }: DataWriteRun): Uint32Array {
    const keys = new Float64Array(zxids.length);
    for (let at = 0; at < keys.length; at++) keys[at] = (nodes[at] as number) * DATA_WRITES_MAX + at;
    keys.sort();
    const last = new Uint32Array(keys.length);
    let count = 0;
    for (let i = 0; i < keys.length; i++) {
      if (i % WRITES_PER_STEP === 0) this.#pace?.step(0);
      const at = (keys[i] as number) % DATA_WRITES_MAX;
      const next = i + 1 < keys.length ? (keys[i + 1] as number) % DATA_WRITES_MAX : -1;
      if (next === -1 || nodes[next] !== nodes[at]) last[count++] = at;
    }
    return last.subarray(0, count);
  }
}

interface DataWriteRun {
  readonly zxids: Float64Array;
  readonly nodes: Float64Array;
}

/**
 * The data writes between two positions, without the first entry of an epoch: the checkpoint must
 * read that entry, because only its chain proves that no entry of the previous epoch is missing.
 */
function writesBetween(marks: readonly MarkedWrites[], after: Zxid, upTo: Zxid): DataWriteRun {
  let total = 0;
  for (const { dataWrites } of marks) total += (dataWrites?.length ?? 0) / 2;
  const zxids = new Float64Array(Math.min(total, DATA_WRITES_MAX));
  const nodes = new Float64Array(zxids.length);
  let count = 0;
  for (const { dataWrites = NO_WRITES } of marks) {
    for (let i = 0; i < dataWrites.length && count < zxids.length; i += 2) {
      const zxid = dataWrites[i] as Zxid;
      const node = dataWrites[i + 1] as number;
      if (zxid <= after || zxid >= upTo || node >= NODE_LIMIT || counterOf(zxid) === 1) continue;
      zxids[count] = zxid;
      nodes[count] = node;
      count++;
    }
  }
  return { zxids: zxids.subarray(0, count), nodes: nodes.subarray(0, count) };
}

const NO_WRITES = new Float64Array(0);

/** The index of a number in ascending ones, or -1. */
function indexOf(ascending: Float64Array, wanted: number): number {
  const at = firstAtLeast(ascending.length, wanted, (i) => ascending[i] as number);
  return ascending[at] === wanted ? at : -1;
}

function isWithin(ranges: readonly EntryRange[], zxid: Zxid): boolean {
  const at = firstAtLeast(ranges.length, zxid, (i) => (ranges[i] as EntryRange).last);
  return (ranges[at]?.first ?? Number.POSITIVE_INFINITY) <= zxid;
}

/**
 * The first index whose value, in ascending order, is not below the wanted one; `count` if there is
 * none.
 */
function firstAtLeast(count: number, wanted: number, valueAt: (index: number) => number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (valueAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
