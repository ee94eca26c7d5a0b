import { peerAddressBytes } from "../addresses/ip-address.ts";

/**
 * Bytes of an IPv6 address that tell one site from another: its hosts choose the rest as they like.
 */
const SITE_BYTES = 8;
const IPV4_BYTES = 4;

/**
 * The share that an address counts as wherever addresses have shares: an IPv4 address, mapped into
 * IPv6 or not, as itself; an IPv6 address as its /64. Text that is no address is a share of its
 * own.
 */
export function addressShare(address: string): string {
  const bytes = peerAddressBytes(address);
  if (bytes === undefined) return address;
  if (bytes.length === IPV4_BYTES) return bytes.join(".");
  const site = Array.from(bytes.subarray(0, SITE_BYTES), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${site}::/64`;
}
