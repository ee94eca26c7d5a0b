import { CHAIN_NONE, type Chain, type Zxid, zxidHigh, zxidLow } from "@zooid/model/storage";

/**
 * Eight bytes that stand for a history: a mix of the predecessor's chain, the zxid, the length and
 * the CRC-32 of the record.
 *
 * It finds accidents (a flipped bit, a row lost or moved) and lets two servers compare whole
 * prefixes by one value. It is no secret and no defence against forgery. An unsigned 64-bit
 * `bigint` at the interface, two 32-bit halves where it is computed.
 */
export { CHAIN_NONE, type Chain };

export function chainFromHalves(high: number, low: number): Chain {
  return ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)) as Chain;
}

export function chainHigh(chain: Chain): number {
  return Number(BigInt.asIntN(32, chain >> 32n));
}

export function chainLow(chain: Chain): number {
  return Number(BigInt.asIntN(32, chain));
}

/** As logs and messages show it: 16 hexadecimal digits. */
export function formatChain(chain: Chain): string {
  return chain.toString(16).padStart(16, "0");
}

/** A chain that moves along a history, without making anything on the way. */
export class ChainCursor {
  high = 0;
  low = 0;

  /** Stands on a position's chain. */
  set(chain: Chain): void {
    this.high = chainHigh(chain);
    this.low = chainLow(chain);
  }

  /** Moves over one entry. */
  add(zxid: Zxid, length: number, crc: number): void {
    const zh = zxidHigh(zxid);
    const zl = zxidLow(zxid);
    // Two lanes of MurmurHash3's body over the same six words, crossed, each with its own seed and
    // finish.
    let a = absorb(0x9e3779b9 | 0, this.high);
    let b = absorb(0x7f4a7c15 | 0, this.low);
    a = absorb(absorb(a, this.low), zl);
    b = absorb(absorb(b, this.high), crc);
    a = absorb(absorb(a, crc), length);
    b = absorb(absorb(b, zl), zh);
    a = absorb(a, zh);
    b = absorb(b, length);
    this.high = finish(a ^ (b >>> 7));
    this.low = finish(b + a);
  }

  value(): Chain {
    return chainFromHalves(this.high, this.low);
  }
}

function absorb(h: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const x = h ^ Math.imul(k, 0x1b873593);
  return (Math.imul((x << 13) | (x >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
