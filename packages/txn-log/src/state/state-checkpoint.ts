import {
  type ByteSlice,
  copyBytes,
  copySlice,
  formatZxid,
  InvariantError,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  StatOffset,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model/storage";
import type { Pace } from "../threads/pace.ts";
import type { CheckpointPlan } from "./checkpoint-plan.ts";
import { type ArenaLimits, NodeArena } from "./node-arena.ts";
import { dataStart, RowOffset, setHasData } from "./node-row.ts";
import type { StateFile } from "./state-file.ts";

type SessionChange =
  | {
      readonly kind: "open";
      readonly idHigh: number;
      readonly idLow: number;
      readonly timeoutMs: number;
      readonly passwordHash: Uint8Array;
    }
  | { readonly kind: "begin-close" | "close"; readonly idHigh: number; readonly idLow: number };

const SESSION_CHANGES_MAX = 4_096;
/** Zxids in one request to the log. */
const ASKED_MAX = 1_024;

/**
 * The effects of a run of transactions on a state file, gathered before they are written, so that a
 * node which changes a thousand times is written once. Effects are those of `TxnOp`; one that does
 * not fit the state is a defect, for replay is strict.
 */
export class StateCheckpoint {
  nextNodeId = 0;
  /** The feature level at the end of what was added. */
  level = 1;
  readonly #state: StateFile;
  readonly #decoder: TxnDecoder;
  readonly #arena: NodeArena;
  readonly #sessions = new Map<string, SessionChange>();
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  #openAclId = 0;
  /** Undefined once the pass in log order is over. */
  #plan: CheckpointPlan | undefined;
  /** Nodes with a smaller id may be missing from the file if the run deletes them. */
  #capturedBelow = 0;

  constructor(state: StateFile, decoder: TxnDecoder, limits?: ArenaLimits, pace?: Pace) {
    this.#state = state;
    this.#decoder = decoder;
    this.#arena = new NodeArena(state, limits, pace);
  }

  /**
   * Begins within a transaction that is open on the file.
   *
   * @param plan of a checkpoint that may skip entries
   */
  begin(plan?: CheckpointPlan): void {
    this.#plan = plan;
    this.#openAclId = this.#state.aclId(OPEN_ACL);
    this.nextNodeId = this.#state.meta.nextNodeId;
    this.level = this.#state.meta.level;
    this.#arena.writtenCount = 0;
  }

  /**
   * As {@link begin}, in a file whose rows were captured one by one while the run was applied to
   * the tree. Each of them is as old as the run's beginning or newer, up to its end; nodes that the
   * run creates are not among them.
   */
  beginCaptured(nextNodeId: number, level: number): void {
    this.begin();
    this.nextNodeId = nextNodeId;
    this.level = level;
    this.#capturedBelow = nextNodeId;
  }

  /** Takes one entry; the bytes are the caller's again afterwards. */
  add(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    this.#decoder.open(bytes, start, end, this.#header);
    while (this.#decoder.next(this.#op)) this.#apply(zxid, this.#op);
  }

  /**
   * Adds the last writes of a plan in node order. Called after the pass in log order.
   *
   * @param read calls {@link add} for the first of these zxids, and for as many more as it likes;
   *   returns the count
   */
  addLastWrites(plan: CheckpointPlan, read: (zxids: Float64Array) => number): void {
    this.#plan = undefined;
    if (!plan.hasLastWrites) return;
    this.#arena.widen();
    for (const group of plan.lastWrites(this.#arena.byteLimit)) {
      for (let at = 0; at < group.length; ) at += read(group.subarray(at, at + ASKED_MAX));
      this.#arena.write();
    }
    this.#arena.release();
  }

  /** Bytes of rows that fit in the arena. */
  get rowBytesMax(): number {
    return this.#arena.byteLimit;
  }

  /**
   * Writes what is gathered; the transaction is the caller's to end. Returns how many nodes were
   * written.
   */
  end(): number {
    this.#arena.write();
    this.#writeSessions();
    return this.#arena.writtenCount;
  }

  /** Gives the memory back that the next checkpoint would use again. */
  release(): void {
    this.#arena.release();
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
      case OpCode.BEGIN_CLOSE_SESSION:
      case OpCode.CLOSE_SESSION:
        return this.#changeSession(op);
      case OpCode.RAISE_LEVEL:
        // Also where the file has it from a walk over the tree that came after the entry.
        this.level = Math.max(this.level, op.version);
        return;
      default:
        if (op.op !== OpCode.CHECK && op.op !== OpCode.ERROR) defect(zxid, `has the unknown op ${op.op}`);
    }
  }

  #create(zxid: Zxid, op: TxnOp): void {
    if (op.node < this.nextNodeId) defect(zxid, `creates node ${op.node} again`);
    this.nextNodeId = op.node + 1;
    const { path, data } = op;
    const nameStart = startOfName(path);
    const nameLength = path.end - nameStart;
    const dataLength = op.hasData ? data.end - data.start : 0;
    const at = this.#arena.create(op.node, RowOffset.name + nameLength + dataLength);
    const { bytes } = this.#arena;
    bytes.fill(0, at, at + RowOffset.name);
    bytes.writeDoubleBE(op.node, at + RowOffset.id);
    bytes.writeDoubleBE(op.parent, at + RowOffset.parentId);
    bytes.writeUInt32BE(this.#aclId(op), at + RowOffset.aclId);
    bytes.writeUInt32BE(nameLength, at + RowOffset.nameLength);
    setHasData(bytes, at, op.hasData);
    const stat = at + RowOffset.stat;
    putLong(bytes, stat + StatOffset.czxid, zxid);
    putLong(bytes, stat + StatOffset.mzxid, zxid);
    putLong(bytes, stat + StatOffset.pzxid, zxid);
    putLong(bytes, stat + StatOffset.ctime, this.#header.timeMs);
    putLong(bytes, stat + StatOffset.mtime, this.#header.timeMs);
    bytes.writeInt32BE(op.ownerHigh, stat + StatOffset.ephemeralOwner);
    bytes.writeInt32BE(op.ownerLow, stat + StatOffset.ephemeralOwner + 4);
    bytes.writeInt32BE(dataLength, stat + StatOffset.dataLength);
    copyBytes(path.bytes, nameStart, path.end, bytes, at + RowOffset.name);
    if (dataLength > 0) copyBytes(data.bytes, data.start, data.end, bytes, at + RowOffset.name + nameLength);
    this.#countChild(zxid, op);
  }

  #countChild(zxid: Zxid, op: TxnOp): void {
    if (this.#isGone(op.parent)) return;
    const stat = this.#stat(op.parent, zxid);
    const { bytes } = this.#arena;
    if (op.parentCversion <= bytes.readInt32BE(stat + StatOffset.cversion)) return;
    bytes.writeInt32BE(op.parentCversion, stat + StatOffset.cversion);
    putLong(bytes, stat + StatOffset.pzxid, zxid);
  }

  #delete(zxid: Zxid, op: TxnOp): void {
    this.#plan?.drop(op.node, zxid);
    if (!this.#isGone(op.node) && !this.#arena.remove(op.node))
      defect(zxid, `deletes node ${op.node}, which does not exist`);
    if (this.#isGone(op.parent)) return;
    const at = this.#stat(op.parent, zxid) + StatOffset.pzxid;
    const { bytes } = this.#arena;
    if (zxid > readLong(bytes, at)) putLong(bytes, at, zxid);
  }

  #setData(zxid: Zxid, op: TxnOp): void {
    if (this.#isGone(op.node)) return;
    this.#plan?.drop(op.node, zxid);
    const { data } = op;
    const dataLength = op.hasData ? data.end - data.start : 0;
    const at = this.#arena.replaceData(op.node, dataLength);
    if (at === undefined) defect(zxid, `changes node ${op.node}, which does not exist`);
    const { bytes } = this.#arena;
    const stat = at + RowOffset.stat;
    setHasData(bytes, at, op.hasData);
    if (dataLength > 0) copyBytes(data.bytes, data.start, data.end, bytes, dataStart(bytes, at));
    bytes.writeInt32BE(dataLength, stat + StatOffset.dataLength);
    bytes.writeInt32BE(op.version, stat + StatOffset.version);
    putLong(bytes, stat + StatOffset.mzxid, zxid);
    putLong(bytes, stat + StatOffset.mtime, this.#header.timeMs);
  }

  #setAcl(zxid: Zxid, op: TxnOp): void {
    if (this.#isGone(op.node)) return;
    const stat = this.#stat(op.node, zxid);
    const { bytes } = this.#arena;
    bytes.writeUInt32BE(this.#aclId(op), stat - RowOffset.stat + RowOffset.aclId);
    bytes.writeInt32BE(op.version, stat + StatOffset.aversion);
  }

  #changeSession(op: TxnOp): void {
    if (this.#sessions.size === SESSION_CHANGES_MAX) this.#writeSessions();
    const { sessionHigh: idHigh, sessionLow: idLow } = this.#header;
    const key = `${idHigh},${idLow}`;
    if (op.op === OpCode.CLOSE_SESSION) {
      this.#sessions.set(key, { kind: "close", idHigh, idLow });
      return;
    }
    if (op.op === OpCode.BEGIN_CLOSE_SESSION) {
      const known = this.#sessions.get(key);
      if (known?.kind === "open") this.#sessions.set(key, { ...known, timeoutMs: 0 });
      else if (known === undefined) this.#sessions.set(key, { kind: "begin-close", idHigh, idLow });
      return;
    }
    const passwordHash = copySlice(op.passwordHash);
    this.#sessions.set(key, { kind: "open", idHigh, idLow, timeoutMs: op.timeoutMs, passwordHash });
  }

  #writeSessions(): void {
    for (const session of this.#sessions.values()) {
      if (session.kind === "open") this.#state.openSession(session);
      else if (session.kind === "begin-close") this.#state.beginCloseSession(session.idHigh, session.idLow);
      else this.#state.closeSession(session.idHigh, session.idLow);
    }
    this.#sessions.clear();
  }

  #aclId(op: TxnOp): number {
    return op.acl === OPEN_ACL ? this.#openAclId : this.#state.aclId(op.acl);
  }

  /** The node was deleted before it could be captured: so says a later transaction of the run. */
  #isGone(id: number): boolean {
    return id < this.#capturedBelow && this.#arena.find(id) === undefined;
  }

  /** Where a node's stat lies in the arena, until more room is needed. */
  #stat(id: number, zxid: Zxid): number {
    const place = this.#arena.find(id);
    if (place === undefined) defect(zxid, `changes node ${id}, which does not exist`);
    return place + RowOffset.stat;
  }
}

const SLASH = 0x2f;

/** An `assert` whose sentence is only made when it is needed: this is asked for every op. */
function defect(zxid: Zxid, what: string): never {
  throw new InvariantError(`transaction ${formatZxid(zxid)} ${what}`);
}

/** The last part of a path. */
function startOfName({ bytes, start, end }: Readonly<ByteSlice>): number {
  let at = end;
  while (at > start && bytes[at - 1] !== SLASH) at--;
  return at;
}

function putLong(bytes: Buffer, at: number, value: number): void {
  bytes.writeInt32BE(zxidHigh(value), at);
  bytes.writeInt32BE(zxidLow(value), at + 4);
}

function readLong(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
