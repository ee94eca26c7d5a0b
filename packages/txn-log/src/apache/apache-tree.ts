import { crc32 } from "node:zlib";
import { type Acl, nodeKind, OPEN_ACL, READ_ONLY_ACL, StatOffset } from "@zooid/model/storage";
import {
  APACHE_STAT_BYTES,
  type ApacheChange,
  type ApacheSnapshotParts,
  type ApacheTransaction,
  STAT_LENGTHS_START,
} from "@zooid/wire/apache";

/** The offsets of a stat in stored form, which has no lengths. */
const Offset = { ...StatOffset, owner: StatOffset.ephemeralOwner, pzxid: STAT_LENGTHS_START } as const;
/** The key of the open access list, which is in no snapshot. */
const OPEN_KEY = -1n;

export interface ApacheNode {
  data: Buffer | null;
  /** Undefined until a transaction brings it: the snapshot has the node, and not yet its list. */
  acl: Acl | undefined;
  readonly stat: Buffer;
}

export interface OwnedCount {
  readonly sessionCount: number;
  readonly nodeCount: number;
}

/**
 * The tree of an Apache server: a snapshot, then the transactions that follow it. The snapshot is
 * fuzzy: the server applied transactions while it wrote it, so it may contain the effects of some
 * that are replayed. A node that exists already, or is missing, is therefore no error.
 */
export class ApacheTree implements ApacheSnapshotParts {
  /** By path; the root by the empty one. */
  readonly nodes: Map<string, ApacheNode> = new Map();
  /** The timeout of each session, in milliseconds. */
  readonly sessions: Map<bigint, number> = new Map();
  readonly #acls = new Map<bigint, Acl>([[OPEN_KEY, OPEN_ACL]]);
  /** The paths of ephemeral nodes, by their owner. */
  readonly #owned = new Map<bigint, Set<string>>();

  session(id: bigint, timeoutMs: number): void {
    this.sessions.set(id, timeoutMs);
  }

  acl(key: bigint, acl: Acl): void {
    this.#acls.set(key, acl);
  }

  node(path: Buffer, data: Buffer | null, aclKey: bigint, stat: Buffer): void {
    const node = {
      data: data === null ? null : Buffer.from(data),
      acl: this.#acls.get(aclKey),
      stat: Buffer.from(stat),
    };
    this.#put(path.toString(), node);
  }

  rest(): void {}

  /** Adds the nodes that every server makes at its start; before 3.5 one of them did not exist. */
  addBuiltIn(): void {
    const empty = (acl: Acl): ApacheNode => ({ data: Buffer.alloc(0), acl, stat: Buffer.alloc(APACHE_STAT_BYTES) });
    for (const path of ["", "/zookeeper", "/zookeeper/quota"]) {
      if (!this.nodes.has(path)) this.#put(path, empty(OPEN_ACL));
    }
    if (!this.nodes.has("/zookeeper/config")) this.#put("/zookeeper/config", empty(READ_ONLY_ACL));
  }

  apply(transaction: ApacheTransaction): void {
    for (const change of transaction.changes) this.#apply(change, transaction);
  }

