import { counterOf, type Zxid } from "@zooid/model";
import type { StateMark } from "../state-store.ts";
import type { Pace } from "../threads/pace.ts";

/** Entries with consecutive zxids, none of them the first of its epoch. */
export interface EntryRange {
  readonly first: Zxid;
  readonly last: Zxid;
}

type NotedMark = Pick<StateMark, "dataWrites" | "bytes">;

/** Going on behind a range costs as much as reading so many small entries. */
const ENTRIES_PER_RANGE = 16;
/** Reading so many bytes takes as long as reading a small entry. */
const BYTES_PER_ENTRY = 1024;
const WRITES_PER_STEP = 256;
/** Node and place of a write are sorted as one number. What is noted beyond these limits is read like any other entry. */
export const NOTED_WRITES_MAX: number = 2 ** 20;
const NODE_LIMIT = 2 ** 32;
/** Several rows of less share a page of the state file. */
const SMALL_BYTES = 4096;
const DROPPED = 0;
const NONE = new Uint32Array(0);

/**
 * What a fold reads of the log, and in which order. Of the noted writes ({@link StateMark.dataWrites}) to each node it reads the last one.
 *
 * ```
 *  log            │ create │ set b │ set a │ set a │ multi │ set a │ set c │ set a │ delete │
 *
 *  in its order   │ create │ set b │               │ multi │       │ set c │ set a │ delete │      what is replaced is skipped
 *  by node        │ create │                       │ multi │                       │ delete │      all writes are skipped;
 *                 set a, set b, set c                                                              then the last ones, in the order of nodes
 * ```
 *
 * It goes by node where the last writes are many and small, so that each page of the state file, which has several nodes, is visited once. Ranges
 * that are too short to gain anything are not skipped.
 *
 * What is noted comes from the memory of the thread that applied the entries, so that a damaged entry does not decide whether it is read.
 */
export class FoldPlan {
  /** Not read in the order of the log. Ascending. */
  readonly skipped: readonly EntryRange[];
  readonly #pace: Pace | undefined;
  /** Nodes whose last noted write is left for {@link lastWrites}, ascending. */
  readonly #nodes: Float64Array;
  /** The zxids of these writes, or DROPPED. */
  readonly #zxids: Float64Array;
  readonly #entryBytes: number;

  /**
   * @param after where the state stands
   * @param upTo where the fold ends; its last entry is read in the order of the log
   * @param rowBytesMax of what is read in the order of the log, so much at a time is written in the order of nodes
   */
  constructor(
    marks: readonly NotedMark[],
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

  /** Whether it reads by node. */
  get hasLastWrites(): boolean {
    return this.#zxids.length > 0;
  }

  /** A later write to a node, or its end, makes what was noted before obsolete. */
  drop(node: number, zxid: Zxid): void {
    const at = indexOf(this.#nodes, node);
    if (at !== -1 && (this.#zxids[at] as number) < zxid) this.#zxids[at] = DROPPED;
  }

  /**
   * The last writes in groups of about so many bytes, each of them for nodes between those of the groups before and behind; the zxids of a
   * group ascend, so that it is read in the order of the log.
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

  /** Runs of noted writes without those that are kept, long enough to gain something. */
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

  /** The places of those writes that are the last of their nodes, in the order of nodes. */
  #lastOf({ nodes, zxids }: NotedWrites): Uint32Array {
    const keys = new Float64Array(zxids.length);
    for (let at = 0; at < keys.length; at++) keys[at] = (nodes[at] as number) * NOTED_WRITES_MAX + at;
    keys.sort();
    const last = new Uint32Array(keys.length);
    let count = 0;
    for (let i = 0; i < keys.length; i++) {
      if (i % WRITES_PER_STEP === 0) this.#pace?.step(0);
      const at = (keys[i] as number) % NOTED_WRITES_MAX;
      const next = i + 1 < keys.length ? (keys[i + 1] as number) % NOTED_WRITES_MAX : -1;
      if (next === -1 || nodes[next] !== nodes[at]) last[count++] = at;
    }
    return last.subarray(0, count);
  }
}

interface NotedWrites {
  readonly zxids: Float64Array;
  readonly nodes: Float64Array;
}

/** What is noted between two positions, without the first entry of an epoch: only its chain tells whether the entries before are all there. */
function writesBetween(marks: readonly NotedMark[], after: Zxid, upTo: Zxid): NotedWrites {
  let noted = 0;
  for (const { dataWrites } of marks) noted += (dataWrites?.length ?? 0) / 2;
  const zxids = new Float64Array(Math.min(noted, NOTED_WRITES_MAX));
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

/** The place of a number among ascending ones, or -1. */
function indexOf(ascending: Float64Array, wanted: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === wanted ? low : -1;
}

function isWithin(ranges: readonly EntryRange[], zxid: Zxid): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as EntryRange).last < zxid) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.first ?? Number.POSITIVE_INFINITY) <= zxid;
}
