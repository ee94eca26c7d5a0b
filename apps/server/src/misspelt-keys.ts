import { parseServerLine } from "@zooid/model";
import { distance } from "fastest-levenshtein";
import type { KeyRule } from "./key-rule.ts";

const SYSTEM_PREFIX = /^zookeeper\./;

/** The most letters by which a misspelt key differs from the known one. */
const DISTANCE_MAX = 2;

/** What share of its letters may differ for a known key to be named as the nearest one. */
const UNLIKENESS_MAX = 0.4;

/** The last part of a key, like `superDigest`, names it alone if it is this long; shorter ones, like `enabled`, end many keys. */
const LAST_PART_CHARS_MIN = 9;

/** The heads of keys that list the members. */
const MEMBER_HEADS = ["server", "group", "weight"];

/** What an unknown key may have been meant for. */
export interface Misspelling {
  /** The nearest known key; undefined where none is near. */
  readonly nearest?: string;
  /** Why the start must not go on without this setting; undefined where it may. */
  readonly danger?: string;
}

/**
 * Compares unknown keys with the known ones. A setting that decides which servers vote, which clients may enter or which data are
 * durable must not be lost by a slip of the pen: its neighbours end the start.
 */
export class MisspeltKeys {
  readonly #known: readonly string[];
  readonly #guarding: readonly string[];

  /**
   * @param rules every known key
   * @param guarding keys, and beginnings of keys, of which a misspelling ends the start
   */
  constructor(rules: ReadonlyMap<string, KeyRule>, guarding: readonly string[]) {
    this.#known = [...rules.keys()];
    this.#guarding = guarding;
  }

  find(key: string, value: string): Misspelling {
    const bare = key.replace(SYSTEM_PREFIX, "");
    if (isMemberLike(bare, value))
      return {
        danger: "is none of server.N, group.N and weight.N, with N from 0 to 254, and these decide which servers vote",
      };
    // No other server has such keys, so that each unknown one is a mistake.
    if (/^zooid\./i.test(bare)) return { ...this.#nearest(bare), danger: "is not a known setting of Zooid" };
    const guarding = this.#guarding.find((known) => isNear(bare, known));
    if (guarding !== undefined)
      return {
        danger: `is not a known setting; ${guarding} is, and decides about access, votes or durability: correct this line or remove it`,
      };
    return this.#nearest(bare);
  }

  #nearest(bare: string): Misspelling {
    let nearest = "";
    let least = Number.POSITIVE_INFINITY;
    for (const known of this.#known) {
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
  return typeof parseServerLine(value) !== "string";
}

/** Whether two keys differ in two letters at most, or only in case, dots, hyphens and the parts before the last dot. */
function isNear(bare: string, known: string): boolean {
  if (plain(bare) === plain(known)) return true;
  // A family, like authProvider.1: the part before the last dot is compared.
  if (known.endsWith(".")) {
    const head = bare.slice(0, bare.lastIndexOf(".") + 1);
    return head !== "" && distance(head.toLowerCase(), known.toLowerCase()) <= DISTANCE_MAX;
  }
  if (distance(bare.toLowerCase(), known.toLowerCase()) <= DISTANCE_MAX) return true;
  const last = known.slice(known.lastIndexOf(".") + 1);
  return last.length >= LAST_PART_CHARS_MIN && last !== known && plain(bare) === plain(last);
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[._-]/g, "");
}
