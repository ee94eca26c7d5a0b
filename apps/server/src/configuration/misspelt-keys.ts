import { parseServerLine } from "@zooid/model";
import { distance } from "fastest-levenshtein";

/** Estates write it in other cases as well. */
const SYSTEM_PREFIX = /^zookeeper[._-]/i;

/**
 * The most letters by which a misspelt key differs from the known one; of short keys half of it, or
 * none.
 */
const DISTANCE_MAX = 2;
const LONG_CHARS_MIN = 7;
const SHORT_CHARS_MAX = 4;

/** Fewer letters begin many keys. */
const BEGUN_CHARS_MIN = 3;

/** The share of its letters that may differ for a known key to be named as the nearest one. */
const UNLIKENESS_MAX = 0.4;

/**
 * The last parts of a key, like `superDigest`, name it alone if they are this long; shorter ones,
 * like `enabled`, end many keys.
 */
const LAST_PART_CHARS_MIN = 9;

/** The matters that settings decide whose misspelling ends the start. */
export const WHAT_GUARDS_DECIDE = "decides about votes, access, addresses or durability";

/** The heads of keys that list the members. */
const MEMBER_HEADS = ["server", "group", "weight"];

/** The known key that an unknown one may have been meant for. */
export interface Misspelling {
  /** The nearest known key; undefined where none is near. */
  readonly nearest?: string;
  /** Why the start must not continue without this setting; undefined where it may. */
  readonly danger?: string;
  /** The setting that the danger is about. */
  readonly guarded?: string;
}

export interface KnownNames {
  /** Every known key. */
  readonly known: readonly string[];
  /** Keys of which a misspelling ends the start. */
  readonly guarding: readonly string[];
  /** The beginnings of such keys, each with a dot at its end. */
  readonly families: readonly string[];
}

/**
 * Compares unknown keys with the known ones. A setting that decides which servers vote, who may
 * enter, where the server listens or which data are durable must not be lost by a slip of the pen:
 * its neighbours end the start.
 */
export class MisspeltKeys {
  readonly #names: KnownNames;

  constructor(names: KnownNames) {
    this.#names = names;
  }

  /** For a key that has no rule. */
  find(key: string, value: string): Misspelling {
    const bare = key.replace(SYSTEM_PREFIX, "");
    if (isMemberLike(bare, value))
      return {
        guarded: "server.N",
        danger: "is none of server.N, group.N and weight.N, with N from 0 to 254, and these decide which servers vote",
      };
    // No other server has such keys, so that each unknown one is a mistake.
    if (/^zooid\./i.test(bare)) return { ...this.#nearest(bare), danger: "is not a known setting of Zooid" };
    const guarded = this.#guarded(bare);
    if (guarded.danger !== undefined) return guarded;
    return value === "" ? (this.#begun(bare) ?? this.#nearest(bare)) : this.#nearest(bare);
  }

  /**
   * For the beginning of a key without a value: a file that is cut off there, or being written, has
   * lost what follows.
   */
  #begun(bare: string): Misspelling | undefined {
    if (bare.length < BEGUN_CHARS_MIN) return undefined;
    const known = this.#names.guarding.find((key) => key.startsWith(bare));
    if (known === undefined) return undefined;
    return {
      guarded: known,
      danger: `is the beginning of ${known}, which ${WHAT_GUARDS_DECIDE}, and has no value: the file seems to be cut off here`,
    };
  }

  /** For a key that only a family of ignored keys has: it may be one of those, and of no member. */
  findInFamily(key: string): Misspelling {
    return this.#guarded(key.replace(SYSTEM_PREFIX, ""), stepsBetween);
  }

  #guarded(bare: string, stepsOf = stepsTo): Misspelling {
    const { guarding, families } = this.#names;
    const near = [
      ...guarding.map((known) => ({ known, steps: stepsOf(bare, known) })),
      ...families.map((known) => ({ known, steps: stepsToFamily(bare, known) })),
    ].filter(({ steps }) => steps <= DISTANCE_MAX);
    const [first] = near.toSorted((a, b) => a.steps - b.steps);
    if (first === undefined) return {};
    return {
      guarded: first.known,
      danger: `is not a known setting; ${first.known} is, and ${WHAT_GUARDS_DECIDE}: correct this line or remove it`,
    };
  }

  #nearest(bare: string): Misspelling {
    let nearest = "";
    let least = Number.POSITIVE_INFINITY;
    for (const known of this.#names.known) {
      const steps = distance(bare.toLowerCase(), known.toLowerCase());
      if (steps < least) {
        least = steps;
        nearest = known;
      }
    }
    return least <= bare.length * UNLIKENESS_MAX ? { nearest } : {};
  }
}

/** Whether a line was probably meant to list a member: by the head of its key, or by its value. */
function isMemberLike(bare: string, value: string): boolean {
  const lower = bare.toLowerCase();
  const head = /^[a-z]+/.exec(lower)?.[0] ?? "";
  const behind = lower.slice(head.length);
  if (MEMBER_HEADS.includes(head) && /^(?:$|\W|_|\d)/.test(behind)) return true;
  if (/^\.\d/.test(behind) && MEMBER_HEADS.some((known) => distance(head, known) <= DISTANCE_MAX)) return true;
  if (behind === "" && MEMBER_HEADS.some((known) => distance(head, known) <= 1)) return true;
  return typeof parseServerLine(value) !== "string";
}

/**
 * The letters in which two keys differ, beside case, dots, hyphens and parts in front of either;
 * infinite for those that are not near.
 */
function stepsTo(bare: string, known: string): number {
  const steps = [stepsBetween(bare, known)];
  const [tails, knownTails] = [tailsOf(bare), tailsOf(known)];
  if (known.length >= LONG_CHARS_MIN && tails.some((tail) => plain(tail) === plain(known))) steps.push(0);
  for (const tail of knownTails) {
    if (plain(tail).length < LAST_PART_CHARS_MIN) continue;
    const apart = distance(plain(bare), plain(tail));
    if (apart <= 1) steps.push(apart);
  }
  return Math.min(...steps);
}

/**
 * The same for a key of a family, like authProvider.1: the part before its last dot, or before its
 * number, is compared.
 */
function stepsToFamily(bare: string, family: string): number {
  const heads = [bare.slice(0, bare.lastIndexOf(".") + 1), withoutNumber(bare)].filter((head) => head !== "");
  return Math.min(Number.POSITIVE_INFINITY, ...heads.map((head) => limited(plain(head), plain(family))));
}

/** Empty for a key that ends in no number. */
function withoutNumber(key: string): string {
  let end = key.length;
  while (end > 0 && /\d/.test(key[end - 1] ?? "")) end--;
  return end === key.length ? "" : key.slice(0, end);
}

/**
 * The letters in which two names differ, beside case, dots, hyphens and underscores; infinite for
 * those that are not near.
 */
export function stepsBetween(name: string, known: string): number {
  return limited(plain(name), plain(known));
}

function limited(key: string, known: string): number {
  const steps = distance(key, known);
  return steps <= distanceMax(known.length) ? steps : Number.POSITIVE_INFINITY;
}

function distanceMax(length: number): number {
  if (length >= LONG_CHARS_MIN) return DISTANCE_MAX;
  return length > SHORT_CHARS_MAX ? 1 : 0;
}

/** `b.c` and `c` of `a.b.c` */
function tailsOf(key: string): readonly string[] {
  const parts = key.split(".");
  return parts.slice(1).map((_, i) => parts.slice(i + 1).join("."));
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[._-]/g, "");
}
