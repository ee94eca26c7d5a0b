/**
 * Apache's transactions as ours. Both carry their effects; ours name nodes by ids, so each is
 * translated against the tree with everything before it applied, also the ops before it within one
 * transaction.
 *
 * Behind a snapshot the tree is fuzzy: the server wrote it while it applied transactions, so that
 * it may contain the effects of some that follow. A node that exists already, or is missing, is no
 * error then. Sources of these rules: ZooKeeper's DataTree; section 3.3 of the reference on
 * Apache's ensembles.
 *
 * | Apache's | ours |
 * | --- | --- |
 * ```
 *  Apache's                                        ours
 *  create of a node that exists (fuzzy)            SET_ACL, at the version that the list has
 *    and the parent has an older count             CREATE and DELETE of a sibling, with the count
 *  delete of a missing node, older parent          CREATE and DELETE, which leave the pzxid
 *  delete of a node with children (fuzzy)          DELETE of all of them, the deepest first
 *  create below a missing parent, change of a      nothing
 *    missing node (fuzzy)
 *  end of a session                                DELETE of the listed nodes, then of its other
 *                                                  ones, then CLOSE_SESSION
 *  an open session again, the configuration        nothing: the zxid alone
 *  error, failed multi                             ERROR
 * ```
 */
import {
  type Acl,
  assertNever,
  clearTxnOp,
  formatSessionId,
  isValidPath,
  lastSlash,
  newTxnOp,
  nodeKind,
  OPEN_ACL,
  OpCode,
  type SessionId,
  STAT_BYTES,
  StatOffset,
  sessionIdHigh,
  sessionIdLow,
  setSlice,
  type TxnHeader,
  type TxnOp,
  type Zxid,
  zxidFromHalves,
} from "@zooid/model";
import { type ApacheChange, type ApacheTransaction, ApacheType } from "@zooid/wire/apache";
import type { DataTree } from "../data-tree.ts";
import { ApacheTxnError } from "./apache-txn-error.ts";

export interface TranslatorOptions {
  /** The first 16 bytes of the SHA-256 of the password that Apache's servers derive from an id. */
  passwordHash(high: number, low: number): Uint8Array;
  /** The longest data of a node: more than that no client could read. */
  readonly dataBytesMax: number;
}

const NO_NODE = 0;
const NO_BYTES = new Uint8Array(0);
/** Children of one node that are looked at together. */
const CHILDREN_AT_ONCE = 1000;
const SUFFIX = Buffer.from("-");
const TIME_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The op of the header by the type of the transaction, where they have another number. */
const HEADER_OPS: ReadonlyMap<number, number> = new Map([
  // Without an op: the zxid is all that is kept.
  [ApacheType.RECONFIG, OpCode.MULTI],
  [ApacheType.CHECK, OpCode.MULTI],
]);

/** Makes our transactions of Apache's, against the tree that they are applied to. */
export class ApacheTranslator {
  /** Whether transactions may be contained in the tree already; otherwise that is an error. */
  isFuzzy = false;
  readonly #tree: DataTree;
  readonly #options: TranslatorOptions;
  readonly #op: TxnOp = newTxnOp();
  readonly #stat = new DataView(new ArrayBuffer(STAT_BYTES));
  #zxid: Zxid = 0 as Zxid;

  constructor(tree: DataTree, options: TranslatorOptions) {
    this.#tree = tree;
    this.#options = options;
  }

