import type { FollowEvent } from "@zooid/apache-peer";
import { ApacheLoader, ApacheTranslator, DataTree, MISSING_ACL, type TranslatorOptions } from "@zooid/data-tree";
import { type Acl, emptySlice, type HashKey, newTxnHeader, type SessionId, STAT_BYTES, type Zxid } from "@zooid/model";
import type { ApacheSnapshotContent, SnapshotNode } from "@zooid/txn-log/sqlite";
import { type ApacheTransaction, STAT_LENGTHS_BYTES, STAT_LENGTHS_START } from "@zooid/wire/apache";

/**
 * A snapshot that comes, and the transactions behind it, in a tree of its own. The snapshot is
 * fuzzy; the tree is exact when the leader has sent everything that it had committed, and becomes
 * the state of this server then. Until that nothing on the disk changes.
 */
export class Candidate {
  readonly tree: DataTree;
  /** The digest of Apache's tree behind the last transaction, where it has one. */
  digest: bigint | undefined;
  /** Whether all parts of the snapshot have come. */
  isLoaded = false;
  /** When the last transaction was made, in milliseconds since 1970; 0 before the first one. */
  lastTimeMs = 0;
  readonly #loader: ApacheLoader;
  readonly #translator: ApacheTranslator;
  readonly #header = newTxnHeader();
  readonly #level: number;
  #applied: Zxid;

  /**
   * @param zxid that the snapshot names
   * @param level the feature level of this server's history
   */
  constructor(zxid: Zxid, level: number, hashKey: HashKey, options: TranslatorOptions) {
    this.tree = new DataTree({ hashKey });
    this.#loader = new ApacheLoader(this.tree, zxid, options);
    this.#translator = new ApacheTranslator(this.tree, options);
    this.#translator.isFuzzy = true;
    this.#applied = zxid;
    this.#level = level;
  }

  /** Where the tree stands. */
  get applied(): Zxid {
    return this.#applied;
  }

  get nodeCount(): number {
    return this.#loader.nodeCount;
  }

  /** @throws ApacheTxnError */
  take(event: Extract<FollowEvent, { kind: "session" | "acl" | "node" | "snapshot-end" }>): void {
    switch (event.kind) {
      case "session":
        return this.#loader.session(event.id as SessionId, event.timeoutMs);
      case "acl":
        return this.#loader.acl(event.key, event.acl);
      case "node":
        return this.#loader.node(event.path, event.data, event.aclKey, event.stat);
      case "snapshot-end":
        this.#loader.finish(this.#level);
        this.isLoaded = true;
    }
  }

  /** It may be older than the snapshot. @throws ApacheTxnError */
  apply(transaction: ApacheTransaction): void {
    const header = this.#header;
    this.#translator.header(transaction, header);
    for (const op of this.#translator.ops(transaction)) this.tree.apply(header, op, undefined);
    if (header.zxid > this.#applied) this.#applied = header.zxid;
    this.digest = transaction.digest;
    this.lastTimeMs = header.timeMs;
  }

  /** The path of a node whose access list never came; undefined where there is none. */
  pathWithoutAcl(): string | undefined {
    const node = this.tree.nodesByAge().find((each) => isMissing(this.tree.view(each).acl));
    return node === undefined ? undefined : this.tree.pathOf(node);
  }

  /** The tree as a snapshot in Apache's form. */
  content(): ApacheSnapshotContent {
    const { tree } = this;
    const places = new Map<Acl, number>();
    const nodes = tree.nodesByAge();
    for (const node of nodes) {
      const { acl } = tree.view(node);
      if (!places.has(acl)) places.set(acl, places.size);
    }
    const sessions: [bigint, number][] = [];
    tree.forEachSession((high, low, timeoutMs) =>
      sessions.push([(BigInt(high) << 32n) | BigInt(low >>> 0), timeoutMs]),
    );
    return { sessionCount: sessions.length, sessions, acls: [...places.keys()], nodes: nodesOf(tree, nodes, places) };
  }
}

function isMissing(acl: Acl): boolean {
  const [first] = acl;
  return acl === MISSING_ACL || (acl.length === 1 && first?.perms === 0 && first.scheme === "world");
}

function* nodesOf(
  tree: DataTree,
  nodes: Uint32Array,
  places: ReadonlyMap<Acl, number>,
): Generator<SnapshotNode, void, undefined> {
  const data = emptySlice();
  const whole = new Uint8Array(STAT_BYTES);
  const view = new DataView(whole.buffer);
  for (const node of nodes) {
    const hasData = tree.storedData(node, data);
    tree.storedStat(node, view);
    yield {
      path: tree.parent(node) === 0 ? Buffer.alloc(0) : tree.pathBytes(node),
      data: hasData ? Buffer.from(data.bytes.subarray(data.start, data.end)) : null,
      acl: places.get(tree.view(node).acl) ?? 0,
      stat: Buffer.concat([
        whole.subarray(0, STAT_LENGTHS_START),
        whole.subarray(STAT_LENGTHS_START + STAT_LENGTHS_BYTES),
      ]),
    };
  }
}
