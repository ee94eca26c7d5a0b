import {
  type Acl,
  assert,
  type ByteSlice,
  emptySlice,
  type HashKey,
  nodeKind,
  OPEN_ACL,
  READ_ONLY_ACL,
  StatOffset,
  sliceOf,
  unkeyedHash32,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { DIGEST_SEED, Digest, DigestKind, WordHash } from "./digest.ts";
import { AclTable } from "./nodes/acl-table.ts";
import { NO_NODE, ROOT } from "./nodes/node-row.ts";
import { NodeStore } from "./nodes/node-store.ts";
import { Quotas } from "./quotas/quotas.ts";
import { VirtualNodes } from "./quotas/virtual-nodes.ts";
import { ReapableNodes } from "./reapable-nodes.ts";
import { Ephemerals } from "./sessions/ephemerals.ts";
import { SessionTable } from "./sessions/session-table.ts";

/** Apache keeps the root under "" too, and counts it twice. */
const ROOT_COPIES = 1;
/** The bits of a node's index that select its slot in the cache of digest contributions. */
const CACHED_MASK = 4095;
/** The bytes of a node beside its path and data. */
const NODE_BYTES = 128;

/**
 * Everything that is replicated, and the sums kept about it. The data tree owns it; applying and
 * loading change it.
 */
export class TreeState {
  readonly store: NodeStore;
  readonly acls: AclTable;
  readonly sessions: SessionTable = new SessionTable();
  readonly ephemerals: Ephemerals = new Ephemerals(this.sessions);
  readonly reapable: ReapableNodes = new ReapableNodes();
  readonly shown: VirtualNodes = new VirtualNodes();
  readonly quotas: Quotas;
  readonly digest: Digest = new Digest();
  applied: Zxid = ZXID_NONE;
  /** The id of the node that is created next. */
  nextNode = 1;
  /** The feature level in force at `applied`. */
  level = 1;
  /** Lengths of all paths in UTF-16 units and of all data in bytes, as Apache counts them. */
  approximateDataSize = 0;
  readonly #hash = new WordHash();
  readonly #name: ByteSlice = emptySlice();
  /**
   * Digest contributions of recently changed nodes: the next change needs no hash of the old
   * content.
   */
  readonly #cachedNodes = new Int32Array(CACHED_MASK + 1);
  readonly #cachedHighs = new Int32Array(CACHED_MASK + 1);
  readonly #cachedLows = new Int32Array(CACHED_MASK + 1);

  /** @param pageCountMax see {@link NodeStore} */
  constructor(hashKey: HashKey, pageCountMax?: number) {
    this.store = new NodeStore(hashKey, pageCountMax);
    this.acls = new AclTable(hashKey);
    this.quotas = new Quotas(this.store, this.shown);
  }

  get nodeCount(): number {
    return this.store.count + ROOT_COPIES;
  }

  /** The bytes of the tree in memory, about: never less than clients have put there. */
  get heldBytes(): number {
    return this.approximateDataSize + this.store.count * NODE_BYTES + this.acls.bytes;
  }

  /** The nodes that every ensemble begins with: node ids 1 to 4. */
  createInitialNodes(): void {
    const root = this.#createInitial(0, "", OPEN_ACL);
    const zookeeper = this.#createInitial(root, "zookeeper", OPEN_ACL);
    this.#createInitial(zookeeper, "quota", OPEN_ACL);
    const config = this.#createInitial(zookeeper, "config", READ_ONLY_ACL);
    this.store.setStatInt(config, StatOffset.aversion, -1);
    for (let node: number = ROOT; node < this.store.end; node++) this.addToDigest(node);
    this.quotas.begin();
    this.approximateDataSize =
      "/".length + "/zookeeper".length + "/zookeeper/quota".length + "/zookeeper/config".length;
  }

  /** Writes a new node's owner, as stored, and lists it with its like. */
  setOwner(node: number, high: number, low: number): void {
    const kind = nodeKind(high, low);
    this.store.owners.set(node, high, low, kind === "ephemeral");
    if (kind === "ephemeral") this.ephemerals.add(high, low, node);
    // rule: containers-and-ttl-nodes-are-listed
    else if (kind !== "persistent") this.reapable.add(node);
  }

  /** Before a node is removed. */
  disown(node: number): void {
    const high = this.store.owners.high(node);
    const low = this.store.owners.low(node);
    const kind = nodeKind(high, low);
    if (kind === "ephemeral") this.ephemerals.remove(high, low, node);
    else if (kind !== "persistent") this.reapable.remove(node);
  }

  /** Raises the feature level; it is never lowered. */
  raiseLevel(level: number): void {
    assert(level >= this.level, `feature level ${level} follows level ${this.level}, and is not below it`);
    // Level 1, which no entry names, is in no digest.
    if (this.level > 1) {
      this.#hashLevel();
      this.digest.subtract(this.#hash.high, this.#hash.low);
    }
    this.level = level;
    if (level === 1) return;
    this.#hashLevel();
    this.digest.add(this.#hash.high, this.#hash.low);
  }

  /** The node's present contribution joins the digest. */
  addToDigest(node: number): void {
    this.#hashNode(node);
    const { high, low } = this.#hash;
    this.digest.add(high, low);
    const at = node & CACHED_MASK;
    this.#cachedNodes[at] = node;
    this.#cachedHighs[at] = high;
    this.#cachedLows[at] = low;
  }

  /**
   * The node's present contribution leaves the digest: called before anything of the node changes.
   */
  removeFromDigest(node: number): void {
    const at = node & CACHED_MASK;
    if (this.#cachedNodes[at] === node) {
      this.#cachedNodes[at] = NO_NODE;
      this.digest.subtract(this.#cachedHighs[at], this.#cachedLows[at]);
      return;
    }
    this.#hashNode(node);
    this.digest.subtract(this.#hash.high, this.#hash.low);
  }

  addSessionToDigest(row: number): void {
    this.#hashSession(row);
    this.digest.add(this.#hash.high, this.#hash.low);
  }

  removeSessionFromDigest(row: number): void {
    this.#hashSession(row);
    this.digest.subtract(this.#hash.high, this.#hash.low);
  }

  #createInitial(parent: number, name: string, acl: Acl): number {
    const id = this.nextNode++;
    const { bytes, start, end } = sliceOf(name);
    const node = parent === 0 ? this.store.createRoot(id) : this.store.create(parent, bytes, start, end, id);
    this.store.setData(node, bytes, 0, 0);
    this.store.setAclId(node, this.acls.acquire(acl));
    return node;
  }

  #hashLevel(): void {
    this.#hash.start(DigestKind.LEVEL);
    this.#hash.word(this.level);
  }

  #hashNode(node: number): void {
    const store = this.store;
    const hash = this.#hash;
    hash.start(DigestKind.NODE);
    hash.long(store.id(node));
    if (node !== ROOT) {
      hash.long(store.id(store.parent(node)));
      store.name(node, this.#name);
      hash.word(unkeyedHash32(this.#name.bytes, this.#name.start, this.#name.end, DIGEST_SEED));
    }
    hash.word(store.hasData(node) ? 1 : 0);
    // rule: the-digest-covers-data
    hash.word(store.dataHash(node));
    store.hashStat(node, hash);
    hash.word(store.owners.high(node));
    hash.word(store.owners.low(node));
    const acl = store.aclId(node);
    // rule: the-digest-covers-access-lists
    hash.word(this.acls.hashHigh(acl));
    hash.word(this.acls.hashLow(acl));
  }

  #hashSession(row: number): void {
    const hash = this.#hash;
    hash.start(DigestKind.SESSION);
    hash.word(this.sessions.high(row));
    hash.word(this.sessions.low(row));
    hash.word(this.sessions.timeoutMs(row));
    for (let i = 0; i < 4; i++) hash.word(this.sessions.passwordWord(row, i));
  }
}

/** How many UTF-16 units a run of UTF-8 without characters above U+FFFF has. */
export function textLength(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let i = start; i < end; i++) if ((bytes[i] & 0xc0) !== 0x80) length++;
  return length;
}
