/**
 * Apache ZooKeeper stores no passwords of sessions: every server computes them from the id, by
 * Java's pseudorandom numbers. A client that moves here from there presents such a password.
 */

const PASSWORD_BYTES = 16;
/**
 * The number that Apache combines the id with, so that its low half does not begin the numbers
 * alone.
 */
const SALT = 0xb341_5c00;
/** The multiplier of Java's generator, 0x5DEECE66D, as two halves of 24 bits. */
const MULTIPLIER = { high: 0x5de, low: 0xece66d } as const;
const INCREMENT = 0xb;
const HALF = 2 ** 24;

/** The password of a session that an Apache server created. */
export function derivedPassword(idHigh: number, idLow: number): Uint8Array<ArrayBuffer> {
  const seed = idLow ^ SALT;
  // The generator has 48 bits; the numbers stay exact in two halves.
  let high = (((seed >>> 24) | ((idHigh & 0xffff) << 8)) ^ MULTIPLIER.high) & (HALF - 1);
  let low = (seed ^ MULTIPLIER.low) & (HALF - 1);
  const bytes = new Uint8Array(PASSWORD_BYTES);
  for (let at = 0; at < PASSWORD_BYTES; at += 4) {
    const sum = low * MULTIPLIER.low + INCREMENT;
    high = (high * MULTIPLIER.low + low * MULTIPLIER.high + Math.floor(sum / HALF)) % HALF;
    low = sum % HALF;
    // The upper 32 of the 48 bits, the lowest byte first.
    bytes[at] = low >>> 16;
    bytes[at + 1] = high;
    bytes[at + 2] = high >>> 8;
    bytes[at + 3] = high >>> 16;
  }
  return bytes;
}