  /** Fills the header of our transaction, but for its origin. */
  header({ session, cxid, zxid, timeMs, type, changes }: ApacheTransaction, header: TxnHeader): void {
    if (timeMs > TIME_MAX || timeMs < -TIME_MAX)
      throw new ApacheTxnError({
        code: "CANNOT_BE_KEPT",
        zxid: Number(zxid) as Zxid,
        path: "a transaction",
        found: `its time is ${timeMs}`,
      });
    header.zxid = Number(zxid) as Zxid;
    header.sessionHigh = sessionIdHigh(session as SessionId);
    header.sessionLow = sessionIdLow(session as SessionId);
    header.cxid = cxid;
    header.timeMs = Number(timeMs);
    header.op = HEADER_OPS.get(type) ?? type;
    setSlice(header.who, NO_BYTES, 0, 0);
    const [first] = changes;
    if (first?.kind === "open-session" && this.#tree.hasSession(header.sessionHigh, header.sessionLow))
      header.op = OpCode.MULTI;
  }

  /**
   * The ops of our transaction. Each is valid until the next one is asked for, and must be applied
   * before that.
   *
   * @throws ApacheTxnError; the ops that were applied must not be kept then
   */
  *ops(transaction: ApacheTransaction): Generator<Readonly<TxnOp>, void, undefined> {
    this.#zxid = Number(transaction.zxid) as Zxid;
    if (transaction.error !== 0) {
      const op = this.#begin(OpCode.ERROR);
      op.code = transaction.error;
      yield op;
      return;
    }
    // The configuration of this server's ensemble is not that of Apache's.
    if (transaction.type === ApacheType.RECONFIG) return;
    for (const change of transaction.changes) yield* this.#change(change, transaction);
  }

  *#change(change: ApacheChange, { session, type }: ApacheTransaction): Generator<Readonly<TxnOp>, void, undefined> {
    switch (change.kind) {
      case "create":
        return yield* this.#create(change);
      case "delete":
        return yield* this.#delete(change.path, type === ApacheType.DELETE_CONTAINER);
      case "set":
        return yield* this.#set(change);
      case "set-acl": {
        const { path, acl, aversion } = change;
        const node = this.#changed(path);
        if (node !== NO_NODE) yield this.#setAcl(node, { path: Buffer.from(path), acl, aversion });
        return;
      }
      case "open-session":
        return yield* this.#openSession(session as SessionId, change.timeoutMs);
      case "close-session":
        return yield* this.#closeSession(session as SessionId, change.paths);
      default:
        return assertNever(change);
    }
  }

  *#create(change: Extract<ApacheChange, { kind: "create" }>): Generator<Readonly<TxnOp>, void, undefined> {
    const { path: text, data, acl, owner, parentCversion } = change;
    const path = Buffer.from(text);
    if (!isValidPath(path, 0, path.length)) throw this.#notKept(text, "no path of a znode is like it");
    this.#checkData(text, data);
    const tree = this.#tree;
    const parent = this.#parentOf(path);
    if (parent === NO_NODE) {
      this.#misfit(text, "its parent is missing");
      return;
    }
    const present = tree.find(path, 0, path.length);
    if (present !== NO_NODE) {
      this.#misfit(text, "the znode exists");
      tree.storedStat(present, this.#stat);
      yield this.#setAcl(present, { path, acl, aversion: this.#stat.getInt32(StatOffset.aversion) });
      if (parentCversion > tree.childrenCreated(parent)) yield* this.#countChild(path, parent, parentCversion);
      return;
    }
    const [ownerHigh, ownerLow] = [sessionIdHigh(owner as SessionId), sessionIdLow(owner as SessionId)];
    const op = this.#creation(path, parent);
    op.acl = known(acl);
    op.hasData = data !== null;
    if (data !== null) setSlice(op.data, data, 0, data.length);
    op.ownerHigh = ownerHigh;
    op.ownerLow = ownerLow;
    op.op = CREATES[nodeKind(ownerHigh, ownerLow)];
    op.parentCversion = parentCversion === -1 ? tree.childrenCreated(parent) + 1 : parentCversion;
    yield op;
  }

  /**
   * The parent was written before the node was created, and lacks that in its count. Apache's own
   * replay forgets it but for type 1.
   */
  *#countChild(path: Buffer, parent: number, cversion: number): Generator<Readonly<TxnOp>, void, undefined> {
    // A sibling that is there for a moment: its creation is what counts.
    let sibling = path;
    while (this.#tree.find(sibling, 0, sibling.length) !== NO_NODE) sibling = Buffer.concat([sibling, SUFFIX]);
    const op = this.#creation(sibling, parent);
    op.parentCversion = cversion;
    yield op;
    yield this.#deletion(sibling, OpCode.DELETE);
  }

