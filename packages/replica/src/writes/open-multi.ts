import type { DataTree, PrepareContext } from "@zooid/data-tree";
import {
  type Acl,
  assert,
  ErrorCode,
  newRequest,
  newTxnOp,
  OPEN_ACL,
  type PartsPosition,
  PRICES,
  type Request,
  type RequestDecoder,
  type TxnBatcher,
  type TxnOp,
  WireError,
} from "@zooid/model";
import type { ReplicaConfig } from "../config.ts";
import { nameCount, pathWork } from "../path-work.ts";

/** The limits of one multi; see {@link ReplicaConfig}. */
export type MultiLimits = Pick<
  ReplicaConfig,
  "txnBytesMax" | "multiOpCountMax" | "multiPathNamesMax" | "multiAclCountMax"
>;

interface OpenMultiParts {
  readonly tree: DataTree;
  readonly requests: RequestDecoder;
  readonly batcher: TxnBatcher;
  readonly limits: MultiLimits;
  /** The context of the transaction that is open in the batcher. */
  readonly context: PrepareContext;
  /** Whether the feature level in force has no such operation. */
  readonly lacks: (op: number) => boolean;
  readonly put: (op: Readonly<TxnOp>) => void;
}

/**
 * The result of a multi: its ops are in the batcher, or it is refused because of its part
 * `failedIndex`.
 */
export interface MultiResult {
  code: number;
  failedIndex: number;
  /** Parts of a multi that is refused because of one of them; 0 if it is refused as a whole. */
  count: number;
}

/** Work units, of about a microsecond each. */
const { preparedPartUs, preparedPartBytesPerUsLog2 } = PRICES;

/**
 * Prepares the parts of one multi, each against the tree as the parts before it leave it, in as
 * many turns as it takes. If a part is refused, all are taken back: pending changes are as they
 * were before. So nothing else may be prepared or applied between {@link begin} and the end.
 */
export class OpenMulti {
  readonly #tree: DataTree;
  readonly #requests: RequestDecoder;
  readonly #batcher: TxnBatcher;
  readonly #limits: MultiLimits;
  readonly #context: PrepareContext;
  readonly #lacks: (op: number) => boolean;
  readonly #put: (op: Readonly<TxnOp>) => void;
  readonly #request: Request = newRequest();
  readonly #part: Request = newRequest();
  readonly #op: TxnOp = newTxnOp();
  readonly #acls = new DistinctAcls();
  /** A copy of the request, once it takes more than one turn. */
  #frame: Uint8Array | undefined;
  /** Set by this class alone. */
  isOpen = false;
  #position: PartsPosition | undefined;
  #names = 0;
  /** Entries that the last part's access list became, `auth` expanded. */
  #grantedCount = 0;
  readonly #result: MultiResult = { code: ErrorCode.OK, failedIndex: 0, count: 0 };

  constructor(parts: OpenMultiParts) {
    this.#tree = parts.tree;
    this.#requests = parts.requests;
    this.#batcher = parts.batcher;
    this.#limits = parts.limits;
    this.#context = parts.context;
    this.#lacks = parts.lacks;
    this.#put = parts.put;
  }

  /** Begins with the multi whose body the decoder has read. */
  begin(): void {
    this.isOpen = true;
    this.#names = 0;
    this.#acls.clear();
    const result = this.#result;
    result.code = ErrorCode.OK;
    result.failedIndex = 0;
    result.count = 0;
    this.#requests.rewindParts();
    this.#tree.beginMulti();
  }

  /** Continues a multi that an earlier turn left. @returns see {@link run} */
  resume(work: number): MultiResult | undefined {
    assert(
      this.#frame !== undefined && this.#position !== undefined,
      "a multi that continues was begun in an earlier turn",
    );
    const frame = this.#frame;
    this.#requests.open(frame, 0, frame.length, this.#request);
    this.#requests.body(this.#request);
    this.#requests.goToPart(this.#position);
    return this.run(work);
  }

  /**
   * Prepares parts.
   *
   * @param work units to spend; the last part may exceed them
   * @returns what became of the multi; undefined when a later turn continues it
   */
  run(work: number): Readonly<MultiResult> | undefined {
    let left = work;
    try {
      while (this.#requests.nextPart(this.#part)) {
        if (!this.#take(this.#part)) return this.#refuse();
        left -= workOf(this.#part) + this.#grantedCount;
        if (left > 0) continue;
        this.#position = this.#requests.partsPosition();
        this.#frame ??= this.#requests.copyFrame();
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return this.#refuse();
    }
    if (this.#result.code === ErrorCode.OK) this.#tree.endMulti();
    return this.#finish();
  }

  /** The multi is given up. The tree drops what was prepared without a further call. */
  discard(): void {
    this.isOpen = false;
    this.#frame = undefined;
  }

  /**
   * Prepares one part, or only counts it where one before it was refused. False when the multi
   * cannot be carried out as a whole.
   */
  #take(part: Request): boolean {
    const { txnBytesMax, multiOpCountMax, multiPathNamesMax, multiAclCountMax } = this.#limits;
    const result = this.#result;
    this.#names += nameCount(part.path);
    if (!part.hasPath || result.count === multiOpCountMax || this.#names > multiPathNamesMax) return false;
    const index = result.count++;
    const op = this.#op;
    this.#grantedCount = 0;
    if (result.code !== ErrorCode.OK) {
      if (part.acl !== undefined) this.#acls.add(part.acl);
    } else {
      const code = this.#lacks(part.op) ? ErrorCode.UNIMPLEMENTED : this.#tree.prepare(part, this.#context, op);
      // A part beyond the limits of any request fails the multi as a whole.
      if (code === ErrorCode.MARSHALLING_ERROR) return false;
      if (code === ErrorCode.OK) {
        this.#put(op);
        // An access list of a few bytes may stand for all identities of its client: what a frame
        // holds bounds nothing.
        this.#acls.add(op.acl);
        this.#grantedCount = op.acl.length;
      } else {
        result.code = code;
        result.failedIndex = index;
        this.#takeBack();
      }
    }
    return this.#batcher.openBytes <= txnBytesMax && this.#acls.entryCount <= multiAclCountMax;
  }

  #takeBack(): void {
    this.#tree.abortMulti();
    this.#batcher.rewind();
  }

  #refuse(): MultiResult {
    const result = this.#result;
    if (result.code === ErrorCode.OK) this.#takeBack();
    result.code = ErrorCode.MARSHALLING_ERROR;
    result.failedIndex = 0;
    result.count = 0;
    return this.#finish();
  }

  #finish(): MultiResult {
    this.discard();
    return this.#result;
  }
}

function workOf({ path, data, hasData, acl }: Request): number {
  const dataWork = hasData ? (data.end - data.start) >> preparedPartBytesPerUsLog2 : 0;
  return preparedPartUs + pathWork(path) + dataWork + (acl?.length ?? 0);
}

/**
 * The lists of one multi. Decoders give the same object for lists that are sent again, and these
 * cost nothing.
 */
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
