/**
 * The order of sequential children. Curator compares the text behind the marker, kazoo and Go the
 * number; for numbers of ten digits all agree, and so do we. Names without a number are ordered by
 * the whole name, as in Curator.
 */
import { RecipeError } from "../recipe-error.ts";

const DIGITS = 10;
const NUMBERED = /\d{10}$/;
/** A negative number, behind the hyphen or underscores of a marker. */
const NEGATIVE = /[-_|]-\d{9,10}$/;

/** A number of ten digits at a name's end, or a negative one. */
const NUMBER = /(?:\d{10}|-\d{9,10})$/;

/** What the contenders of a directory are named: other children neither wait nor are waited for. */
export type ContenderForm = "lock" | "latch" | "lease" | "candidate";

/**
 * What Curator's, Go's and our clients put before a marker (`_c_<uuid>-`), kazoo's subclasses (`<hex>` or `<hex>-`), or nothing, the markers, and
 * a number of ten digits, or a negative one.
 */
const FORMS: Readonly<Record<Exclude<ContenderForm, "candidate">, RegExp>> = {
  // The names of all clients' locks, for readers and writers too: every client that shares a directory is waited for.
  lock: /^(?:(?:_c_)?[0-9a-f-]{32,36}-?)?(?:lock-|__lock__|__rlock__|__READ__|__WRIT__|read-|write-)-?\d{9,10}$|^x-.*-\d{10}$/i,
  latch: /^(?:_c_[0-9a-f-]{32,36}-)?latch--?\d{9,10}$/i,
  lease: /^(?:_c_[0-9a-f-]{32,36}-)?lease--?\d{9,10}$/i,
};

export function isContender(name: string, form: ContenderForm): boolean {
  // Of a latch, or of a selector, whose nodes are those of a lock.
  if (form === "candidate") return FORMS.latch.test(name) || FORMS.lock.test(name);
  return FORMS[form].test(name);
}

/**
 * The children in order of their creation; equal numbers stay in the listed order.
 *
 * @throws SEQUENCE_OVERFLOW for a negative number: clients do not agree on the order then
 */
export function inOrder(names: readonly string[]): readonly string[] {
  refuseOverflown(names);
  return names
    .map((name) => ({ name, key: sequenceKey(name) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ name }) => name);
}

/** @throws SEQUENCE_OVERFLOW for a negative number */
export function refuseOverflown(names: readonly string[]): void {
  const overflown = names.find((name) => NEGATIVE.test(name));
  if (overflown === undefined) return;
  const message = `the sequence numbers have run over, as ${overflown} shows: delete the parent when it is empty`;
  throw new RecipeError("SEQUENCE_OVERFLOW", message);
}

/** Whether a name begins and ends as those of a recipe's items: other children of its path are none. */
export function isNumbered(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && NUMBER.test(name);
}

/** The ten digits at a name's end, or the whole name. */
export function sequenceKey(name: string): string {
  return NUMBERED.test(name) ? name.slice(-DIGITS) : name;
}