  *#delete(text: string, isContainer: boolean): Generator<Readonly<TxnOp>, void, undefined> {
    const path = Buffer.from(text);
    const node = this.#tree.find(path, 0, path.length);
    if (node === NO_NODE) {
      this.#misfit(text, "the znode is missing");
      yield* this.#deleteMissing(path);
      return;
    }
    if (this.#tree.parent(node) === NO_NODE) throw this.#notKept("/", "no transaction deletes the root");
    if (this.#tree.view(node).childCount > 0) {
      this.#misfit(text, "the znode has children");
      yield* this.#deleteBelow(node);
    }
    yield this.#deletion(path, isContainer ? OpCode.DELETE_CONTAINER : OpCode.DELETE);
  }

  /** Those that come behind its own delete, which a snapshot has already. */
  *#deleteBelow(node: number): Generator<Readonly<TxnOp>, void, undefined> {
    const children: number[] = [];
    for (;;) {
      this.#tree.childrenAfter(node, { bytes: NO_BYTES, start: 0, end: 0 }, CHILDREN_AT_ONCE, children);
      if (children.length === 0) return;
      for (const child of [...children]) {
        if (this.#tree.view(child).childCount > 0) yield* this.#deleteBelow(child);
        yield this.#deletion(this.#tree.pathBytes(child), OpCode.DELETE);
      }
    }
  }

  /** The parent was written before the node was deleted, and lacks that in its pzxid. */
  *#deleteMissing(path: Buffer): Generator<Readonly<TxnOp>, void, undefined> {
    const parent = isValidPath(path, 0, path.length) ? this.#parentOf(path) : NO_NODE;
    if (parent === NO_NODE) return;
    this.#tree.storedStat(parent, this.#stat);
    const { pzxid } = StatOffset;
    if (zxidFromHalves(this.#stat.getInt32(pzxid), this.#stat.getInt32(pzxid + 4)) >= this.#zxid) return;
    const op = this.#creation(path, parent);
    op.op = OpCode.CREATE;
    op.parentCversion = this.#tree.childrenCreated(parent);
    yield op;
    yield this.#deletion(path, OpCode.DELETE);
  }

  *#set(change: Extract<ApacheChange, { kind: "set" }>): Generator<Readonly<TxnOp>, void, undefined> {
    const { path: text, data, version } = change;
    const node = this.#changed(text);
    if (node === NO_NODE) return;
    this.#checkData(text, data);
    const op = this.#begin(OpCode.SET_DATA);
    const path = Buffer.from(text);
    setSlice(op.path, path, 0, path.length);
    op.node = this.#tree.idOf(node);
    op.hasData = data !== null;
    if (data !== null) setSlice(op.data, data, 0, data.length);
    op.version = version;
    yield op;
  }

