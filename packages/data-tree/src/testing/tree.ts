import {
  type Acl,
  type ConnectionRef,
  composeZxid,
  copySlice,
  ErrorCode,
  type Identity,
  may,
  newRequest,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  type Request,
  STAT_BYTES,
  StatOffset,
  sliceOf,
  sliceText,
  type TxnHeader,
  type TxnOp,
  WatchEventType,
} from "@zooid/model";
import { DataTree } from "../data-tree.ts";
import type { Excess } from "../prepare/excess.ts";
import type { CloseLimits, PrepareContext } from "../prepare/prepare-context.ts";
import type { WatchSink } from "../watches/watch-table.ts";

const NO_LIMITS: CloseLimits = { opCountMax: Number.POSITIVE_INFINITY, pathBytesMax: Number.POSITIVE_INFINITY };

/** A transaction as it travels: copies, so that it may wait. */
export interface Txn {
  readonly header: TxnHeader;
  readonly ops: readonly TxnOp[];
}

/**
 * For tests: a tree with a leader's habits. Requests are proposed, and applied when the test says
 * so.
 */
export class TestTree {
  readonly tree: DataTree;
  readonly context: PrepareContext;
  /** Events that were sent, as `connection event path`. */
  readonly events: string[] = [];
  /** Quota reports for operators. */
  readonly overQuota: Excess[] = [];
  /** Everything ever proposed, failed requests too. */
  readonly history: Txn[] = [];
  /** Proposed and not applied. */
  readonly queue: Txn[] = [];
  readonly sink: WatchSink;
  identitiesOf = (_connection: ConnectionRef): readonly Identity[] => [];
  #counter = 0;

  constructor(hashSeed = 1) {
    this.tree = new DataTree({ hashKey: { k0: hashSeed, k1: 7 } });
    this.context = {
      sessionHigh: 1,
      sessionLow: 1,
      identities: [],
      rules: { skipAcl: false, schemes: new Map([["digest", {}]]) },
      zxid: composeZxid(1, 0),
      timeMs: 0,
      fixAcl: (acl) => acl,
      isTtlEnabled: true,
      isQuotaEnforced: true,
      heldBytesMax: Number.POSITIVE_INFINITY,
      overQuota: (excess) => this.overQuota.push(excess),
    };
    this.sink = {
      mayRead: (connection, acl) => may(this.context.rules, this.identitiesOf(connection), acl, 1),
      event: (connection, _zxid, type, path) => {
        this.events.push(`${connection} ${EVENT_NAMES[type]} ${sliceText(path)}`);
      },
    };
  }

  /** Prepares a request as the next transaction; a refused one consumes its zxid too. */
  propose(request: Request): ErrorCode {
    const op = newTxnOp();
    const header = this.#nextHeader(request.op);
    const code = this.tree.prepare(request, this.context, op);
    this.#enqueue(header, [code === ErrorCode.OK ? copyOp(op) : errorOp(code)]);
    return code;
  }

  /** The codes of its parts, up to the first that is refused. */
  proposeMulti(requests: readonly Request[]): ErrorCode[] {
    const header = this.#nextHeader(OpCode.MULTI);
    const ops: TxnOp[] = [];
    const codes: ErrorCode[] = [];
    const op = newTxnOp();
    this.tree.beginMulti();
    for (const request of requests) {
      const code = this.tree.prepare(request, this.context, op);
      codes.push(code);
      if (code !== ErrorCode.OK) {
        this.tree.abortMulti();
        this.#enqueue(header, [errorOp(code)]);
        return codes;
      }
      ops.push(copyOp(op));
    }
    this.tree.endMulti();
    this.#enqueue(header, ops);
    return codes;
  }

  proposeReconfig(text: string): void {
    const op = newTxnOp();
    const header = this.#nextHeader(OpCode.RECONFIG);
    const code = this.tree.prepareReconfig(Buffer.from(text), this.context, op, true);
    this.#enqueue(header, [code === ErrorCode.OK ? copyOp(op) : errorOp(code)]);
  }

  proposeSession(high: number, low: number): void {
    this.context.sessionHigh = high;
    this.context.sessionLow = low;
    const op = newTxnOp();
    const header = this.#nextHeader(OpCode.CREATE_SESSION);
    this.tree.prepareCreateSession(30_000, sliceOf("0123456789abcdef"), this.context, op);
    this.#enqueue(header, [copyOp(op)]);
  }

  /**
   * Proposes the reaping of a leader that looks at every container and TTL node once, at a time.
   * Returns the paths that go.
   */
  proposeReaping(timeMs: number, neverUsedMsMax = 0): string[] {
    const { tree } = this;
    const op = newTxnOp();
    const paths: string[] = [];
    for (let left = tree.reapableCount; left > 0; left--) {
      const node = tree.takeReapable();
      if (!tree.isReapable(node, { neverUsedMsMax }, timeMs)) continue;
      const header = this.#nextHeader(OpCode.DELETE_CONTAINER);
      tree.prepareReap(node, this.context, op);
      paths.push(sliceText(op.path));
      this.#enqueue(header, [copyOp(op)]);
    }
    return paths;
  }

