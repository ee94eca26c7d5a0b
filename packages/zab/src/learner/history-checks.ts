import {
  type EntriesMessage,
  type EpochRange,
  epochOf,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  mayFollow,
  type Zxid,
} from "@zooid/model";

/**
 * Checks of a leader's messages about a history, made before the log has it: the log asserts the
 * same of every write, and a server whose log fails stops.
 */

/**
 * Whether the entries of a run follow each other without gaps, after the position that it names.
 * There is one at least.
 */
export function isUnbroken({ bytes, start, end, previous, first, last }: EntriesMessage): boolean {
  let before = previous;
  for (let at = start; at < end; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
    const zxid = frameZxid(bytes, at);
    if (!mayFollow(before, zxid)) return false;
    before = zxid;
  }
  return start < end && before === last && frameZxid(bytes, start) === first;
}

/** Whether these can be the epochs of a history up to a position. */
export function areEpochsUpTo(epochs: readonly EpochRange[], end: Zxid): boolean {
  let before = -1;
  for (const { epoch, first, last } of epochs) {
    if (epoch <= before || last < first || last > COUNTER_MAX) return false;
    before = epoch;
  }
  return before <= epochOf(end);
}

const COUNTER_MAX = 2 ** 32 - 1;
