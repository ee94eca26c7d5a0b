import {
  type Acl,
  assert,
  copyBytes,
  derivedKey,
  type HashKey,
  keyedHash,
  nodeKind,
  OPEN_ACL,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";

/** A path as it will be once everything proposed so far is applied. */
export class PendingNode {
  path: Buffer = Buffer.allocUnsafeSlow(64);
  length = 0;
  hash = 0;
  /** False: its deletion is proposed. */
  exists = false;
  node = 0;
  version = 0;
  aversion = 0;
  /**
   * Children ever created. In 32 bits: it wraps where the applied count stays at its maximum, as in
   * Apache.
   */
  created = 0;
  childCount = 0;
  /** The bytes of the children's names in a listing. */
  listedBytes = 0;
  dataLength = 0;
  acl: Acl = OPEN_ACL;
  ownerHigh = 0;
  ownerLow = 0;
  /**
   * The newest proposal that concerns the path. When that is applied, the tree says all that this
   * says.
   */
  zxid: Zxid = ZXID_NONE;
  /** The next in the same bucket. */
  next: PendingNode | undefined = undefined;
  /** Neighbours among the existing ephemerals of the same session. */
  nextOwned: PendingNode | undefined = undefined;
  previousOwned: PendingNode | undefined = undefined;
}

/** The state of a path before an op of the open multi touched it. */
interface Undo {
  readonly node: PendingNode;
  readonly wasPending: boolean;
  readonly exists: boolean;
  readonly id: number;
  readonly version: number;
  readonly aversion: number;
  readonly created: number;
  readonly childCount: number;
  readonly listedBytes: number;
  readonly dataLength: number;
  readonly acl: Acl;
  readonly ownerHigh: number;
  readonly ownerLow: number;
  readonly zxid: Zxid;
}

const FREE_COUNT_MAX = 4096;
const PATH_BYTES_KEPT = 1024;

/**
 * The outstanding layer: for each path that a proposal in flight concerns, its newest proposed
 * state. Requests are checked against it first and against the tree where it knows nothing, so a
 * pipeline of requests needs not wait for commits.
 *
 * A record leaves when the newest transaction that touched it is applied: a queue in proposal order
 * says which, so nothing is searched. A multi that is refused half-way restores every record,
 * parents and sequence counters included.
 */
export class PendingChanges {
  readonly #key: HashKey;
  #buckets: (PendingNode | undefined)[] = new Array<PendingNode | undefined>(256).fill(undefined);
  #count = 0;
  readonly #free: PendingNode[] = [];

  /** A ring of touches in proposal order. */
  #queueNodes: PendingNode[] = [];
  #queueZxids: number[] = [];
  #head = 0;
  #tail = 0;

  readonly #owned = new Map<number, Map<number, PendingNode>>();

  /** Ids below it are taken, by the tree's own account and by creates in flight. */
  nextNode = 0;
  readonly #undo: Undo[] = [];
  #isMulti = false;
  #tailBefore = 0;
  #nextNodeBefore = 0;

  /** @param key secret, so that clients cannot choose paths that collide */
  constructor(key: HashKey) {
    this.#key = derivedKey(key, 2);
  }

  /** How many paths have a proposal in flight. */
  get count(): number {
    return this.#count;
  }

  find(bytes: Uint8Array, start: number, end: number): PendingNode | undefined {
    if (this.#count === 0) return undefined;
    const hash = keyedHash(this.#key, 0, bytes, start, end);
    let pending = this.#buckets[hash & (this.#buckets.length - 1)];
    while (pending !== undefined && !(pending.hash === hash && isPath(pending, bytes, start, end)))
      pending = pending.next;
    return pending;
  }

  /** A new record for a path that {@link find} does not find, to be filled by the caller. */
  add(bytes: Uint8Array, start: number, end: number, zxid: Zxid): PendingNode {
    const pending = this.#free.pop() ?? new PendingNode();
    if (pending.path.length < end - start) pending.path = Buffer.allocUnsafeSlow((end - start) * 2);
    copyBytes(bytes, start, end, pending.path, 0);
    pending.length = end - start;
    pending.hash = keyedHash(this.#key, 0, bytes, start, end);
    pending.exists = false;
    pending.zxid = ZXID_NONE;
    if (this.#isMulti) this.#undo.push(undoOf(pending, false));
    this.#link(pending);
    this.#enqueue(pending, zxid);
    return pending;
  }

  /** Called before a record that was found is changed. */
  touch(pending: PendingNode, zxid: Zxid): void {
    if (this.#isMulti) this.#undo.push(undoOf(pending, true));
    this.#enqueue(pending, zxid);
  }

  /** The path will exist, owned by this. Everything else of the record is the caller's to fill. */
  setExisting(pending: PendingNode, ownerHigh: number, ownerLow: number): void {
    if (pending.exists) this.#disown(pending);
    pending.exists = true;
    pending.ownerHigh = ownerHigh;
    pending.ownerLow = ownerLow;
    this.#own(pending);
  }

  setDeleted(pending: PendingNode): void {
    if (pending.exists) this.#disown(pending);
    pending.exists = false;
  }

  /** An ephemeral of the session with a record that says it exists, or undefined. */
  firstOwned(high: number, low: number): PendingNode | undefined {
    return this.#owned.get(high)?.get(low);
  }

  beginMulti(): void {
    assert(!this.#isMulti, "multis do not nest");
    this.#isMulti = true;
    this.#tailBefore = this.#tail;
    this.#nextNodeBefore = this.nextNode;
  }

  endMulti(): void {
    assert(this.#isMulti, "a multi that ends was begun");
    this.#isMulti = false;
    this.#undo.length = 0;
  }

  /** Puts back every record that the multi touched. */
  abortMulti(): void {
    assert(this.#isMulti, "a multi that is taken back was begun");
    // rule: a-failed-multi-is-taken-back
    for (let i = this.#undo.length - 1; i >= 0; i--) this.#restore(this.#undo[i]);
    this.#tail = this.#tailBefore;
    this.nextNode = this.#nextNodeBefore;
    this.endMulti();
  }

  /** Everything up to this zxid is applied: records that nothing newer touched are dropped. */
  applied(zxid: Zxid): void {
    const mask = this.#queueNodes.length - 1;
    while (this.#head !== this.#tail) {
      const at = this.#head & mask;
      const touched = this.#queueZxids[at];
      if (touched > zxid) return;
      const pending = this.#queueNodes[at];
      this.#head++;
      if (pending.zxid === touched) this.#remove(pending);
    }
    this.#head = 0;
    this.#tail = 0;
  }

  /** Nothing that was proposed will come to pass: this server leads no more. */
  discard(): void {
    this.#buckets.fill(undefined);
    this.#count = 0;
    this.#owned.clear();
    this.#head = 0;
    this.#tail = 0;
    this.#queueNodes = [];
    this.#queueZxids = [];
    this.#undo.length = 0;
    this.#isMulti = false;
    this.nextNode = 0;
  }

  #restore(undo: Undo): void {
    const pending = undo.node;
    if (!undo.wasPending) {
      this.#remove(pending);
      return;
    }
    if (undo.exists) this.setExisting(pending, undo.ownerHigh, undo.ownerLow);
    else this.setDeleted(pending);
    pending.node = undo.id;
    pending.version = undo.version;
    pending.aversion = undo.aversion;
    pending.created = undo.created;
    pending.childCount = undo.childCount;
    pending.listedBytes = undo.listedBytes;
    pending.dataLength = undo.dataLength;
    pending.acl = undo.acl;
    pending.zxid = undo.zxid;
  }

  #enqueue(pending: PendingNode, zxid: Zxid): void {
    if (pending.zxid === zxid) return;
    pending.zxid = zxid;
    if (this.#tail - this.#head === this.#queueNodes.length) this.#growQueue(pending);
    const at = this.#tail & (this.#queueNodes.length - 1);
    this.#queueNodes[at] = pending;
    this.#queueZxids[at] = zxid;
    this.#tail++;
  }

  #growQueue(filler: PendingNode): void {
    const length = this.#queueNodes.length;
    const nodes = new Array<PendingNode>(Math.max(256, length * 2)).fill(filler);
    const zxids = new Array<number>(nodes.length).fill(0);
    for (let i = this.#head; i !== this.#tail; i++) {
      nodes[i & (nodes.length - 1)] = this.#queueNodes[i & (length - 1)];
      zxids[i & (nodes.length - 1)] = this.#queueZxids[i & (length - 1)];
    }
    this.#queueNodes = nodes;
    this.#queueZxids = zxids;
  }

  #link(pending: PendingNode): void {
    if (this.#count >= this.#buckets.length) this.#growBuckets();
    const bucket = pending.hash & (this.#buckets.length - 1);
    pending.next = this.#buckets[bucket];
    this.#buckets[bucket] = pending;
    this.#count++;
  }

  #growBuckets(): void {
    const old = this.#buckets;
    this.#buckets = new Array<PendingNode | undefined>(old.length * 2).fill(undefined);
    for (let chain of old) {
      while (chain !== undefined) {
        const next: PendingNode | undefined = chain.next;
        const bucket = chain.hash & (this.#buckets.length - 1);
        chain.next = this.#buckets[bucket];
        this.#buckets[bucket] = chain;
        chain = next;
      }
    }
  }

  #remove(pending: PendingNode): void {
    const bucket = pending.hash & (this.#buckets.length - 1);
    let before = this.#buckets[bucket];
    if (before === pending) this.#buckets[bucket] = pending.next;
    else {
      while (before !== undefined && before.next !== pending) before = before.next;
      assert(before !== undefined, "a pending record that is dropped is in its bucket");
      before.next = pending.next;
    }
    this.#count--;
    pending.next = undefined;
    this.setDeleted(pending);
    pending.acl = OPEN_ACL;
    if (this.#free.length < FREE_COUNT_MAX && pending.path.length <= PATH_BYTES_KEPT) this.#free.push(pending);
  }

  #own(pending: PendingNode): void {
    const { ownerHigh, ownerLow } = pending;
    if (nodeKind(ownerHigh, ownerLow) !== "ephemeral") return;
    let byLow = this.#owned.get(ownerHigh);
    if (byLow === undefined) {
      byLow = new Map();
      this.#owned.set(ownerHigh, byLow);
    }
    const first = byLow.get(ownerLow);
    pending.nextOwned = first;
    if (first !== undefined) first.previousOwned = pending;
    byLow.set(ownerLow, pending);
  }

  #disown(pending: PendingNode): void {
    const { ownerHigh, ownerLow, nextOwned, previousOwned } = pending;
    if (nodeKind(ownerHigh, ownerLow) !== "ephemeral") return;
    if (nextOwned !== undefined) nextOwned.previousOwned = previousOwned;
    if (previousOwned !== undefined) previousOwned.nextOwned = nextOwned;
    else if (nextOwned !== undefined) this.#owned.get(ownerHigh)?.set(ownerLow, nextOwned);
    else this.#forgetOwner(ownerHigh, ownerLow);
    pending.nextOwned = undefined;
    pending.previousOwned = undefined;
  }

  #forgetOwner(high: number, low: number): void {
    const byLow = this.#owned.get(high);
    byLow?.delete(low);
    if (byLow?.size === 0) this.#owned.delete(high);
  }
}

function isPath(pending: PendingNode, bytes: Uint8Array, start: number, end: number): boolean {
  if (pending.length !== end - start) return false;
  const path = pending.path;
  for (let i = start, at = 0; i < end; i++, at++) if (path[at] !== bytes[i]) return false;
  return true;
}

function undoOf(pending: PendingNode, wasPending: boolean): Undo {
  return {
    node: pending,
    wasPending,
    exists: pending.exists,
    id: pending.node,
    version: pending.version,
    aversion: pending.aversion,
    created: pending.created,
    childCount: pending.childCount,
    listedBytes: pending.listedBytes,
    dataLength: pending.dataLength,
    acl: pending.acl,
    ownerHigh: pending.ownerHigh,
    ownerLow: pending.ownerLow,
    zxid: pending.zxid,
  };
}
