import type { Zxid } from "../protocol/zxid.ts";

/** Metadata of a znode. Times are milliseconds since 1970 by the leader's clock. */
export interface Stat {
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session that owns an ephemeral; 0 for every other kind, also containers and TTL nodes. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: Zxid;
}

/** A Stat is 68 bytes on the wire, big-endian; these are its fields' places. */
export const STAT_BYTES = 68;
export const StatOffset = {
  czxid: 0,
  mzxid: 8,
  ctime: 16,
  mtime: 24,
  version: 32,
  cversion: 36,
  aversion: 40,
  ephemeralOwner: 44,
  dataLength: 52,
  numChildren: 56,
  pzxid: 60,
} as const;

/**
 * The kind of node that an owner field (as stored, not as sent) makes. Containers and TTL nodes
 * hide in it.
 */
export type NodeKind = "persistent" | "ephemeral" | "container" | "ttl";

/** The stored owner of a container: only the top bit. As two halves: high, low. */
export const CONTAINER_OWNER_HIGH = -0x8000_0000;
export const CONTAINER_OWNER_LOW = 0;

/**
 * A TTL node's stored owner begins with 0xff; the low 40 bits hold its time to live in
 * milliseconds.
 */
export const TTL_OWNER_TAG = 0xff00_0000;
export const TTL_MS_MAX = 0xff_ffff_ffff;

export function nodeKind(ownerHigh: number, ownerLow: number): NodeKind {
  if (ownerHigh === 0 && ownerLow === 0) return "persistent";
  if (ownerHigh === CONTAINER_OWNER_HIGH && ownerLow === CONTAINER_OWNER_LOW) return "container";
  return ownerHigh >>> 24 === 0xff ? "ttl" : "ephemeral";
}

/** The time to live that a TTL node's owner field holds, as stored. */
export function ttlMsOf(ownerHigh: number, ownerLow: number): number {
  return (ownerHigh & 0xff) * 2 ** 32 + (ownerLow >>> 0);
}
