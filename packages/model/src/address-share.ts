import { parseIpAddress } from "./ip-address.ts";

/** Bytes of an IPv6 address that tell one site from another: its hosts choose the rest as they like. */
const SITE_BYTES = 8;
const ADDRESS_BYTES = 16;

/**
 * What an address counts as wherever addresses have shares: an IPv4 address, mapped into IPv6 or not, as itself; an IPv6 address as its /64.
 * Text that is no address is a share of its own.
 */
export function addressShare(address: string): string {
  const zone = address.indexOf("%");
  const bytes = parseIpAddress(zone === -1 ? address : address.slice(0, zone));
  if (bytes === undefined) return address;
  if (bytes.length !== ADDRESS_BYTES) return bytes.join(".");
  const isMapped = bytes.subarray(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 0xff));
  if (isMapped) return bytes.subarray(12).join(".");
  const site = Array.from(bytes.subarray(0, SITE_BYTES), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${site}::/64`;
}
