/**
 * Who stands where in a line of sequential children. Curator compares what follows the marker as text, kazoo and Go the number; for numbers of ten
 * digits all agree, and so do we. Names without one stand where Curator puts them, by the whole name.
 */
import { RecipeError } from "../recipe-error.ts";

const DIGITS = 10;
const NUMBERED = /\d{10}$/;
/** A number with its sign, behind the hyphen or underscores of a marker. */
const NEGATIVE = /[-_|]-\d{9,10}$/;

/**
 * The children in the order in which they came; equal numbers stay as they were listed.
 *
 * @throws SEQUENCE_OVERFLOW where a number is negative: no two clients order such lines alike
 */
export function inOrder(names: readonly string[]): readonly string[] {
  refuseOverflown(names);
  return names
    .map((name) => ({ name, key: sequenceKey(name) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ name }) => name);
}

/** @throws SEQUENCE_OVERFLOW where a number is negative */
export function refuseOverflown(names: readonly string[]): void {
  const overflown = names.find((name) => NEGATIVE.test(name));
  if (overflown === undefined) return;
  const message = `the sequence numbers have run over, as ${overflown} shows: delete the parent when it is empty`;
  throw new RecipeError("SEQUENCE_OVERFLOW", message);
}

/** The ten digits at a name's end, or the whole name. */
export function sequenceKey(name: string): string {
  return NUMBERED.test(name) ? name.slice(-DIGITS) : name;
}
