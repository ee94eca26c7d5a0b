import { equal, ok } from "node:assert/strict";
import type { FollowEvent } from "@zooid/apache-peer";
import { counterOf, epochOf, nodeKind, type Stat, StatOffset, type Zxid, zxidFromHalves } from "@zooid/model";
import { type ApacheNode, ApacheTree } from "@zooid/txn-log/sqlite";
import { ApacheType, STAT_LENGTHS_START } from "@zooid/wire/apache";
import type { ServedNode } from "../apache-import/served-tree.ts";

/** Each server has its own there. */
const OWN = /^\/zookeeper\/(?:config$|quota\/.*zookeeper_stats$)/;
/** The digest of a tree is the sum over all nodes. */
const DIGEST_EVERY = 200;
const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(ApacheType).map(([name, type]) => [type, name]));

/**
 * The tree that a follower's events lead to, each checked: one at a time, in order, without a gap,
 * and with the digest that Apache's servers have behind it.
 */
export class FollowedTree {
  /** Transactions by the name of their type. */
  readonly types: Map<string, number> = new Map();
  /** Events apart from transactions and parts of snapshots, by kind. */
  readonly kinds: Map<string, number> = new Map();
  transactionCount = 0;
  /** Number of transactions that a snapshot might contain. */
  containedCount = 0;
  digestCount = 0;
  /** Digests that differed between a snapshot and the first one that was equal. */
  fuzzyDigestCount = 0;
  last: Zxid | undefined;
  #tree = new ApacheTree();
  #isFuzzy = false;
  #lastDigest: bigint | undefined;

  take(event: FollowEvent): void {
    switch (event.kind) {
      case "snapshot":
        this.#tree = new ApacheTree();
        this.last = event.zxid;
        this.#isFuzzy = true;
        break;
      case "session":
        return this.#tree.session(event.id as never, event.timeoutMs);
      case "acl":
        return this.#tree.acl(event.key, event.acl);
      case "node":
        return this.#tree.node(Buffer.from(event.path), event.data, event.aclKey, event.stat);
      case "transaction":
        return this.#transaction(event);
      default:
    }
    this.kinds.set(event.kind, (this.kinds.get(event.kind) ?? 0) + 1);
  }

  count(kind: FollowEvent["kind"]): number {
    return this.kinds.get(kind) ?? 0;
  }

  #transaction({ zxid, transaction }: Extract<FollowEvent, { kind: "transaction" }>): void {
    const { last } = this;
    ok(last !== undefined, "a transaction came before a snapshot");
    equal(BigInt(zxid), transaction.zxid);
    const name = NAMES.get(transaction.type) ?? String(transaction.type);
    this.types.set(name, (this.types.get(name) ?? 0) + 1);
    if (zxid <= last) {
      ok(this.#isFuzzy, `${zxid.toString(16)} came behind ${last.toString(16)}`);
      this.containedCount++;
    } else {
      const expected = epochOf(zxid) === epochOf(last) ? counterOf(last) + 1 : 1;
      equal(counterOf(zxid), expected, `${zxid.toString(16)} came behind ${last.toString(16)}`);
      this.last = zxid;
    }
    this.#tree.apply(transaction);
    this.transactionCount++;
    this.#lastDigest = transaction.digest;
    if (this.#isFuzzy || this.transactionCount % DIGEST_EVERY === 0) this.#compareDigest();
  }

  /** Compares the present digest. It may differ only behind a snapshot, until it was equal once. */
  #compareDigest(): void {
    if (this.#lastDigest === undefined) return;
    const isEqual = this.#lastDigest === this.#tree.digest;
    ok(isEqual || this.#isFuzzy, `the digest behind ${this.last?.toString(16)} is another one`);
    this.digestCount++;
    if (isEqual) this.#isFuzzy = false;
    else this.fuzzyDigestCount++;
  }

  /** As clients are shown it, but for what each server has for itself. */
  served(): Map<string, ServedNode> {
    this.#compareDigest();
    return servedOf(this.#tree);
  }
}

/** A tree as clients are shown it, but for what each server has for itself. */
export function servedOf({ nodes }: ApacheTree): Map<string, ServedNode> {
  const children = new Map<string, number>();
  for (const path of nodes.keys()) {
    if (path !== "") children.set(parentOf(path), (children.get(parentOf(path)) ?? 0) + 1);
  }
  const served = new Map<string, ServedNode>();
  for (const [path, node] of nodes) {
    if (OWN.test(path)) continue;
    served.set(path === "" ? "/" : path, servedNode(node, children.get(path) ?? 0));
  }
  return served;
}

function servedNode({ data, acl, stat }: ApacheNode, numChildren: number): ServedNode {
  const zxidAt = (at: number): Zxid => zxidFromHalves(stat.readInt32BE(at), stat.readInt32BE(at + 4));
  const owner = stat.readBigInt64BE(StatOffset.ephemeralOwner);
  const halves = [
    stat.readInt32BE(StatOffset.ephemeralOwner),
    stat.readInt32BE(StatOffset.ephemeralOwner + 4),
  ] as const;
  const shown: Stat = {
    czxid: zxidAt(StatOffset.czxid),
    mzxid: zxidAt(StatOffset.mzxid),
    ctimeMs: Number(stat.readBigInt64BE(StatOffset.ctime)),
    mtimeMs: Number(stat.readBigInt64BE(StatOffset.mtime)),
    version: stat.readInt32BE(StatOffset.version),
    // Clients are shown the number of changes, which are creates and deletes.
    cversion: 2 * stat.readInt32BE(StatOffset.cversion) - numChildren,
    aversion: stat.readInt32BE(StatOffset.aversion),
    ephemeralOwner: nodeKind(...halves) === "ephemeral" ? owner : 0n,
    dataLength: data?.length ?? 0,
    numChildren,
    pzxid: zxidAt(STAT_LENGTHS_START),
  };
  return { data: data === null ? "null" : data.toString("base64"), acl: acl ?? [], stat: shown };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
