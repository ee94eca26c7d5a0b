import { composeZxid, counterOf, type EpochRange, epochOf, ZXID_NONE, type Zxid } from "@zooid/model";

/**
 * The newest epochs of a log and how far each goes, newest first: what a learner reports to its
 * leader.
 */
export interface Tail {
  readonly epoch: number;
  readonly last: number;
}

/** Most tails that a learner sends. */
export const TAILS_MAX = 64;

/** The tails of a log, newest first, down to the epoch of its floor. */
export function tailsOf(epochs: readonly EpochRange[], floor: Zxid): readonly Tail[] {
  const tails: Tail[] = [];
  for (let i = epochs.length - 1; i >= 0 && tails.length < TAILS_MAX; i--) {
    const range = epochs[i];
    if (range === undefined || range.epoch < epochOf(floor)) break;
    tails.push({ epoch: range.epoch, last: range.last });
  }
  return tails;
}

/**
 * The last entry that two logs have in common.
 *
 * Within one epoch every log is a prefix of what that epoch's leader proposed, and two logs that
 * both hold an entry of an epoch agree on everything before it. So the newest epoch that both know
 * decides.
 *
 * @param theirs newest first
 * @param ours oldest first
 * @returns {@link ZXID_NONE} when they share nothing that the tables know of
 */
export function commonPoint(theirs: readonly Tail[], ours: readonly EpochRange[]): Zxid {
  for (const { epoch, last } of theirs) {
    const range = ours.find((each) => each.epoch === epoch);
    // rule: an-epoch-is-shared-as-far-as-both-have-it
    if (range !== undefined) return composeZxid(epoch, Math.min(last, range.last));
  }
  return ZXID_NONE;
}

/**
 * An epoch table in which the epoch of `last` ends there: entries proposed and not yet on disk
 * count too.
 */
export function tableThrough(epochs: readonly EpochRange[], last: Zxid): readonly EpochRange[] {
  const counter = counterOf(last);
  if (counter === 0) return epochs;
  const epoch = epochOf(last);
  const newest = epochs.at(-1);
  if (newest !== undefined && newest.epoch === epoch) return [...epochs.slice(0, -1), { ...newest, last: counter }];
  return [...epochs, { epoch, first: 1, last: counter }];
}
