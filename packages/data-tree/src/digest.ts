import { type Acl, hash32, mix32 } from "@zooid/model";

/**
 * The running digest that replicas compare: the sum of one 64-bit contribution for each node and session, as two independent
 * sums of 32 bits. A change takes the old contribution away and adds the new one, so it costs what changed; sums have no order, so
 * it does not tell how the state came about. Nothing in it depends on where a server keeps things.
 */

/** Of the hashes whose values go into the digest: the same on every server and for ever. */
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
    const high = Math.imul(this.#high ^ word, 0x9e3779b1);
    this.#high = (high << 13) | (high >>> 19);
    const low = Math.imul(this.#low + word, 0x85ebca6b);
    this.#low = low ^ (low >>> 15);
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

  add(hash: WordHash): void {
    this.high = (this.high + hash.high) | 0;
    this.low = (this.low + hash.low) | 0;
  }

  subtract(hash: WordHash): void {
    this.high = (this.high - hash.high) | 0;
    this.low = (this.low - hash.low) | 0;
  }
}

/** Begins with the kind of what is hashed, so that a node never cancels out a session. */
export const DigestKind = { NODE: 1, SESSION: 2, ACL: 3 } as const;

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
  into.word(hash32(bytes, start, end, DIGEST_SEED));
}

function hashText(into: WordHash, text: string): void {
  into.word(text.length);
  for (let i = 0; i < text.length; i++) into.word(text.charCodeAt(i));
}