  *#openSession(id: SessionId, timeoutMs: number): Generator<Readonly<TxnOp>, void, undefined> {
    const [high, low] = [sessionIdHigh(id), sessionIdLow(id)];
    checkSession(id, timeoutMs, this.#zxid);
    if (this.#tree.hasSession(high, low)) return;
    const op = this.#begin(OpCode.CREATE_SESSION);
    op.timeoutMs = timeoutMs;
    const hash = this.#options.passwordHash(high, low);
    setSlice(op.passwordHash, hash, 0, hash.length);
    yield op;
  }

  /** A listed node may have another owner in a fuzzy tree. */
  *#closeSession(id: SessionId, paths: readonly string[]): Generator<Readonly<TxnOp>, void, undefined> {
    for (const text of paths) {
      const path = Buffer.from(text);
      if (this.#tree.find(path, 0, path.length) === NO_NODE) yield* this.#deleteMissing(path);
      else yield* this.#delete(text, false);
    }
    const [high, low] = [sessionIdHigh(id), sessionIdLow(id)];
    for (const path of this.#tree.ephemeralPaths(high, low)) yield* this.#delete(path, false);
    yield this.#begin(OpCode.CLOSE_SESSION);
  }

  #begin(kind: number): TxnOp {
    clearTxnOp(this.#op, kind);
    return this.#op;
  }

  /** Without data and owner; nothing of the parent changes unless its count of children rises. */
  #creation(path: Buffer, parent: number): TxnOp {
    const op = this.#begin(OpCode.CREATE);
    setSlice(op.path, path, 0, path.length);
    op.node = this.#tree.nextNodeId;
    op.parent = this.#tree.idOf(parent);
    return op;
  }

  #deletion(path: Buffer, kind: number): TxnOp {
    const node = this.#tree.find(path, 0, path.length);
    const op = this.#begin(kind);
    setSlice(op.path, path, 0, path.length);
    op.node = this.#tree.idOf(node);
    op.parent = this.#tree.idOf(this.#tree.parent(node));
    return op;
  }

  #setAcl(node: number, { path, acl, aversion }: { path: Buffer; acl: Acl; aversion: number }): TxnOp {
    const op = this.#begin(OpCode.SET_ACL);
    setSlice(op.path, path, 0, path.length);
    op.node = this.#tree.idOf(node);
    op.acl = known(acl);
    op.version = aversion;
    return op;
  }

  #parentOf(path: Buffer): number {
    const slash = lastSlash(path, 0, path.length);
    return path.length <= 1 ? NO_NODE : this.#tree.find(path, 0, Math.max(1, slash));
  }

  /** The node that a transaction changes; 0 where there is none. */
  #changed(text: string): number {
    const path = Buffer.from(text);
    const node = this.#tree.find(path, 0, path.length);
    if (node === NO_NODE) this.#misfit(text, "the znode is missing");
    return node;
  }

  #checkData(path: string, data: Buffer | null): void {
    const { dataBytesMax } = this.#options;
    const length = data?.length ?? 0;
    if (length > dataBytesMax)
      throw this.#notKept(path, `its ${length} bytes of data are more than the ${dataBytesMax} of jute.maxbuffer here`);
  }

  #notKept(path: string, found: string): ApacheTxnError {
    return new ApacheTxnError({ code: "CANNOT_BE_KEPT", zxid: this.#zxid, path, found });
  }

  /** @throws ApacheTxnError unless the tree is fuzzy */
  #misfit(path: string, found: string): void {
    if (!this.isFuzzy) throw new ApacheTxnError({ code: "DOES_NOT_FIT", zxid: this.#zxid, path, found });
  }
}

const CREATES = {
  persistent: OpCode.CREATE,
  ephemeral: OpCode.CREATE,
  container: OpCode.CREATE_CONTAINER,
  ttl: OpCode.CREATE_TTL,
} as const;

/** @throws ApacheTxnError for a session that cannot own ephemeral nodes, or ends at once */
export function checkSession(id: SessionId, timeoutMs: number, zxid: Zxid): void {
  const isOwner = nodeKind(sessionIdHigh(id), sessionIdLow(id)) === "ephemeral";
  if (isOwner && timeoutMs > 0) return;
  const found = isOwner
    ? `its timeout is ${timeoutMs} ms`
    : "its id marks znodes of another kind than ephemeral ones, since a server of Apache's has the number 255";
  throw new ApacheTxnError({ code: "CANNOT_BE_KEPT", zxid, path: `session ${formatSessionId(id)}`, found });
}

/** The open list is one object everywhere. */
function known(acl: Acl): Acl {
  const [first] = acl;
  const isOpen = acl.length === 1 && first?.perms === 31 && first.scheme === "world" && first.id === "anyone";
  return isOpen ? OPEN_ACL : acl;
}
