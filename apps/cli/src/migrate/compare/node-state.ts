/**
 * The compared fields of a node, in a form that both sides have: a client's Stat counts changes of
 * children and hides containers and TTLs, a snapshot's has the number of creates and no children.
 */
import { createHash } from "node:crypto";
import { type Acl, nodeKind, type Stat, StatOffset, sessionIdHigh, sessionIdLow, zxidFromHalves } from "@zooid/model";
import { hasHiddenHash } from "@zooid/model/subtree-file";
import { STAT_LENGTHS_START } from "@zooid/wire/apache";

export interface NodeState {
  readonly czxid: number;
  readonly ctimeMs: number;
  /** The session of an ephemeral; 0 for every other kind. */
  readonly owner: bigint;
  readonly version: number;
  readonly mzxid: number;
  readonly mtimeMs: number;
  readonly data: DataState;
  readonly aversion: number;
  /** As text; undefined where the client is not shown all of it. */
  readonly acl: string | undefined;
  readonly pzxid: number;
  /** Twice the number of children ever created, in 32 bits. */
  readonly creates: number;
}

export interface DataState {
  /** -1 for no data, which is not the same as empty data. */
  readonly byteCount: number;
  readonly sha256: string;
  /** Only where the data are to be shown. */
  readonly bytes?: Uint8Array | undefined;
}

/** A node, its absence, or that it may not be read. */
export type Observed = NodeState | "absent" | "unread";

/** Servers have these for themselves: their own configuration, features and counts. */
const OWN = /^\/zookeeper\/(?:config$|zooid|quota\/.*zookeeper_stats$)/;

export function isCompared(path: string): boolean {
  return !path.startsWith("/zookeeper/") || !OWN.test(path);
}

/** As two reads of a client's session have it. */
export function readState(
  { data, stat }: { readonly data: Uint8Array | null; readonly stat: Stat },
  { acl, stat: aclStat }: { readonly acl: Acl; readonly stat: Stat },
): NodeState {
  const { czxid, ctimeMs, ephemeralOwner, version, mzxid, mtimeMs, pzxid, cversion, numChildren } = stat;
  return {
    czxid,
    ctimeMs,
    owner: ownerOf(ephemeralOwner),
    version,
    mzxid,
    mtimeMs,
    data: dataState(data),
    aversion: aclStat.aversion,
    acl: hasHiddenHash(acl) ? undefined : aclText(acl),
    pzxid,
    creates: (cversion + numChildren) | 0,
  };
}

/** As a snapshot has it. @param stat 60 bytes */
export function storedState(data: Uint8Array | null, acl: string, stat: Buffer): NodeState {
  const zxidAt = (at: number): number => zxidFromHalves(stat.readInt32BE(at), stat.readInt32BE(at + 4));
  return {
    czxid: zxidAt(StatOffset.czxid),
    ctimeMs: Number(stat.readBigInt64BE(StatOffset.ctime)),
    owner: ownerOf(stat.readBigInt64BE(StatOffset.ephemeralOwner)),
    version: stat.readInt32BE(StatOffset.version),
    mzxid: zxidAt(StatOffset.mzxid),
    mtimeMs: Number(stat.readBigInt64BE(StatOffset.mtime)),
    data: dataState(data),
    aversion: stat.readInt32BE(StatOffset.aversion),
    acl,
    pzxid: zxidAt(STAT_LENGTHS_START),
    creates: (2 * stat.readInt32BE(StatOffset.cversion)) | 0,
  };
}

/** Entries in their order, which servers keep. */
export function aclText(acl: Acl): string {
  return JSON.stringify(acl.map(({ perms, scheme, id }) => [perms, scheme, id]));
}

function dataState(data: Uint8Array | null): DataState {
  return {
    byteCount: data === null ? -1 : data.length,
    sha256: createHash("sha256")
      .update(data ?? NO_BYTES)
      .digest("hex"),
  };
}

const NO_BYTES = new Uint8Array(0);

function ownerOf(owner: bigint): bigint {
  const id = owner as Parameters<typeof sessionIdHigh>[0];
  return nodeKind(sessionIdHigh(id), sessionIdLow(id)) === "ephemeral" ? owner : 0n;
}
