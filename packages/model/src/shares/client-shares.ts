import { type IpRange, liesIn, parseIpRange, peerAddressBytes } from "../addresses/ip-address.ts";
import { addressShare } from "./address-share.ts";

/** Proxies that bring many clients through one address, by the operator's word. */
export interface TrustedProxies {
  readonly ranges: readonly IpRange[];
  /** The part of each budget that all connections from there have together, as a fraction. */
  readonly share: number;
}

export const NO_PROXIES: TrustedProxies = { ranges: [], share: 1 / 4 };

/** The share that a client's connection counts as where clients have shares. */
export interface ClientShare {
  /**
   * Equal for connections that share: those of one address or /64. A connection that came by a
   * trusted proxy has one of its own.
   */
  readonly share: string;
  /** It came by a trusted proxy: all of these have one share of the whole together. */
  readonly isProxied: boolean;
}

/**
 * Decides what connections count as. Only the address of the connection counts: what a proxy says
 * about its client is not believed.
 */
export class ClientShares {
  readonly #proxies: TrustedProxies;

  constructor(proxies: TrustedProxies) {
    this.#proxies = proxies;
  }

  /** The part that the connections of trusted proxies have together, as a fraction. */
  get proxiesShare(): number {
    return this.#proxies.share;
  }

  isProxy(address: string): boolean {
    const { ranges } = this.#proxies;
    if (ranges.length === 0) return false;
    const bytes = peerAddressBytes(address);
    return bytes !== undefined && ranges.some((range) => liesIn(bytes, range));
  }

  /** @param connection names it among those of this address that are open */
  of(address: string, connection: string | number): ClientShare {
    if (this.isProxy(address)) return { share: `${address} ${connection}`, isProxied: true };
    return { share: addressShare(address), isProxied: false };
  }
}

/** Bits of a range that lies in the part of IPv6 that stands for IPv4. */
const MAPPED_BITS = 96;

/** `ADDRESS` or `ADDRESS/BITS` of a proxy; undefined for anything else. */
export function parseProxyRange(text: string): IpRange | undefined {
  const range = parseIpRange(text);
  if (range === undefined || range.bits < MAPPED_BITS) return range;
  // A peer's address that was mapped into IPv6 is compared as IPv4.
  const slash = text.indexOf("/");
  const address = peerAddressBytes(slash === -1 ? text : text.slice(0, slash));
  return address === undefined || address.length === range.address.length
    ? range
    : { address, bits: range.bits - MAPPED_BITS };
}