  #apply(change: ApacheChange, { zxid, timeMs, session }: ApacheTransaction): void {
    switch (change.kind) {
      case "create":
        return this.#create(change, zxid, timeMs);
      case "delete":
        return this.#delete(change.path, zxid);
      case "set": {
        const node = this.nodes.get(keyOf(change.path));
        if (node === undefined) return;
        node.data = change.data;
        node.stat.writeInt32BE(change.version, Offset.version);
        node.stat.writeBigInt64BE(zxid, Offset.mzxid);
        node.stat.writeBigInt64BE(timeMs, Offset.mtime);
        return;
      }
      case "set-acl": {
        const node = this.nodes.get(keyOf(change.path));
        if (node === undefined) return;
        node.acl = change.acl;
        node.stat.writeInt32BE(change.aversion, Offset.aversion);
        return;
      }
      case "open-session":
        this.sessions.set(session, change.timeoutMs);
        return;
      case "close-session": {
        this.sessions.delete(session);
        // A listed node may have another owner in a fuzzy snapshot.
        const left = [...(this.#owned.get(session) ?? [])];
        for (const path of new Set([...change.paths.map(keyOf), ...left])) this.#delete(path, zxid);
      }
    }
  }

  #create(
    { path, data, acl, owner, parentCversion }: Extract<ApacheChange, { kind: "create" }>,
    zxid: bigint,
    timeMs: bigint,
  ): void {
    const parent = this.nodes.get(parentOf(path));
    if (parent === undefined) return;
    const present = parent.stat.readInt32BE(Offset.cversion);
    const cversion = parentCversion === -1 ? present + 1 : parentCversion;
    // A fuzzy snapshot may have the count of a later child.
    if (cversion > present) {
      parent.stat.writeInt32BE(cversion, Offset.cversion);
      parent.stat.writeBigInt64BE(zxid, Offset.pzxid);
    }
    const known = this.nodes.get(path);
    if (known !== undefined) {
      known.acl = acl;
      return;
    }
    const stat = Buffer.alloc(APACHE_STAT_BYTES);
    for (const offset of [Offset.czxid, Offset.mzxid, Offset.pzxid]) stat.writeBigInt64BE(zxid, offset);
    for (const offset of [Offset.ctime, Offset.mtime]) stat.writeBigInt64BE(timeMs, offset);
    stat.writeBigInt64BE(owner, Offset.owner);
    this.#put(path, { data, acl, stat });
  }

  #delete(path: string, zxid: bigint): void {
    const parent = this.nodes.get(parentOf(path));
    // Also if the node is missing: a fuzzy snapshot may lack it and have an older parent.
    if (parent !== undefined && parent.stat.readBigInt64BE(Offset.pzxid) < zxid) {
      parent.stat.writeBigInt64BE(zxid, Offset.pzxid);
    }
    const node = this.nodes.get(path);
    if (node === undefined || path === "") return;
    this.nodes.delete(path);
    const owner = node.stat.readBigInt64BE(Offset.owner);
    const owned = this.#owned.get(owner);
    owned?.delete(path);
    if (owned?.size === 0) this.#owned.delete(owner);
  }

  #put(path: string, node: ApacheNode): void {
    this.nodes.set(path, node);
    const { stat } = node;
    if (nodeKind(stat.readInt32BE(Offset.owner), stat.readInt32BE(Offset.owner + 4)) !== "ephemeral") return;
    const owner = stat.readBigInt64BE(Offset.owner);
    const owned = this.#owned.get(owner);
    if (owned === undefined) this.#owned.set(owner, new Set([path]));
    else owned.add(path);
  }

  /** The number of ephemeral nodes. */
  get ephemeralCount(): number {
    return this.#countOwned(() => true).nodeCount;
  }

  /** Ephemeral nodes of sessions that have ended, and the number of these sessions. */
  get orphans(): OwnedCount {
    return this.#countOwned((owner) => !this.sessions.has(owner));
  }

  #countOwned(isCounted: (owner: bigint) => boolean): OwnedCount {
    let [sessionCount, nodeCount] = [0, 0];
    for (const [owner, paths] of this.#owned) {
      if (!isCounted(owner)) continue;
      sessionCount++;
      nodeCount += paths.size;
    }
    return { sessionCount, nodeCount };
  }

  /** The sum of all nodes, as Apache ZooKeeper computes it since 3.6. */
  get digest(): bigint {
    let sum = 0n;
    for (const [path, node] of this.nodes) if (!path.startsWith("/zookeeper/")) sum += BigInt(digestOf(path, node));
    return BigInt.asUintN(64, sum);
  }
}

/** Covers the fields of the stat in another order than a snapshot has them. */
function digestOf(path: string, { data, stat }: ApacheNode): number {
  const fields = Buffer.alloc(APACHE_STAT_BYTES);
  stat.copy(fields, 0, Offset.czxid, Offset.ctime);
  stat.copy(fields, 16, Offset.pzxid, Offset.pzxid + 8);
  stat.copy(fields, 24, Offset.ctime, Offset.pzxid);
  const ofPath = crc32(Buffer.from(path));
  return crc32(fields, data === null ? ofPath : crc32(data, ofPath));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A transaction names the root `/`. */
function keyOf(path: string): string {
  return path === "/" ? "" : path;
}
