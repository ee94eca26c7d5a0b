import { checkArgument } from "../arguments/checks.ts";
import type { Rule } from "../arguments/rules.ts";

/**
 * A transaction's place in the history of an ensemble: the epoch of the leader that proposed it in
 * the high 32 bits, its place within that epoch in the low 32.
 *
 * In code it is a number, `epoch * 2^32 + counter`, which is exact for every epoch below
 * {@link EPOCH_MAX}; so zxids compare with `<` and cost nothing. On the wire and on disk it is a
 * signed 64-bit integer.
 */
export type Zxid = number & { readonly __brand: "Zxid" };

/** No transaction: smaller than every real zxid. */
export const ZXID_NONE: Zxid = 0 as Zxid;

/** The first epoch that a leader refuses: at 2^21 a zxid would no longer fit a double exactly. */
export const EPOCH_MAX: number = 2 ** 21 - 1;

/** The epoch from which operators are warned that {@link EPOCH_MAX} comes nearer. */
export const EPOCH_ALARM: number = 2 ** 20;

/**
 * The counter at which a leader stops admitting writes and transfers leadership, well before the
 * counter would wrap.
 */
export const COUNTER_TRANSFER: number = 0xfff0_0000;

const COUNTER_SPAN = 2 ** 32;

/** Puts an epoch (below 2^21) and a counter (unsigned, 32 bits) together. */
export function composeZxid(epoch: number, counter: number): Zxid {
  return (epoch * COUNTER_SPAN + counter) as Zxid;
}

export function epochOf(zxid: Zxid): number {
  return Math.floor(zxid / COUNTER_SPAN);
}

/**
 * The place within the epoch, unsigned. Zero is the epoch's start marker and never names a
 * transaction.
 */
export function counterOf(zxid: Zxid): number {
  return zxid % COUNTER_SPAN;
}

/** The transaction that follows in the same epoch. */
export function nextZxid(zxid: Zxid): Zxid {
  return (zxid + 1) as Zxid;
}

/**
 * Whether an entry may follow a position of the log: the next counter of the epoch, or the first of
 * a later one.
 */
export function mayFollow(position: Zxid, next: Zxid): boolean {
  if (next <= position) return false;
  return epochOf(next) === epochOf(position) ? next === position + 1 : counterOf(next) === 1;
}

/** High 32 bits as the wire carries them; -1 for the zxid -1 that marks "none" in some replies. */
export function zxidHigh(zxid: number): number {
  return zxid < 0 ? -1 : Math.floor(zxid / COUNTER_SPAN) | 0;
}

/** Low 32 bits as the wire carries them, as a signed integer. */
export function zxidLow(zxid: number): number {
  return zxid < 0 ? zxid | 0 : (zxid % COUNTER_SPAN) | 0;
}

/**
 * Reads a zxid back from its two signed 32-bit halves.
 *
 * @returns a number that compares correctly even for values that no Zooid server writes (negative,
 *   or epochs past 2^21, where the lowest bits are rounded away)
 */
export function zxidFromHalves(high: number, low: number): Zxid {
  return (high * COUNTER_SPAN + (low >>> 0)) as Zxid;
}

export function earlierOf(a: Zxid, b: Zxid): Zxid {
  return a < b ? a : b;
}

export function laterOf(a: Zxid, b: Zxid): Zxid {
  return a > b ? a : b;
}

const zxidRule: Rule = {
  expected: "a whole number",
  accepts: (value) => Number.isInteger(value),
};

/** As operators read it: `0x` and lower-case hexadecimal without padding. */
export function formatZxid(zxid: Zxid): string {
  checkArgument("formatZxid", "a zxid", zxid, zxidRule);
  return `0x${zxid.toString(16)}`;
}

/** Reads `0x`-prefixed or bare hexadecimal; throws a RangeError that names what was found. */
export function parseZxid(text: string): Zxid {
  if (!/^(0x)?[0-9a-f]{1,16}$/i.test(text))
    throw new RangeError(`a zxid is hexadecimal like 0x100000002, found "${text}"`);
  const value = Number.parseInt(text.replace(/^0x/i, ""), 16);
  if (value >= EPOCH_MAX * COUNTER_SPAN) throw new RangeError(`zxid ${text} lies beyond epoch ${EPOCH_MAX}`);
  return value as Zxid;
}
