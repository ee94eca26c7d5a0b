import { type Acl, mix32, unkeyedHash32 } from "@zooid/model";

/**
 * The running digest that replicas compare: the sum of one 64-bit contribution for each node and
 * session, as two independent sums of 32 bits. A change takes the old contribution away and adds
 * the new one, so it costs what changed; sums have no order, so it does not tell how the state came
 * about. Nothing in it depends on where a server keeps things.
 */

/**
 * Seed of the hashes that go into the digest. It never changes: every server must compute the same
 * digest.
 */
export const DIGEST_SEED = 0x5a4f_4f49;

/** Two 32-bit hashes of one sequence of words. */
export class WordHash {
  #high = 0;
  #low = 0;

  start(kind: number): void {
    this.#high = kind;
    this.#low = ~kind;
  }

  word(word: number): void {
    let spread = Math.imul(word, 0xcc9e2d51);
    spread ^= spread >>> 15;
    const high = Math.imul(this.#high ^ spread, 0x9e3779b1);
    this.#high = (high << 13) | (high >>> 19);
    const low = Math.imul(this.#low + spread, 0x85ebca6b);
    this.#low = low ^ (low >>> 15);
  }

  /** Consecutive big-endian words: the same as {@link word} for each, faster. */
  words(view: DataView, at: number, count: number): void {
    let high = this.#high;
    let low = this.#low;
    for (const end = at + count * 4; at < end; at += 4) {
      let spread = Math.imul(view.getInt32(at), 0xcc9e2d51);
      spread ^= spread >>> 15;
      high = Math.imul(high ^ spread, 0x9e3779b1);
      high = (high << 13) | (high >>> 19);
      low = Math.imul(low + spread, 0x85ebca6b);
      low ^= low >>> 15;
    }
    this.#high = high;
    this.#low = low;
  }

  /** A whole number up to 2^53. */
  long(value: number): void {
    this.word(Math.floor(value / 2 ** 32));
    this.word(value | 0);
  }

  get high(): number {
    return mix32(this.#high ^ this.#low);
  }

  get low(): number {
    return mix32(this.#low + Math.imul(this.#high, 0x27d4eb2f));
  }
}

export class Digest {
  high = 0;
  low = 0;

  add(high: number, low: number): void {
    this.high = (this.high + high) | 0;
    this.low = (this.low + low) | 0;
  }

  subtract(high: number, low: number): void {
    this.high = (this.high - high) | 0;
    this.low = (this.low - low) | 0;
  }
}

const IS_LITTLE_ENDIAN: boolean = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;

/**
 * 32 bits about a run of bytes that begins at a word of its buffer. Four lanes that do not wait for
 * each other make it several times as fast as unkeyedHash32, which matters for data. A change of
 * any one word changes its lane.
 */
export function hashWords(words: Int32Array, first: number, byteLength: number): number {
  let a: number = DIGEST_SEED;
  let b = ~a;
  let c: number = byteLength;
  let d = ~c;
  const end = first + (byteLength >> 2);
  let at = first;
  if (IS_LITTLE_ENDIAN) {
    for (; at + 3 < end; at += 4) {
      a = lane(a, words[at]);
      b = lane(b, words[at + 1]);
      c = lane(c, words[at + 2]);
      d = lane(d, words[at + 3]);
    }
  }
  for (; at < end; at++) {
    const next = lane(a, littleEndian(words[at]));
    a = b;
    b = c;
    c = d;
    d = next;
  }
  const rest = byteLength & 3;
  if (rest !== 0) a = lane(a, littleEndian(words[end]) & ((1 << (rest * 8)) - 1));
  // Mixing in between keeps equal differences of two lanes from meeting.
  return mix32(lane(mix32(lane(mix32(lane(mix32(a), b)), c)), d));
}

/**
 * The word is mixed before it joins: else its top bit and a lower one of the lane's next word would
 * cancel each other.
 */
function lane(hash: number, word: number): number {
  const spread = Math.imul(word, 0x85ebca6b);
  const mixed = Math.imul(hash ^ spread ^ (spread >>> 15), 0x9e3779b1);
  return (mixed << 13) | (mixed >>> 19);
}

function littleEndian(word: number): number {
  if (IS_LITTLE_ENDIAN) return word;
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

/** Begins with the kind of what is hashed, so that a node never cancels out a session. */
export const DigestKind = { NODE: 1, SESSION: 2, ACL: 3, LEVEL: 4 } as const;

export function hashAcl(into: WordHash, acl: Acl): void {
  into.start(DigestKind.ACL);
  into.word(acl.length);
  for (const entry of acl) {
    into.word(entry.perms);
    hashText(into, entry.scheme);
    hashText(into, entry.id);
  }
}

export function hashBytes(into: WordHash, bytes: Uint8Array, start: number, end: number): void {
  into.word(end - start);
  into.word(unkeyedHash32(bytes, start, end, DIGEST_SEED));
}

function hashText(into: WordHash, text: string): void {
  into.word(text.length);
  for (let i = 0; i < text.length; i++) into.word(text.charCodeAt(i));
}
