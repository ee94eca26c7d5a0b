/**
 * Addresses as ZooKeeper's `ip` scheme knows them: text in Java's form, and bytes with a prefix
 * length to compare.
 */

const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
/** The longest text of a range: eight groups of IPv6, the last two as IPv4, and a prefix length. */
const RANGE_TEXT_MAX = 49;

/** Four or sixteen bytes; undefined for text that is no address. */
export function parseIpAddress(text: string): Uint8Array | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let count = 0;
  let digits = 0;
  let value = 0;
  for (let i = 0; i <= text.length; i++) {
    const unit = i === text.length ? DOT : text.charCodeAt(i);
    if (unit === DOT) {
      if (digits === 0 || value > 255 || count === 4) return undefined;
      bytes[count++] = value;
      digits = 0;
      value = 0;
    } else {
      if (unit < DIGIT_0 || unit > DIGIT_9 || ++digits > 3) return undefined;
      value = value * 10 + unit - DIGIT_0;
    }
  }
  return count === 4 ? bytes : undefined;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "");
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  const bytes = new Uint8Array(16);
  for (const [i, group] of groups.entries()) {
    bytes[2 * i] = group >> 8;
    bytes[2 * i + 1] = group & 0xff;
  }
  return bytes;
}

function parseGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    if (i === parts.length - 1 && part.includes(".")) {
      const v4 = parseIpv4(part);
      if (v4 === undefined) return undefined;
      groups.push(((v4[0] as number) << 8) | (v4[1] as number), ((v4[2] as number) << 8) | (v4[3] as number));
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

/**
 * A peer's address as Java prints it: IPv4 in decimals, also where it arrived mapped into IPv6;
 * IPv6 uncompressed. Text that is no address comes back as it is.
 */
export function javaAddress(text: string): string {
  const bytes = peerAddressBytes(text);
  if (bytes === undefined) return text;
  if (bytes.length === 4) return bytes.join(".");
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] as number) << 8) | (bytes[i + 1] as number)).toString(16));
  return groups.join(":");
}

/**
 * The bytes of a peer's address: four where an IPv4 address arrived mapped into IPv6; undefined for
 * text that is no address.
 */
export function peerAddressBytes(text: string): Uint8Array | undefined {
  const zone = text.indexOf("%");
  const bytes = parseIpAddress(zone === -1 ? text : text.slice(0, zone));
  return bytes !== undefined && bytes.length === 16 && isMappedIpv4(bytes) ? bytes.subarray(12) : bytes;
}

function isMappedIpv4(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

/** An address with how many of its bits count. */
export interface IpRange {
  readonly address: Uint8Array;
  readonly bits: number;
}

/** `address` or `address/bits`; undefined for anything else. */
export function parseIpRange(text: string): IpRange | undefined {
  if (text.length > RANGE_TEXT_MAX) return undefined;
  const slash = text.indexOf("/");
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const bitsMax = address.length * 8;
  if (slash < 0) return { address, bits: bitsMax };
  const bitsText = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(bitsText) || Number(bitsText) > bitsMax) return undefined;
  return { address, bits: Number(bitsText) };
}

export function isIpRange(text: string): boolean {
  return parseIpRange(text) !== undefined;
}

/** Whether an address lies in a range of the same family. */
export function isInIpRange(addressText: string, rangeText: string): boolean {
  const address = parseIpAddress(addressText);
  const range = parseIpRange(rangeText);
  return address !== undefined && range !== undefined && liesIn(address, range);
}

/** Whether an address, as bytes, lies in a range of the same family. */
export function liesIn(address: Uint8Array, range: IpRange): boolean {
  if (address.length !== range.address.length) return false;
  for (let bit = 0; bit < range.bits; bit += 8) {
    const mask = byteMask(range.bits - bit);
    if ((((address[bit >> 3] as number) ^ (range.address[bit >> 3] as number)) & mask) !== 0) return false;
  }
  return true;
}

/** The bits of a byte that count, where a prefix has `bitsLeft` more. */
export function byteMask(bitsLeft: number): number {
  if (bitsLeft >= 8) return 0xff;
  return bitsLeft <= 0 ? 0 : (0xff << (8 - bitsLeft)) & 0xff;
}
