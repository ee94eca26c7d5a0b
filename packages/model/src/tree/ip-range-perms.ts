import { byteMask, type IpRange, parseIpAddress, parseIpRange } from "../addresses/ip-address.ts";

interface RankedRange {
  readonly first: string;
  readonly last: string;
  readonly bits: number;
  readonly perms: number;
}

/** The address that was asked for last: one client's is checked against the lists of many nodes. */
let lastAddressText = "";
let lastAddress: string | undefined;

/**
 * The permissions that the `ip` entries of one access list give to an address, found by a binary
 * search.
 *
 * Two ranges are disjoint or one holds the other, so the ranges sorted by their first address form
 * a tree: the range that holds an address is the last one that begins at or before it, or one that
 * holds that one.
 */
export class IpRangePerms {
  readonly #v4: FamilyPerms;
  readonly #v6: FamilyPerms;

  constructor(entries: readonly { readonly id: string; readonly perms: number }[]) {
    const v4: RankedRange[] = [];
    const v6: RankedRange[] = [];
    for (const { id, perms } of entries) {
      const range = parseIpRange(id);
      if (range !== undefined) (range.address.length === 4 ? v4 : v6).push(rankedRange(range, perms));
    }
    this.#v4 = new FamilyPerms(v4);
    this.#v6 = new FamilyPerms(v6);
  }

  /** The permissions of every range that holds the address; 0 for text that is no address. */
  of(addressText: string): number {
    if (addressText !== lastAddressText) {
      const address = parseIpAddress(addressText);
      lastAddress = address === undefined ? undefined : sortableText(address);
      lastAddressText = addressText;
    }
    if (lastAddress === undefined) return 0;
    return (lastAddress.length === 4 ? this.#v4 : this.#v6).of(lastAddress);
  }
}

const NO_RANGE = -1;

/** Addresses are texts of one length whose order is the order of the addresses. */
class FamilyPerms {
  readonly #firsts: string[] = [];
  readonly #lasts: string[] = [];
  /** The permissions of each range, with those of all ranges that hold it. */
  readonly #perms: number[] = [];
  /** The smallest other range that holds the range. */
  readonly #parents: number[] = [];

  constructor(ranges: RankedRange[]) {
    ranges.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : a.bits - b.bits));
    for (const { first, last, perms } of ranges) {
      const index = this.#firsts.length;
      const parent = this.#holder(index - 1, first);
      this.#firsts.push(first);
      this.#lasts.push(last);
      this.#perms.push(perms | (this.#perms[parent] ?? 0));
      this.#parents.push(parent);
    }
  }

  of(address: string): number {
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#firsts[middle] as string) <= address) low = middle + 1;
      else high = middle;
    }
    return this.#perms[this.#holder(low - 1, address)] ?? 0;
  }

  /** A range, or the smallest one above it, that reaches to the address. */
  #holder(range: number, address: string): number {
    let at = range;
    while (at >= 0 && (this.#lasts[at] as string) < address) at = this.#parents[at] as number;
    return at < 0 ? NO_RANGE : at;
  }
}

function rankedRange({ address, bits }: IpRange, perms: number): RankedRange {
  const first = new Uint8Array(address.length);
  const last = new Uint8Array(address.length);
  for (let i = 0; i < address.length; i++) {
    const mask = byteMask(bits - 8 * i);
    first[i] = (address[i] as number) & mask;
    last[i] = (address[i] as number) | (mask ^ 0xff);
  }
  return { first: sortableText(first), last: sortableText(last), bits, perms };
}

function sortableText(address: Uint8Array): string {
  let text = "";
  for (let i = 0; i < address.length; i++) text += String.fromCharCode(address[i] as number);
  return text;
}
