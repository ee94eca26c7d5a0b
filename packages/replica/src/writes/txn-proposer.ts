import type { CloseLimits, PrepareContext } from "@zooid/data-tree";
import {
  type ByteSlice,
  type ChangeRequest,
  clearTxnOp,
  composeZxid,
  ErrorCode,
  emptySlice,
  type Identity,
  type Members,
  newRequest,
  newTxnHeader,
  newTxnOp,
  nextZxid,
  OpCode,
  PASSWORD_HASH_BYTES,
  type Request,
  setSlice,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { whoOf } from "../auth/who.ts";
import type { GroundParts } from "../parts/ground.ts";
import type { FeatureLevel, RaiseAnswer } from "./feature-level.ts";
import { HeldShares } from "./held-shares.ts";
import type { ClosingAnswer, MemberChanges, OpeningAnswer } from "./member-changes.ts";
import { type MultiResult, OpenMulti } from "./open-multi.ts";
import type { QuotaNotes } from "./quota-notes.ts";

interface Parts extends GroundParts {
  readonly quotaNotes: QuotaNotes;
  readonly memberChanges: MemberChanges;
  readonly featureLevel: FeatureLevel;
}

/** The origin of a write, as its transaction's header carries it. */
export interface Requester {
  readonly sessionHigh: number;
  readonly sessionLow: number;
  /** The server that answers, and its number for the write. */
  readonly origin: number;
  readonly originSeq: number;
  readonly cxid: number;
  readonly op: number;
}

const NO_REQUESTER: Readonly<ByteSlice> = emptySlice();

/** No client waits for what an operator asks for. */
const OPERATOR: Requester = {
  sessionHigh: 0,
  sessionLow: 0,
  origin: 0,
  originSeq: 0,
  cxid: 0,
  op: OpCode.RECONFIG,
};

const RAISER: Requester = { ...OPERATOR, op: OpCode.RAISE_LEVEL };

/**
 * The work of an op of a transaction that is no multi; see {@link OpenMulti} for parts of a multi.
 */
const OP_WORK = 8;

/**
 * Prepares transactions at the leader: checks a request against the tree as it will be once
 * everything prepared before is applied, gives the transaction the next zxid, and adds it to the
 * next batch. A refused write becomes an error transaction, so that its answer keeps its place.
 *
 * A multi of many parts is prepared in several turns. Until it is complete, all other writes wait,
 * nothing is proposed, and nothing is applied.
 */
export class TxnProposer {
  readonly #parts: Parts;
  readonly #context: PrepareContext;
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  readonly #request: Request = newRequest();
  readonly #multi: OpenMulti;
  /** Writes that came while a multi was open, in order. */
  #waiting: (() => void)[] = [];
  readonly #closeLimits: CloseLimits;
  readonly #shares: HeldShares;
  #prepared: Zxid = composeZxid(0, 0);
  #wallMs = 0;
  #opCount = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { auth, config, tools, tree } = parts;
    const shares = new HeldShares(config.heldBytesMax, config.trustedProxies);
    this.#shares = shares;
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
      childrenBytesMax: config.createdListingBytesMax,
      overQuota: (excess, refused) => parts.quotaNotes.exceeded(excess, refused),
      // rule: a-share-of-the-tree-for-each-client
      mayAdd: (growthBytes) => shares.admits(this.#context.identities, growthBytes, this.#context.zxid, tree),
      fixAcl: (acl, identities) => auth.fixAcl(acl, identities),
    };
    this.#multi = new OpenMulti({
      tree,
      requests: tools.requests,
      batcher: tools.batcher,
      limits: config,
      context: this.#context,
      lacks: (op) => parts.featureLevel.lacks(op),
      put: (op) => this.#put(op),
    });
  }

  /** The limits of `config` have changed: they hold from the next write or part of a multi on. */
  limitsChanged(): void {
    const { isQuotaEnforced, heldBytesMax, createdListingBytesMax } = this.#parts.config;
    this.#shares.setMax(heldBytesMax);
    this.#context.isQuotaEnforced = isQuotaEnforced;
    this.#context.heldBytesMax = heldBytesMax;
    this.#context.childrenBytesMax = createdListingBytesMax;
  }

  /** The zxid of the last write so far: those that wait get the next ones. */
  get prepared(): Zxid {
    return (this.#prepared + this.#waiting.length) as Zxid;
  }

  /** Whether a multi is prepared in part, or writes wait for one: {@link prepareMore} has work. */
  get isPreparing(): boolean {
    return this.#multi.isOpen || this.#waiting.length > 0;
  }

  /** Ops of all transactions so far: what preparing costs. */
  get opCount(): number {
    return this.#opCount;
  }

  /** The wall clock, which is only ever stored and never goes back. */
  setWallTime(wallMs: number): void {
    // rule: stamps-never-fall
    if (wallMs > this.#wallMs) this.#wallMs = wallMs;
  }

  /** A new epoch: its first transaction has the counter 1. */
  beginEpoch(epoch: number): void {
    this.#prepared = composeZxid(epoch, 0);
  }

  /** The role has ended: what is prepared is not proposed any more. */
  discard(): void {
    const { tools, tree } = this.#parts;
    const { batcher } = tools;
    this.#waiting = [];
    if (this.#multi.isOpen) {
      this.#multi.discard();
      batcher.end();
    }
    while (batcher.count > 0) batcher.recycle(batcher.take());
    // rule: pending-changes-end-with-the-leadership
    tree.discardPending();
    this.#parts.memberChanges.discard();
    this.#parts.featureLevel.discard();
    this.#shares.discard();
  }

  /** Whether the number of paths in unapplied transactions makes further requests wait. */
  get isFull(): boolean {
    const { config, tree } = this.#parts;
    return tree.pendingCount >= config.outstandingPathCountMax;
  }

  /**
   * Prepares more of the open multi, and of the writes that wait for it, as much as one turn may.
   */
  prepareMore(): void {
    let work = this.#parts.config.prepareWorkPerTurn;
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
   * @param isLocal whether its session is a local one, known only to the client's server
   */
  write(requester: Requester, identities: readonly Identity[], request: Request, isLocal: boolean): void {
    // rule: writes-wait-for-an-open-multi
    if (this.isPreparing) {
      const { requests } = this.#parts.tools;
      const kept = { ...requester };
      const frame = requests.copyFrame();
      this.#waiting.push(() => {
        requests.open(frame, 0, frame.length, this.#request);
        requests.body(this.#request);
        this.#write(kept, identities, this.#request, isLocal);
      });
    } else this.#write(requester, identities, request, isLocal);
  }

  /** A write that is refused for a reason outside the tree. */
  refuse(requester: Requester, code: number): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      this.#error(code, 0, 0);
      this.#parts.tools.batcher.end();
    });
  }

  /** A change of the configuration that no client asks for. */
  reconfigure(change: ChangeRequest): ErrorCode {
    const { memberChanges } = this.#parts;
    return this.#change((context, op) => memberChanges.prepare(change, context, op, true));
  }

  /** A change to a list of servers in their files. */
  changeMembers(wish: Members): ErrorCode {
    const { memberChanges } = this.#parts;
    return this.#change((context, op) => memberChanges.prepareWish(wish, context, op));
  }

  /** An operator opens the ensemble to clients. */
  openClients(): OpeningAnswer {
    const opening = this.#parts.memberChanges.opening();
    if (typeof opening === "string") return opening;
    return this.changeMembers(opening) === ErrorCode.OK ? "proposed" : "busy";
  }

  /** An operator closes the ensemble to clients. */
  closeClients(): ClosingAnswer {
    const closing = this.#parts.memberChanges.closing();
    if (typeof closing === "string") return closing;
    return this.changeMembers(closing) === ErrorCode.OK ? "proposed" : "busy";
  }

  /** An operator raises the feature level. */
  raiseLevel(): RaiseAnswer {
    const answer = this.#parts.featureLevel.mayRaise();
    if (answer.kind !== "proposed") return answer;
    if (this.isPreparing) return { kind: "busy" };
    // 1. The leader S3 of S2 and S3 has logged a change that adds S1. S1's version does
    //    not know the level, and those of S2 and S3 do.
    // 2. If S3 raised the level now, S1 would be a member that cannot follow.
    if (this.#parts.memberChanges.isUnderWay) return { kind: "busy" };
    this.#raiseTo(answer.level);
    return answer;
  }

  /** Writes the level at which the ensemble is founded, unless that is what no entry means. */
  foundLevel(): void {
    const level = this.#parts.zab.foundingLevel ?? 1;
    if (level > 1) this.#raiseTo(level);
  }

  #raiseTo(level: number): void {
    this.#begin(RAISER);
    this.#parts.featureLevel.prepare(level, this.#header.zxid, this.#op);
    this.#put(this.#op);
    this.#parts.tools.batcher.end();
  }

  #change(prepare: (context: Readonly<PrepareContext>, op: TxnOp) => ErrorCode): ErrorCode {
    if (this.isPreparing) return ErrorCode.OPERATION_TIMEOUT;
    const { tools } = this.#parts;
    this.#begin(OPERATOR);
    const code = prepare(this.#context, this.#op);
    if (code === ErrorCode.OK) this.#put(this.#op);
    else this.#error(code, 0, 0);
    tools.batcher.end();
    return code;
  }

  /** The end of a container or TTL node that is due in the tree. Not while {@link isPreparing}. */
  reap(requester: Requester, node: number): void {
    this.#begin(requester);
    this.#parts.tree.prepareReap(node, this.#context, this.#op);
    this.#put(this.#op);
    this.#parts.tools.batcher.end();
  }

  /** @param passwordHash the first bytes of the password's SHA-256; it is kept */
  createSession(requester: Requester, timeoutMs: number, passwordHash: Uint8Array): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      const hash = { bytes: passwordHash, start: 0, end: PASSWORD_HASH_BYTES };
      this.#parts.tree.prepareCreateSession(timeoutMs, hash, this.#context, this.#op);
      this.#put(this.#op);
      this.#parts.tools.batcher.end();
    });
  }

  /** The end of a session, or the next part of it; see {@link DataTree.prepareCloseSession}. */
  closeSession(requester: Requester): void {
    this.#inOrder(requester, (kept) => {
      this.#begin(kept);
      const { sessionHigh, sessionLow } = kept;
      this.#parts.tree.prepareCloseSession(sessionHigh, sessionLow, this.#closeLimits, this.#context, (op) =>
        this.#put(op),
      );
      this.#parts.tools.batcher.end();
    });
  }

  /** Makes a transaction, now or after the open multi. */
  #inOrder(requester: Requester, make: (requester: Requester) => void): void {
    if (!this.isPreparing) {
      make(requester);
      return;
    }
    const kept = { ...requester };
    this.#waiting.push(() => make(kept));
  }

  #write(requester: Requester, identities: readonly Identity[], request: Request, isLocal: boolean): void {
    this.#begin(requester, this.#parts.tools.history === undefined ? NO_REQUESTER : whoOf(identities));
    const context = this.#context;
    context.identities = identities;
    context.isLocal = isLocal;
    const { featureLevel, memberChanges, tree } = this.#parts;
    if (request.op === OpCode.MULTI) {
      this.#multi.begin();
      this.#endMulti(this.#multi.run(this.#parts.config.prepareWorkPerTurn));
      return;
    }
    let code: ErrorCode = ErrorCode.UNIMPLEMENTED;
    if (request.op === OpCode.RECONFIG && request.change !== undefined) {
      code = memberChanges.prepare(request.change, context, this.#op);
    } else if (!featureLevel.lacks(request.op)) code = tree.prepare(request, context, this.#op);
    if (code === ErrorCode.OK) this.#put(this.#op);
    else this.#error(code, 0, 0);
    this.#parts.tools.batcher.end();
  }

  #endMulti(result: Readonly<MultiResult> | undefined): void {
    if (result === undefined) {
      this.#parts.postponed.mark();
      return;
    }
    if (result.code !== ErrorCode.OK) this.#error(result.code, result.failedIndex, result.count);
    this.#parts.tools.batcher.end();
  }

  #begin(requester: Requester, who: Readonly<ByteSlice> = NO_REQUESTER): void {
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
    setSlice(header.who, who.bytes, who.start, who.end);
    const context = this.#context;
    context.sessionHigh = requester.sessionHigh;
    context.sessionLow = requester.sessionLow;
    context.zxid = header.zxid;
    context.timeMs = header.timeMs;
    this.#parts.tools.batcher.begin(header);
  }

  #put(op: Readonly<TxnOp>): void {
    this.#opCount++;
    this.#parts.tools.batcher.op(op);
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
