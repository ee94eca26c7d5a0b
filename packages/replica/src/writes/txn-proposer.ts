import type { CloseLimits, DataTree, PrepareContext } from "@zooid/data-tree";
import {
  clearTxnOp,
  composeZxid,
  ErrorCode,
  type Identity,
  newRequest,
  newTxnHeader,
  newTxnOp,
  nextZxid,
  OpCode,
  PASSWORD_HASH_BYTES,
  type Request,
  type RequestDecoder,
  type TxnBatcher,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { AuthSchemes } from "../auth/auth-schemes.ts";
import type { ReplicaConfig } from "../config.ts";
import { HeldShares } from "./held-shares.ts";
import { type MultiLimits, type MultiResult, OpenMulti } from "./open-multi.ts";

/** Who asked, as the transaction's header tells it. */
export interface Requester {
  readonly sessionHigh: number;
  readonly sessionLow: number;
  /** The server that will answer, and that server's number for the request. */
  readonly origin: number;
  readonly originSeq: number;
  readonly cxid: number;
  readonly op: number;
}

/** What a transaction may hold; see {@link ReplicaConfig}. */
export type TxnLimits = MultiLimits & Pick<ReplicaConfig, "closeOpCountMax" | "closePathBytesMax">;
type TxnProposerConfig = TxnLimits &
  Pick<
    ReplicaConfig,
    "prepareWorkPerTurn" | "outstandingPathCountMax" | "isTtlEnabled" | "isQuotaEnforced" | "heldBytesMax"
  >;

/** What one op of other transactions than multis counts, where a part of a multi counts as {@link OpenMulti} says. */
const OP_WORK = 8;

/**
 * The leader's own half of every write: judges a request against the tree as it will be, gives it the next zxid, and gathers the
 * transaction for the next batch. What is refused becomes a transaction too, so that its answer keeps its place.
 *
 * A multi of many parts is prepared in several turns. Until it is prepared as a whole, all that is asked for waits behind it, nothing is
 * proposed, and nothing is applied.
 */
export class TxnProposer {
  readonly #tree: DataTree;
  readonly #requests: RequestDecoder;
  readonly #batcher: TxnBatcher;
  readonly #context: PrepareContext;
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  readonly #request: Request = newRequest();
  readonly #multi: OpenMulti;
  /** What was asked for while a multi was open, in its order. */
  #waiting: (() => void)[] = [];
  readonly #workPerTurn: number;
  readonly #pathCountMax: number;
  readonly #closeLimits: CloseLimits;
  readonly #shares: HeldShares;
  #prepared: Zxid = composeZxid(0, 0);
  #wallMs = 0;
  #opCount = 0;

  constructor(
    tree: DataTree,
    auth: AuthSchemes,
    config: TxnProposerConfig,
    tools: { readonly requests: RequestDecoder; readonly batcher: TxnBatcher },
    overQuota: PrepareContext["overQuota"],
  ) {
    this.#tree = tree;
    this.#requests = tools.requests;
    this.#batcher = tools.batcher;
    const shares = new HeldShares(config.heldBytesMax);
    this.#shares = shares;
    this.#workPerTurn = config.prepareWorkPerTurn;
    this.#pathCountMax = config.outstandingPathCountMax;
    this.#closeLimits = { opCountMax: config.closeOpCountMax, pathBytesMax: config.closePathBytesMax };
    this.#context = {
      sessionHigh: 0,
      sessionLow: 0,
      identities: [],
      rules: auth.rules,
      zxid: this.#prepared,
      timeMs: 0,
      isTtlEnabled: config.isTtlEnabled,
      isQuotaEnforced: config.isQuotaEnforced,
      heldBytesMax: config.heldBytesMax,
      overQuota,
      // rule: a-share-of-the-tree-for-each-client
      mayAdd: (growthBytes) => shares.admits(this.#context.identities, growthBytes, this.#context.zxid, tree),
      fixAcl: (acl, identities) => auth.fixAcl(acl, identities),
    };
    this.#multi = new OpenMulti({
      ...{ tree, requests: tools.requests, batcher: tools.batcher, limits: config, context: this.#context },
      put: (op) => this.#put(op),
    });
  }

  /** The zxid of the last transaction that was asked for: each that waits has the next one. */
  get prepared(): Zxid {
    return (this.#prepared + this.#waiting.length) as Zxid;
  }

  /** Whether a multi is prepared in part, or anything waits behind one: {@link goOn} has something to do. */
  get isPreparing(): boolean {
    return this.#multi.isOpen || this.#waiting.length > 0;
  }

  /** Transactions wait in the batch. */
  get count(): number {
    return this.#batcher.count;
  }

  /** Ops of all transactions so far: what preparing costs. */
  get opCount(): number {
    return this.#opCount;
  }

  /** The wall clock, which is only ever stored and never goes back. */
  setWallTime(wallMs: number): void {
    if (wallMs > this.#wallMs) this.#wallMs = wallMs;
  }

  /** A new epoch: its first transaction has the counter 1. */
  beginEpoch(epoch: number): void {
    this.#prepared = composeZxid(epoch, 0);
  }

  /** What was prepared and not proposed will never be. */
  discard(): void {
    this.#waiting = [];
    if (this.#multi.isOpen) {
      this.#multi.discard();
      this.#batcher.end();
    }
    while (this.#batcher.count > 0) this.#batcher.recycle(this.#batcher.take());
    this.#tree.discardPending();
    this.#shares.discard();
  }

  /** Whether transactions that are not applied concern so many paths that nothing more is to be asked for. */
  get isFull(): boolean {
    return this.#tree.pendingCount >= this.#pathCountMax;
  }

  /** Prepares more of the open multi, and of what waits behind it: as much as one turn may. */
  goOn(): void {
    let work = this.#workPerTurn;
    if (this.#multi.isOpen) {
      const before = this.#opCount;
      this.#endMulti(this.#multi.resume(work));
      work -= (this.#opCount - before) * OP_WORK;
    }
    const waiting = this.#waiting;
    if (this.#multi.isOpen || waiting.length === 0) return;
    this.#waiting = [];
    let taken = 0;
    while (taken < waiting.length && work > 0 && !this.#multi.isOpen) {
      const before = this.#opCount;
      waiting[taken++]?.();
      work -= (this.#opCount - before) * OP_WORK;
    }
    this.#waiting = waiting.slice(taken);
  }

  /**
   * A write whose body the decoder has read.
   *
   * @param isLocal whether its session is known to the server alone that its client is connected to
   */
  write(requester: Requester, identities: readonly Identity[], request: Request, isLocal: boolean): void {
    // rule: writes-wait-for-an-open-multi
    if (this.isPreparing) {
      const kept = { ...requester };
      const frame = this.#requests.copyFrame();
      this.#waiting.push(() => {
        this.#requests.open(frame, 0, frame.length, this.#request);
        this.#requests.body(this.#request);
        this.#write(kept, identities, this.#request, isLocal);
      });
    } else this.#write(requester, identities, request, isLocal);
  }

  /** A write that is refused for a reason that the tree does not know. */
  refuse(requester: Requester, code: number): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      this.#error(code, 0, 0);
      this.#batcher.end();
    });
  }

  /** The end of a container or TTL node of which the tree has just said that it may go. Not while {@link isPreparing}. */
  reap(requester: Requester, node: number): void {
    this.#begin(requester);
    this.#tree.prepareReap(node, this.#context, this.#op);
    this.#put(this.#op);
    this.#batcher.end();
  }

  /** @param passwordHash the first bytes of the password's SHA-256; it is kept */
  createSession(requester: Requester, timeoutMs: number, passwordHash: Uint8Array): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      const hash = { bytes: passwordHash, start: 0, end: PASSWORD_HASH_BYTES };
      this.#tree.prepareCreateSession(timeoutMs, hash, this.#context, this.#op);
      this.#put(this.#op);
      this.#batcher.end();
    });
  }

  /** The end of a session, or the next part of it; see {@link DataTree.prepareCloseSession}. */
  closeSession(requester: Requester): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      const { sessionHigh, sessionLow } = kept;
      this.#tree.prepareCloseSession(sessionHigh, sessionLow, this.#closeLimits, this.#context, (op) => this.#put(op));
      this.#batcher.end();
    });
  }

  /** Makes a transaction, now or behind what is being prepared. */
  #inOrder(requester: Requester, make: (requester: Requester) => void): void {
    if (!this.isPreparing) {
      make(requester);
      return;
    }
    const kept = { ...requester };
    this.#waiting.push(() => make(kept));
  }

  #write(requester: Requester, identities: readonly Identity[], request: Request, isLocal: boolean): void {
    this.#begin(requester);
    const context = this.#context;
    context.identities = identities;
    context.isLocal = isLocal;
    if (request.op === OpCode.MULTI) {
      this.#multi.begin();
      this.#endMulti(this.#multi.run(this.#workPerTurn));
      return;
    }
    const code = this.#tree.prepare(request, context, this.#op);
    if (code === ErrorCode.OK) this.#put(this.#op);
    else this.#error(code, 0, 0);
    this.#batcher.end();
  }

  #endMulti(result: Readonly<MultiResult> | undefined): void {
    if (result === undefined) return;
    if (result.code !== ErrorCode.OK) this.#error(result.code, result.failedIndex, result.count);
    this.#batcher.end();
  }

  #begin(requester: Requester): void {
    const header = this.#header;
    this.#prepared = nextZxid(this.#prepared);
    header.zxid = this.#prepared;
    header.sessionHigh = requester.sessionHigh;
    header.sessionLow = requester.sessionLow;
    header.cxid = requester.cxid;
    header.timeMs = this.#wallMs;
    header.origin = requester.origin;
    header.originSeq = requester.originSeq;
    header.op = requester.op;
    const context = this.#context;
    context.sessionHigh = requester.sessionHigh;
    context.sessionLow = requester.sessionLow;
    context.zxid = header.zxid;
    context.timeMs = header.timeMs;
    this.#batcher.begin(header);
  }

  #put(op: Readonly<TxnOp>): void {
    this.#opCount++;
    this.#batcher.op(op);
  }

  #error(code: number, failedIndex: number, opCount: number): void {
    const op = this.#op;
    clearTxnOp(op, OpCode.ERROR);
    op.code = code;
    op.failedIndex = failedIndex;
    op.opCount = opCount;
    this.#put(op);
  }
}
