import {
  copySlice,
  formatZxid,
  InvariantError,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  STAT_BYTES,
  StatOffset,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model";
import { BatchCursor } from "./entry-batch.ts";
import type { NodeRow } from "./node-row.ts";
import type { StateFile } from "./state-file.ts";

interface Folded {
  /** Undefined once the node is deleted. */
  row: NodeRow | undefined;
  readonly age: "new" | "known";
}

type SessionChange =
  | {
      readonly kind: "open";
      readonly idHigh: number;
      readonly idLow: number;
      readonly timeoutMs: number;
      readonly passwordHash: Uint8Array;
    }
  | { readonly kind: "close"; readonly idHigh: number; readonly idLow: number };

/**
 * What a run of transactions makes of a state file, gathered first and written at the end, so that a node which changes a thousand times is
 * written once. Effects are those of `TxnOp`; what does not fit the state is a defect, for replay is strict.
 */
export class StateFold {
  nextNodeId: number;
  readonly #state: StateFile;
  readonly #decoder: TxnDecoder;
  readonly #openAclId: number;
  readonly #nodes = new Map<number, Folded>();
  readonly #sessions = new Map<string, SessionChange>();
  readonly #batch = new BatchCursor();
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();

  /** @param state with a transaction open */
  constructor(state: StateFile, decoder: TxnDecoder) {
    this.#state = state;
    this.#decoder = decoder;
    this.#openAclId = state.aclId(OPEN_ACL);
    this.nextNodeId = state.meta.nextNodeId;
  }

  /** Takes a run of entries; the bytes are the caller's again afterwards. */
  add(bytes: Uint8Array): void {
    this.#batch.open(bytes, 0, bytes.length);
    while (this.#batch.next()) {
      const { zxid, start, end } = this.#batch;
      this.#decoder.open(bytes, start, end, this.#header);
      while (this.#decoder.next(this.#op)) this.#apply(zxid, this.#op);
    }
  }

  /** Writes everything gathered, in the order of ids, within the file's open transaction. Returns how many nodes. */
  write(): number {
    const state = this.#state;
    const changed = [...this.#nodes].sort(([a], [b]) => a - b);
    for (const [id, { row, age }] of changed) {
      if (row !== undefined) state.putNode(row, age);
      else if (age === "known") state.deleteNode(id);
    }
    for (const session of this.#sessions.values()) {
      if (session.kind === "open") state.openSession(session);
      else state.closeSession(session.idHigh, session.idLow);
    }
    return changed.length;
  }

  #apply(zxid: Zxid, op: TxnOp): void {
    switch (op.op) {
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        return this.#create(zxid, op);
      case OpCode.DELETE:
      case OpCode.DELETE_CONTAINER:
        return this.#delete(zxid, op);
      case OpCode.SET_DATA:
        return this.#setData(zxid, op);
      case OpCode.SET_ACL:
        return this.#setAcl(zxid, op);
      case OpCode.CREATE_SESSION:
      case OpCode.CLOSE_SESSION:
        return this.#changeSession(op);
      default:
        if (op.op !== OpCode.CHECK && op.op !== OpCode.ERROR) defect(zxid, `has the unknown op ${op.op}`);
    }
  }

  #create(zxid: Zxid, op: TxnOp): void {
    if (this.#nodes.has(op.node)) defect(zxid, `creates node ${op.node} again`);
    const stat = Buffer.allocUnsafe(STAT_BYTES).fill(0);
    for (const at of [StatOffset.czxid, StatOffset.mzxid, StatOffset.pzxid]) putLong(stat, at, zxid);
    for (const at of [StatOffset.ctime, StatOffset.mtime]) putLong(stat, at, this.#header.timeMs);
    stat.writeInt32BE(op.ownerHigh, StatOffset.ephemeralOwner);
    stat.writeInt32BE(op.ownerLow, StatOffset.ephemeralOwner + 4);
    const data = op.hasData ? copySlice(op.data) : undefined;
    stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
    this.#nodes.set(op.node, {
      age: "new",
      row: { id: op.node, parentId: op.parent, name: nameOf(op), data, stat, aclId: this.#aclId(op) },
    });
    if (op.node >= this.nextNodeId) this.nextNodeId = op.node + 1;
    const parent = this.#node(op.parent, zxid).stat;
    if (op.parentCversion > parent.readInt32BE(StatOffset.cversion)) {
      parent.writeInt32BE(op.parentCversion, StatOffset.cversion);
      putLong(parent, StatOffset.pzxid, zxid);
    }
  }

  #delete(zxid: Zxid, op: TxnOp): void {
    const folded = this.#folded(op.node, zxid);
    folded.row = undefined;
    const parent = this.#node(op.parent, zxid).stat;
    if (zxid > readLong(parent, StatOffset.pzxid)) putLong(parent, StatOffset.pzxid, zxid);
  }

  #setData(zxid: Zxid, op: TxnOp): void {
    const row = this.#node(op.node, zxid);
    row.data = op.hasData ? copySlice(op.data) : undefined;
    row.stat.writeInt32BE(row.data?.length ?? 0, StatOffset.dataLength);
    row.stat.writeInt32BE(op.version, StatOffset.version);
    putLong(row.stat, StatOffset.mzxid, zxid);
    putLong(row.stat, StatOffset.mtime, this.#header.timeMs);
  }

  #setAcl(zxid: Zxid, op: TxnOp): void {
    const row = this.#node(op.node, zxid);
    row.aclId = this.#aclId(op);
    row.stat.writeInt32BE(op.version, StatOffset.aversion);
  }

  #changeSession(op: TxnOp): void {
    const { sessionHigh: idHigh, sessionLow: idLow } = this.#header;
    const key = `${idHigh},${idLow}`;
    if (op.op === OpCode.CLOSE_SESSION) {
      this.#sessions.set(key, { kind: "close", idHigh, idLow });
      return;
    }
    const passwordHash = copySlice(op.passwordHash);
    this.#sessions.set(key, { kind: "open", idHigh, idLow, timeoutMs: op.timeoutMs, passwordHash });
  }

  #aclId(op: TxnOp): number {
    return op.acl === OPEN_ACL ? this.#openAclId : this.#state.aclId(op.acl);
  }

  #node(id: number, zxid: Zxid): NodeRow {
    const { row } = this.#folded(id, zxid);
    if (row === undefined) defect(zxid, `changes node ${id}, which is deleted`);
    return row;
  }

  #folded(id: number, zxid: Zxid): Folded {
    const known = this.#nodes.get(id);
    if (known !== undefined) return known;
    const row = this.#state.node(id);
    if (row === undefined) defect(zxid, `changes node ${id}, which does not exist`);
    const folded: Folded = { row, age: "known" };
    this.#nodes.set(id, folded);
    return folded;
  }
}

const SLASH = 0x2f;

/** An `assert` whose sentence is only made when it is needed: this is asked for every op. */
function defect(zxid: Zxid, what: string): never {
  throw new InvariantError(`transaction ${formatZxid(zxid)} ${what}`);
}

function nameOf(op: TxnOp): Uint8Array {
  const { bytes, start, end } = op.path;
  let at = end;
  while (at > start && bytes[at - 1] !== SLASH) at--;
  return Uint8Array.prototype.slice.call(bytes, at, end);
}

function putLong(bytes: Buffer, at: number, value: number): void {
  bytes.writeInt32BE(zxidHigh(value), at);
  bytes.writeInt32BE(zxidLow(value), at + 4);
}

function readLong(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
