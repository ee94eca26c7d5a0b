import {
  type Acl,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  READ_ONLY_ACL,
  STAT_BYTES,
  StatOffset,
  sliceOf,
  sliceText,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import type { StateSink } from "../state/state-store.ts";
import { Z } from "./append-batches.ts";

/** A plain model of the state for tests, and random transactions. */

interface PlainNode {
  parentId: number;
  name: string;
  data: string | null;
  stat: Buffer;
  acl: Acl;
}
export interface PlainState {
  readonly nodes: Map<number, PlainNode>;
  readonly sessions: Map<string, { timeoutMs: number; password: string }>;
}

/**
 * The state as a model would keep it: random transactions are applied to it one by one, and
 * encoded.
 */
export class Oracle implements PlainState {
  readonly nodes: Map<number, PlainNode> = new Map();
  readonly sessions: Map<string, { timeoutMs: number; password: string }> = new Map();
  readonly encoder: TxnBatchEncoder = new TxnBatchEncoder();
  zxid: Zxid = Z(1, 0);
  nextNode = 5;
  level = 1;
  #random: number;

  constructor(seed: number, initial: PlainState) {
    this.#random = seed;
    for (const [id, node] of initial.nodes) this.nodes.set(id, { ...node, stat: Buffer.from(node.stat) });
  }

  /** One that takes the same steps from here on. Encoded bytes that were not taken stay behind. */
  copy(): Oracle {
    const copy = new Oracle(this.#random, this);
    for (const [key, session] of this.sessions) copy.sessions.set(key, { ...session });
    copy.zxid = this.zxid;
    copy.nextNode = this.nextNode;
    copy.level = this.level;
    return copy;
  }

  step(): void {
    const header = newTxnHeader();
    this.zxid = (this.zxid + 1) as Zxid;
    header.zxid = this.zxid;
    header.timeMs = 1_700_000_000_000 + (this.zxid % 1000);
    header.sessionHigh = this.#pick(3) - 1;
    header.sessionLow = -this.#pick(4);
    this.encoder.begin(header);
    for (let ops = 1 + this.#pick(3); ops > 0; ops--) this.#op(header.timeMs, header.sessionHigh, header.sessionLow);
    this.encoder.end();
  }

  /** Raises the feature level by one. */
  raise(): void {
    this.zxid = (this.zxid + 1) as Zxid;
    const op = newTxnOp();
    op.op = OpCode.RAISE_LEVEL;
    op.version = ++this.level;
    this.encoder.begin({ ...newTxnHeader(), zxid: this.zxid, op: OpCode.RAISE_LEVEL });
    this.encoder.op(op);
    this.encoder.end();
  }

  #op(timeMs: number, idHigh: number, idLow: number): void {
    const op = newTxnOp();
    const ids = [...this.nodes.keys()];
    const id = ids[this.#pick(ids.length)] ?? 1;
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error("a node is missing");
    const choice = this.#pick(10);
    const text = `data ${this.#pick(1000)}`.repeat(this.#pick(40));
    op.hasData = this.#pick(5) > 0;
    op.data = sliceOf(text);
    const data = op.hasData ? text : null;
    op.acl =
      [OPEN_ACL, READ_ONLY_ACL, [{ perms: 3, scheme: "digest", id: `user-${this.#pick(3)}` }]][this.#pick(3)] ??
      OPEN_ACL;
    if (choice < 4) {
      op.op = OpCode.CREATE;
      op.parent = id;
      op.node = this.nextNode++;
      op.path = sliceOf(`/somewhere/ü-${op.node}`);
      op.ownerHigh = this.#pick(2) * -7;
      op.ownerLow = this.#pick(2) * 9;
      op.parentCversion = node.stat.readInt32BE(StatOffset.cversion) + 1;
      node.stat.writeInt32BE(op.parentCversion, StatOffset.cversion);
      put(node.stat, StatOffset.pzxid, this.zxid);
      const stat = Buffer.alloc(STAT_BYTES);
      for (const at of [StatOffset.czxid, StatOffset.mzxid, StatOffset.pzxid]) put(stat, at, this.zxid);
      for (const at of [StatOffset.ctime, StatOffset.mtime]) put(stat, at, timeMs);
      stat.writeInt32BE(op.ownerHigh, StatOffset.ephemeralOwner);
      stat.writeInt32BE(op.ownerLow, StatOffset.ephemeralOwner + 4);
      stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
      this.nodes.set(op.node, { parentId: id, name: `ü-${op.node}`, data, stat, acl: op.acl });
    } else if (choice < 6 && id > 4 && ![...this.nodes.values()].some(({ parentId }) => parentId === id)) {
      op.op = OpCode.DELETE;
      op.node = id;
      op.parent = node.parentId;
      this.nodes.delete(id);
      const parent = this.nodes.get(node.parentId);
      if (parent !== undefined) put(parent.stat, StatOffset.pzxid, this.zxid);
    } else if (choice < 8) {
      op.op = OpCode.SET_DATA;
      op.node = id;
      op.version = node.stat.readInt32BE(StatOffset.version) + 1;
      node.data = data;
      node.stat.writeInt32BE(op.version, StatOffset.version);
      node.stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
      put(node.stat, StatOffset.mzxid, this.zxid);
      put(node.stat, StatOffset.mtime, timeMs);
    } else if (choice < 9) {
      op.op = OpCode.SET_ACL;
      op.node = id;
      op.version = node.stat.readInt32BE(StatOffset.aversion) + 1;
      node.acl = op.acl;
      node.stat.writeInt32BE(op.version, StatOffset.aversion);
    } else if (this.#pick(2) === 0) {
      op.op = OpCode.CREATE_SESSION;
      op.timeoutMs = 1000 + this.#pick(100);
      op.passwordHash = sliceOf("0123456789abcdef");
      this.sessions.set(`${idHigh},${idLow}`, { timeoutMs: op.timeoutMs, password: "0123456789abcdef" });
    } else {
      op.op = OpCode.CLOSE_SESSION;
      this.sessions.delete(`${idHigh},${idLow}`);
    }
    this.encoder.op(op);
  }

  #pick(count: number): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * count);
  }
}

function put(stat: Buffer, at: number, value: number): void {
  stat.writeInt32BE(zxidHigh(value), at);
  stat.writeInt32BE(zxidLow(value), at + 4);
}

/** The content of a state file, as plain objects. */
export function loaded(from: { loadState(sink: StateSink): unknown }): PlainState {
  const state: PlainState = { nodes: new Map(), sessions: new Map() };
  from.loadState({
    session: ({ idHigh, idLow, timeoutMs, passwordHash }) =>
      state.sessions.set(`${idHigh},${idLow}`, { timeoutMs, password: Buffer.from(passwordHash).toString() }),
    node: ({ id, parentId, name, hasData, data, stat, acl }) =>
      state.nodes.set(id, {
        parentId,
        name: sliceText(name),
        data: hasData ? sliceText(data) : null,
        stat: Buffer.from(stat.bytes.subarray(stat.start, stat.end)),
        acl,
      }),
  });
  return state;
}
