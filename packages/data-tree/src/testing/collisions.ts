import { isValidPath, sliceOf } from "@zooid/model";

/**
 * For tests: names that MurmurHash3-32 gives one hash, whatever its seed. A difference of
 * 0x00040000 in what a word is mixed to is one of 0x80000000 in the hash behind the word, through
 * the rotation and the multiplication; the same difference in what the next word is mixed to takes
 * it away again. So each pair of words has two forms, and names of n pairs are 2^n.
 */

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;
const C1_INVERSE = 0xdee13bb1;
const C2_INVERSE = 0x56ed309b;

function mix(word: number): number {
  const spread = Math.imul(word, C1);
  return Math.imul((spread << 15) | (spread >>> 17), C2);
}

function unmix(mixed: number): number {
  const rotated = Math.imul(mixed, C2_INVERSE);
  return Math.imul((rotated << 17) | (rotated >>> 15), C1_INVERSE);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The word's bytes, little-endian, as text that a name may hold; undefined where they are none. */
function textOf(word: number): string | undefined {
  const bytes = Uint8Array.from({ length: 4 }, (_, i) => (word >>> (i * 8)) & 0xff);
  try {
    const text = utf8.decode(bytes);
    return /^[^/.\s]+$/u.test(text) && isName(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isName(text: string): boolean {
  const { bytes, start, end } = sliceOf(`/${text}`);
  return isValidPath(bytes, start, end);
}

/** A word that is text in both forms. */
function twin(difference: number): readonly [string, string] {
  let word = 1;
  for (let tries = 0; tries < 10_000_000; tries++) {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0;
    const one = textOf(word);
    const other = one === undefined ? undefined : textOf(unmix(mix(word) ^ difference));
    if (one !== undefined && other !== undefined) return [one, other];
  }
  throw new Error(`no word is text in both forms of the difference ${difference}`);
}

/** @param count at most 2^26 */
export function collidingNames(count: number): string[] {
  const first = twin(0x0004_0000);
  const second = twin(0x8000_0000);
  const pairs = Math.max(1, Math.ceil(Math.log2(count)));
  return Array.from({ length: count }, (_, n) => {
    let name = "";
    for (let pair = 0; pair < pairs; pair++) {
      const form = (n >>> pair) & 1;
      name += first[form] as string;
      name += second[form] as string;
    }
    return name;
  });
}
