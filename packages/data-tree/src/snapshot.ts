import {
  type Acl,
  assert,
  type ByteSlice,
  copyBytes,
  emptySlice,
  STAT_BYTES,
  StatOffset,
  type Zxid,
} from "@zooid/model";
import { IntColumn } from "./nodes/columns.ts";
import { NO_NODE, ROOT } from "./nodes/node-row.ts";
import { type TreeState, textLength } from "./tree-state.ts";

/**
 * A node as it is kept outside the tree: in a state file, in a snapshot that is sent to another
 * server.
 */
export interface NodeRecord {
  readonly id: number;
  /** 0 for the root. */
  readonly parentId: number;
  /** Empty for the root. */
  readonly name: Uint8Array;
  readonly data: Uint8Array | null;
  /**
   * 68 bytes laid out like a Stat on the wire, in stored form: cversion counts the children ever
   * created, ephemeralOwner is the owner of containers and TTL nodes too, numChildren is 0 and is
   * not read.
   */
  readonly stat: Uint8Array;
  readonly acl: Acl;
}

export interface SessionRecord {
  readonly high: number;
  readonly low: number;
  readonly timeoutMs: number;
  readonly passwordHash: Uint8Array;
  /** Whether the password follows from the id. Of a record that is loaded; default: no. */
  readonly hasDerivedPassword?: boolean;
}

/** The replicated state beside nodes and sessions. */
export interface TreeRecord {
  readonly applied: Zxid;
  /** The id of the node that is created next. */
  readonly nextNode: number;
  /** The feature level in force. */
  readonly level: number;
}

export type SnapshotRecord =
  | ({ readonly kind: "tree" } & TreeRecord)
  | ({ readonly kind: "session" } & SessionRecord)
  | ({ readonly kind: "node" } & NodeRecord);

/**
 * The whole state as records: first the tree's own, then sessions by id, then nodes by id, so
 * parents before their children. Equal states give equal records. The state must not change until
 * the last one is taken.
 */
export function* snapshotOf(state: TreeState): Generator<SnapshotRecord, void, undefined> {
  // rule: a-state-with-its-level
  yield { kind: "tree", applied: state.applied, nextNode: state.nextNode, level: state.level };
  for (const row of sessionRows(state)) yield { kind: "session", ...sessionRecord(state, row) };
  for (const node of nodesById(state)) yield { kind: "node", ...nodeRecord(state, node) };
}

export function sessionRecord(state: TreeState, row: number): SessionRecord {
  const { sessions } = state;
  return {
    high: sessions.high(row),
    low: sessions.low(row),
    timeoutMs: sessions.timeoutMs(row),
    passwordHash: sessions.passwordHash(row),
  };
}

/** A node's record. It is made of copies, which the caller may keep. */
export function nodeRecord(state: TreeState, node: number): NodeRecord {
  const { store, acls } = state;
  const slice = emptySlice();
  const stat = new Uint8Array(STAT_BYTES);
  writeStoredStat(state, node, new DataView(stat.buffer));
  store.name(node, slice);
  const name = copyOf(slice);
  store.data(node, slice);
  return {
    id: store.id(node),
    parentId: node === ROOT ? 0 : store.id(store.parent(node)),
    name,
    data: store.hasData(node) ? copyOf(slice) : null,
    stat,
    acl: acls.get(store.aclId(node)),
  };
}

/** A node's Stat in stored form, see {@link NodeRecord}. */
export function writeStoredStat({ store }: TreeState, node: number, into: DataView): void {
  const bytes = store.statBytes(node);
  const start = store.statStart(node);
  for (let at = 0; at < STAT_BYTES; at++) into.setUint8(at, bytes[start + at]);
  into.setInt32(StatOffset.cversion, store.created(node));
  into.setInt32(StatOffset.ephemeralOwner, store.owners.high(node));
  into.setInt32(StatOffset.ephemeralOwner + 4, store.owners.low(node));
  into.setInt32(StatOffset.numChildren, 0);
}

/** Into plain bytes: a Buffer's own slice would be a view. */
function copyOf(slice: Readonly<ByteSlice>): Uint8Array {
  const copy = new Uint8Array(slice.end - slice.start);
  copyBytes(slice.bytes, slice.start, slice.end, copy, 0);
  return copy;
}

/** Every node, the lowest id first. */
export function nodesById(state: TreeState): Uint32Array {
  const { store } = state;
  const nodes = new Uint32Array(store.count);
  let count = 0;
  let isSorted = true;
  let last = 0;
  for (let node: number = ROOT; node < store.end; node++) {
    if (!store.exists(node)) continue;
    nodes[count++] = node;
    if (store.id(node) < last) isSorted = false;
    last = store.id(node);
  }
  return isSorted ? nodes : nodes.sort((a, b) => store.id(a) - store.id(b));
}

