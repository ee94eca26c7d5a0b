import type { CloseLimits, DataTree, PrepareContext } from "@zooid/data-tree";
import {
  type Acl,
  type ByteSlice,
  clearTxnOp,
  composeZxid,
  ErrorCode,
  type Identity,
  newRequest,
  newTxnHeader,
  newTxnOp,
  nextZxid,
  OPEN_ACL,
  OpCode,
  PASSWORD_HASH_BYTES,
  type Request,
  type RequestDecoder,
  type TxnBatcher,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { AuthSchemes } from "./auth.ts";
import type { ReplicaConfig } from "./config.ts";
import { HeldShares } from "./held-shares.ts";

/** Who asked, as the transaction's header tells it. */
export interface Asker {
  readonly sessionHigh: number;
  readonly sessionLow: number;
  /** The server that will answer, and that server's number for the request. */
  readonly origin: number;
  readonly originSeq: number;
  readonly cxid: number;
  readonly op: number;
}

/** What a transaction may hold; see {@link ReplicaConfig}. */
export type TxnLimits = Pick<
  ReplicaConfig,
  "txnBytesMax" | "multiOpCountMax" | "multiPathNamesMax" | "multiAclCountMax" | "closeOpCountMax" | "closePathBytesMax"
>;
type TxnMakerConfig = TxnLimits & Pick<ReplicaConfig, "isTtlEnabled" | "isQuotaEnforced" | "heldBytesMax">;

const SLASH = 0x2f;

/**
 * The leader's own half of every write: judges a request against the tree as it will be, gives it the next zxid, and gathers the
 * transaction for the next batch. What is refused becomes a transaction too, so that its answer keeps its place.
 */
export class TxnMaker {
  readonly #tree: DataTree;
  readonly #requests: RequestDecoder;
  readonly #batcher: TxnBatcher;
  readonly #context: PrepareContext;
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  readonly #part: Request = newRequest();
  readonly #acls = new DistinctAcls();
  readonly #limits: TxnLimits;
  readonly #closeLimits: CloseLimits;
  readonly #shares: HeldShares;
  #prepared: Zxid = composeZxid(0, 0);
  #wallMs = 0;
  #opCount = 0;

  constructor(
    tree: DataTree,
    auth: AuthSchemes,
    config: TxnMakerConfig,
    tools: { readonly requests: RequestDecoder; readonly batcher: TxnBatcher },
    overQuota: PrepareContext["overQuota"],
  ) {
    this.#tree = tree;
    this.#requests = tools.requests;
    this.#batcher = tools.batcher;
    const shares = new HeldShares(config.heldBytesMax);
    this.#shares = shares;
    this.#limits = config;
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
  }

  /** The last zxid given to a transaction. */
  get prepared(): Zxid {
    return this.#prepared;
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
    if (this.#batcher.count > 0) this.#batcher.recycle(this.#batcher.take());
    this.#tree.discardPending();
    this.#shares.discard();
  }

  /**
   * A write whose body the decoder has read.
   *
   * @param isLocal whether its session is known to the server alone that its client is connected to
   */
  write(asker: Asker, identities: readonly Identity[], request: Request, isLocal: boolean): void {
    this.#begin(asker);
    const context = this.#context;
    context.identities = identities;
    context.isLocal = isLocal;
    if (request.op === OpCode.MULTI) {
      this.#multi(context);
    } else {
      const code = this.#tree.prepare(request, context, this.#op);
      if (code === ErrorCode.OK) this.#put(this.#op);
      else this.#error(code, 0, 0);
    }
    this.#batcher.end();
  }

  /** A write that is refused for a reason that the tree does not know. */
  refuse(asker: Asker, code: number): void {
    this.#begin(asker);
    this.#error(code, 0, 0);
    this.#batcher.end();
  }

  /** The end of a container or TTL node of which the tree has just said that it may go. */
  reap(asker: Asker, node: number): void {
    this.#begin(asker);
    this.#tree.prepareReap(node, this.#context, this.#op);
    this.#put(this.#op);
    this.#batcher.end();
  }

  /** @param passwordHash the first bytes of the password's SHA-256 */
  createSession(asker: Asker, timeoutMs: number, passwordHash: Uint8Array): void {
    this.#begin(asker);
    const kept = { bytes: passwordHash, start: 0, end: PASSWORD_HASH_BYTES };
    this.#tree.prepareCreateSession(timeoutMs, kept, this.#context, this.#op);
    this.#put(this.#op);
    this.#batcher.end();
  }

  /** The end of a session, or the next part of it; see {@link DataTree.prepareCloseSession}. */
  closeSession(asker: Asker): void {
    this.#begin(asker);
    const { sessionHigh, sessionLow } = asker;
    this.#tree.prepareCloseSession(sessionHigh, sessionLow, this.#closeLimits, this.#context, (op) => this.#put(op));
    this.#batcher.end();
  }

  #begin(asker: Asker): void {
    const header = this.#header;
    this.#prepared = nextZxid(this.#prepared);
    header.zxid = this.#prepared;
    header.sessionHigh = asker.sessionHigh;
    header.sessionLow = asker.sessionLow;
    header.cxid = asker.cxid;
    header.timeMs = this.#wallMs;
    header.origin = asker.origin;
    header.originSeq = asker.originSeq;
    header.op = asker.op;
    const context = this.#context;
    context.sessionHigh = asker.sessionHigh;
    context.sessionLow = asker.sessionLow;
    context.zxid = header.zxid;
    context.timeMs = header.timeMs;
    this.#batcher.begin(header);
  }

  /** Prepares every part against the tree as the parts before it leave it; one that is refused takes all of them back. */
  #multi(context: PrepareContext): void {
    const part = this.#part;
    const { txnBytesMax, multiAclCountMax } = this.#limits;
    const count = this.#countParts();
    if (count < 0) {
      this.#error(ErrorCode.MARSHALLING_ERROR, 0, 0);
      return;
    }
    this.#requests.rewindParts();
    this.#acls.clear();
    this.#tree.beginMulti();
    for (let i = 0; this.#requests.nextPart(part); i++) {
      let code = this.#tree.prepare(part, context, this.#op);
      if (code === ErrorCode.OK) {
        this.#put(this.#op);
        // An access list of a few bytes may stand for all identities of its client: what a frame holds bounds nothing.
        this.#acls.add(this.#op.acl);
        if (this.#batcher.openBytes > txnBytesMax || this.#acls.entryCount > multiAclCountMax) {
          code = ErrorCode.MARSHALLING_ERROR;
        }
      }
      if (code !== ErrorCode.OK) {
        this.#tree.abortMulti();
        this.#batcher.rewind();
        // What cannot be read fails the multi as a whole, wherever it stands.
        if (code === ErrorCode.MARSHALLING_ERROR) this.#error(code, 0, 0);
        else this.#error(code, i, count);
        return;
      }
    }
    this.#tree.endMulti();
  }

  /**
   * How many parts a multi has; -1 when one cannot be read, its path is the protocol's null, or the whole would cost more than one
   * transaction may: it is prepared in one piece.
   */
  #countParts(): number {
    const { multiOpCountMax, multiPathNamesMax, multiAclCountMax } = this.#limits;
    const part = this.#part;
    this.#acls.clear();
    let count = 0;
    let names = 0;
    try {
      for (; this.#requests.nextPart(part); count++) {
        if (!part.hasPath || count === multiOpCountMax) return -1;
        names += nameCount(part.path);
        if (part.acl !== undefined) this.#acls.add(part.acl);
        if (names > multiPathNamesMax || this.#acls.entryCount > multiAclCountMax) return -1;
      }
    } catch {
      return -1;
    }
    return count;
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

/** The lists of one multi. Decoders give the same object for lists that are sent again, and these cost nothing. */
class DistinctAcls {
  readonly #seen = new Set<Acl>();
  #entryCount = 0;

  get entryCount(): number {
    return this.#entryCount;
  }

  add(acl: Acl): void {
    if (acl === OPEN_ACL || this.#seen.has(acl)) return;
    this.#seen.add(acl);
    this.#entryCount += acl.length;
  }

  clear(): void {
    this.#seen.clear();
    this.#entryCount = 0;
  }
}

/** Each name of a path is looked up by itself. */
export function nameCount({ bytes, start, end }: Readonly<ByteSlice>): number {
  let count = 0;
  for (let i = start; i < end; i++) if (bytes[i] === SLASH) count++;
  return count;
}
