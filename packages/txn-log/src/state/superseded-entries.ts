import { counterOf, ZXID_NONE, type Zxid } from "@zooid/model";
import type { StateMark } from "../state-store.ts";
import type { Pace } from "../threads/pace.ts";

/** Entries with consecutive zxids, none of them the first of its epoch. */
export interface EntryRange {
  readonly first: Zxid;
  readonly last: Zxid;
}

/** Nodes that are remembered at a time: some 4 MiB. Writes to others are read. */
const NODES_MAX = 65_536;
/** Going on behind a range costs as much as reading so many small entries. */
const ENTRIES_PER_RANGE = 16;
/** Reading so many bytes takes as long as reading a small entry. */
const BYTES_PER_ENTRY = 1024;
const WRITES_PER_STEP = 256;

/**
 * The entries of a fold whose only effect, a node's data, a later entry of the same fold replaces. Ranges that are too short to gain anything are
 * left out.
 *
 * What is noted with the marks comes from the memory of the thread that applied the entries, so that a damaged entry is not what decides
 * whether it is read.
 *
 * @param after where the state stands
 * @param upTo where the fold ends
 * @returns ascending
 */
export function supersededRanges(
  marks: readonly Pick<StateMark, "dataWrites" | "bytes">[],
  after: Zxid,
  upTo: Zxid,
  pace?: Pace,
): EntryRange[] {
  const later = new Set<number>();
  const ranges: EntryRange[] = [];
  const countMin = entriesPerRange(marks);
  let first = ZXID_NONE;
  let last = ZXID_NONE;
  const end = (): void => {
    if (last > ZXID_NONE && last - first + 1 >= countMin) ranges.push({ first, last });
  };
  for (const { dataWrites } of marks.toReversed()) {
    if (dataWrites === undefined) continue;
    for (let i = dataWrites.length - 2; i >= 0; i -= 2) {
      const zxid = dataWrites[i] as Zxid;
      const node = dataWrites[i + 1] as number;
      if (i % (2 * WRITES_PER_STEP) === 0) pace?.step(0);
      if (zxid <= after || zxid > upTo) continue;
      if (!later.has(node)) {
        if (later.size < NODES_MAX) later.add(node);
      } else if (counterOf(zxid) === 1) {
        // Only its chain tells whether the entries of the epoch before are all there.
      } else if (zxid === first - 1) {
        first = zxid;
      } else {
        end();
        first = zxid;
        last = zxid;
      }
    }
  }
  end();
  return ranges.reverse();
}

function entriesPerRange(marks: readonly Pick<StateMark, "dataWrites" | "bytes">[]): number {
  let bytes = 0;
  let count = 0;
  for (const mark of marks) {
    bytes += mark.bytes;
    count += (mark.dataWrites?.length ?? 0) / 2;
  }
  return Math.ceil(ENTRIES_PER_RANGE / (1 + bytes / Math.max(1, count) / BYTES_PER_ENTRY));
}