/** The rows of all open sessions, by unsigned id. */
export function sessionRows(state: TreeState): number[] {
  const { sessions } = state;
  const rows: number[] = [];
  for (let row = 1; row < sessions.end; row++) if (sessions.isOpen(row)) rows.push(row);
  return rows.sort(
    (a, b) => (sessions.high(a) >>> 0) - (sessions.high(b) >>> 0) || (sessions.low(a) >>> 0) - (sessions.low(b) >>> 0),
  );
}

/** Fills a tree that holds nothing yet. Sums, lists and the digest are computed, never read. */
export class TreeLoader {
  readonly #state: TreeState;
  /**
   * The length of each node's path, in UTF-16 units; 0 for the root, whose slash its children's
   * paths begin with.
   */
  readonly #pathLengths = new IntColumn();

  constructor(state: TreeState) {
    this.#state = state;
  }

  session(record: Readonly<SessionRecord>): void {
    const { sessions } = this.#state;
    const row = sessions.findOrAdd(record.high, record.low);
    sessions.open(row, record.timeoutMs, record.passwordHash, 0, record.passwordHash.length);
    if (record.hasDerivedPassword === true) sessions.markDerived(row);
    this.#state.addSessionToDigest(row);
  }

  /** Nodes come by ascending id, so a node's parent has come before it. */
  node(record: Readonly<NodeRecord>): void {
    const state = this.#state;
    const { store } = state;
    const { id, data, stat } = record;
    assert(store.count === 0 || id > store.id(store.end - 1), "nodes are loaded by ascending id");
    assert(stat.length === STAT_BYTES, "a loaded Stat has its full length");
    const node = store.count === 0 ? this.#root(record) : this.#child(record);
    if (data === null) store.setNullData(node);
    else store.setData(node, data, 0, data.length);
    this.#loadStat(node, stat);
    store.setAclId(node, state.acls.acquire(record.acl));
    const pathLength = node === ROOT ? 1 : this.#pathLengths.get(node);
    state.approximateDataSize += pathLength + (data === null ? 0 : data.length);
    if (id >= state.nextNode) state.nextNode = id + 1;
  }

  finish(record: Readonly<TreeRecord>): void {
    const state = this.#state;
    assert(state.store.count > 0, "a loaded tree has a root");
    for (let node: number = ROOT; node < state.store.end; node++) state.addToDigest(node);
    state.nextNode = Math.max(state.nextNode, record.nextNode);
    state.applied = record.applied;
    state.raiseLevel(record.level);
    state.quotas.begin();
  }

  #root(record: Readonly<NodeRecord>): number {
    assert(record.parentId === 0 && record.name.length === 0, "the first node that is loaded is the root");
    return this.#state.store.createRoot(record.id);
  }

  #child(record: Readonly<NodeRecord>): number {
    const { store } = this.#state;
    const { id, parentId, name } = record;
    const parent = this.#findById(parentId);
    assert(parent !== NO_NODE, "the parent of a loaded node was loaded before it");
    assert(name.length > 0 && !name.includes(0), "a loaded node has a name without NUL");
    assert(store.child(parent, name, 0, name.length) === NO_NODE, "no two loaded nodes have the same path");
    const node = store.create(parent, name, 0, name.length, id);
    this.#pathLengths.set(node, this.#pathLengths.get(parent) + 1 + textLength(name, 0, name.length));
    return node;
  }

  #loadStat(node: number, stat: Uint8Array): void {
    const { store } = this.#state;
    const dataLength = store.statInt(node, StatOffset.dataLength);
    const view = new DataView(stat.buffer, stat.byteOffset, stat.length);
    for (let offset = 0; offset < STAT_BYTES; offset += 4) store.setStatInt(node, offset, view.getInt32(offset));
    store.setStatInt(node, StatOffset.dataLength, dataLength);
    store.setStatInt(node, StatOffset.numChildren, 0);
    store.setCreated(node, view.getInt32(StatOffset.cversion));
    this.#state.setOwner(node, view.getInt32(StatOffset.ephemeralOwner), view.getInt32(StatOffset.ephemeralOwner + 4));
  }

  /** Nothing was deleted since loading began, so indexes ascend with ids. */
  #findById(id: number): number {
    const { store } = this.#state;
    let low: number = ROOT;
    let high = store.end - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = store.id(middle);
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return NO_NODE;
  }
}