  /** The paths that go with the session. */
  proposeClose(high: number, low: number, limits: CloseLimits = NO_LIMITS): string[] {
    this.context.sessionHigh = high;
    this.context.sessionLow = low;
    const header = this.#nextHeader(OpCode.CLOSE_SESSION);
    const ops: TxnOp[] = [];
    this.tree.prepareCloseSession(high, low, limits, this.context, (op) => ops.push(copyOp(op)));
    this.#enqueue(header, ops);
    return ops.filter((op) => op.op === OpCode.DELETE).map((op) => sliceText(op.path));
  }

  applyNext(): void {
    const txn = this.queue.shift();
    if (txn !== undefined) applyTxn(this.tree, txn, this.sink);
  }

  applyAll(): void {
    while (this.queue.length > 0) this.applyNext();
  }

  /** Proposes and applies. */
  commit(request: Request): ErrorCode {
    const code = this.propose(request);
    this.applyAll();
    return code;
  }

  find(path: string): number {
    const { bytes, start, end } = sliceOf(path);
    return this.tree.find(bytes, start, end);
  }

  /** The Stat's fields as a client would read them. */
  stat(path: string): Record<keyof typeof StatOffset, number> {
    return readStat(this.tree, this.find(path));
  }

  /** Null is ZooKeeper's. */
  data(path: string): string | null {
    const view = this.tree.view(this.find(path));
    return view.hasData ? sliceText(view.data) : null;
  }

  children(path: string): string[] {
    const view = this.tree.view(this.find(path));
    const names: string[] = [];
    for (let more = view.firstChild(); more; more = view.nextChild()) names.push(sliceText(view.childName));
    return names.sort();
  }

  digest(): string {
    return `${this.tree.digestHigh} ${this.tree.digestLow}`;
  }

  /** Events since the last call. */
  takeEvents(): string[] {
    return this.events.splice(0);
  }

  #nextHeader(op: number): TxnHeader {
    this.#counter++;
    this.context.zxid = composeZxid(1, this.#counter);
    this.context.timeMs = this.#counter * 1000;
    const { zxid, timeMs, sessionHigh, sessionLow } = this.context;
    return { ...newTxnHeader(), zxid, timeMs, sessionHigh, sessionLow, op };
  }

  #enqueue(header: TxnHeader, ops: readonly TxnOp[]): void {
    this.queue.push({ header, ops });
    this.history.push({ header, ops });
  }
}

const EVENT_NAMES: Record<number, string> = {
  [WatchEventType.NODE_CREATED]: "created",
  [WatchEventType.NODE_DELETED]: "deleted",
  [WatchEventType.NODE_DATA_CHANGED]: "data",
  [WatchEventType.NODE_CHILDREN_CHANGED]: "children",
};

export function applyTxn(tree: DataTree, txn: Txn, sink?: WatchSink): void {
  for (const op of txn.ops) tree.apply(txn.header, op, sink);
  tree.finish(txn.header);
}

export function readStat(tree: DataTree, node: number): Record<keyof typeof StatOffset, number> {
  const { statView, statStart } = tree.view(node);
  const view = new DataView(statView.buffer, statView.byteOffset + statStart, STAT_BYTES);
  const long = (offset: number): number => Number(view.getBigInt64(offset));
  return {
    czxid: long(StatOffset.czxid),
    mzxid: long(StatOffset.mzxid),
    ctime: long(StatOffset.ctime),
    mtime: long(StatOffset.mtime),
    version: view.getInt32(StatOffset.version),
    cversion: view.getInt32(StatOffset.cversion),
    aversion: view.getInt32(StatOffset.aversion),
    ephemeralOwner: long(StatOffset.ephemeralOwner),
    dataLength: view.getInt32(StatOffset.dataLength),
    numChildren: view.getInt32(StatOffset.numChildren),
    pzxid: long(StatOffset.pzxid),
  };
}

export interface CreateOptions {
  readonly op?: number;
  readonly data?: string | null;
  readonly flags?: number;
  readonly acl?: Acl | undefined;
  readonly ttlMs?: number;
}

export function create(path: string, options: CreateOptions = {}): Request {
  const { op = OpCode.CREATE, data = "", flags = 0, ttlMs = -1 } = options;
  const acl = "acl" in options ? options.acl : OPEN_ACL;
  return { ...requestOf(op, path), ...dataOf(data), flags, ttlMs, acl };
}

export function setData(path: string, data: string | null, version = -1): Request {
  return { ...requestOf(OpCode.SET_DATA, path), ...dataOf(data), version };
}

export function remove(path: string, version = -1): Request {
  return { ...requestOf(OpCode.DELETE, path), version };
}

export function setAcl(path: string, acl: Acl | undefined, version = -1): Request {
  return { ...requestOf(OpCode.SET_ACL, path), acl, version };
}

export function check(path: string, version = -1): Request {
  return { ...requestOf(OpCode.CHECK, path), version };
}

function requestOf(op: number, path: string): Request {
  return { ...newRequest(), op, hasPath: true, path: sliceOf(path) };
}

function dataOf(data: string | null): Pick<Request, "hasData" | "data"> {
  return { hasData: data !== null, data: sliceOf(data ?? "") };
}

function errorOp(code: ErrorCode): TxnOp {
  return { ...newTxnOp(), op: OpCode.ERROR, code };
}

function copyOp(op: Readonly<TxnOp>): TxnOp {
  const copy = (slice: Readonly<TxnOp["path"]>) => {
    const bytes = copySlice(slice);
    return { bytes, start: 0, end: bytes.length };
  };
  return { ...op, path: copy(op.path), data: copy(op.data), passwordHash: copy(op.passwordHash) };
}
