/**
 * The order of sequential children. Curator compares the text behind the marker, kazoo and Go the
 * number; for numbers of ten digits all agree, and so do we. Names without a number are ordered by
 * the whole name, as in Curator.
 */
import { RecipeError } from "../recipe-error.ts";
import { type ChildForm, type ContenderForm, numberOf } from "./child-names.ts";

const DIGITS = 10;
const NUMBERED = /\d{10}$/;

/**
 * The contenders among the children, in order of their creation; equal numbers stay in the listed
 * order.
 *
 * @throws SEQUENCE_OVERFLOW for a negative number: clients do not agree on the order then
 */
export function contendersOf(names: readonly string[], form: ContenderForm | ChildForm): readonly string[] {
  return inOrder(names.filter((name) => isNumbered(name, form)));
}

/** Whether a child counts. @throws SEQUENCE_OVERFLOW for a negative number */
export function isNumbered(name: string, form: ContenderForm | ChildForm): boolean {
  const number = numberOf(name, form);
  if (number?.startsWith("-") !== true) return number !== undefined;
  const message = `the sequence numbers have run over, as ${name} shows: delete the parent when it is empty`;
  throw new RecipeError("SEQUENCE_OVERFLOW", message);
}

/** Names in the order of their numbers. */
export function inOrder(names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, key: sequenceKey(name) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ name }) => name);
}

/** The ten digits at a name's end, or the whole name. */
export function sequenceKey(name: string): string {
  return NUMBERED.test(name) ? name.slice(-DIGITS) : name;
}
