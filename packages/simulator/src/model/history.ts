import {
  ErrorCode,
  formatZxid,
  OpCode,
  parentPath,
  type SessionId,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { SimRequest } from "../clients/requests.ts";
import { TENANT_PATH } from "../clients/tenant.ts";
import type { Answer } from "../cluster/answers.ts";
import type { Limits } from "../cluster/limits.ts";
import type { RestoredSessions } from "../cluster/state-image.ts";
import { Violation } from "../invariants/violation.ts";
import { NodeVersions } from "./node-versions.ts";
import { type ProposedEnd, ProposedTxns } from "./proposed-txns.ts";
import { isRefusedForSize } from "./request-size.ts";
import { ModelSessions } from "./sessions.ts";
import { isBelow, ModelTree } from "./tree.ts";
import type { Effect, Reaped, TreeWrite } from "./writes.ts";

/** The effects of one committed transaction, by the model. */
export interface Committed {
  readonly zxid: number;
  readonly session: SessionId;
  readonly cxid: number;
  readonly op: number;
  /** The answer that its client must receive; undefined where its connection is closed instead. */
  readonly answer: Answer | undefined;
  readonly effects: readonly Effect[];
  /** Set when the leader removed a container or a TTL node. */
  readonly reaped: Reaped["kind"] | undefined;
}

/** The model at one zxid. */
export interface ModelImage {
  readonly zxid: number;
  readonly model: ModelTree;
  readonly sessions: ModelSessions;
}

/** A history that a restored state has discarded; servers that lag may still apply its end. */
interface Discarded extends ModelImage {
  /** Where the restored state stands, and where the state stood that it was made of. */
  readonly restoredAt: number;
  readonly restoredFrom: number;
}

const INITIAL = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

/**
 * The committed requests in zxid order, and what the model makes of them: the answer that each must
 * get, and the tree at every zxid. Servers that lag are compared with the tree at their own zxid.
 */
export class History {
  // A restored state replaces them, and this class alone sets them.
  model: ModelTree = new ModelTree();
  sessions: ModelSessions = new ModelSessions();
  /** The tree at every zxid. */
  readonly past: NodeVersions = new NodeVersions();
  /**
   * Whether ordinary clients may be refused since the tree is full: each new leader grants hostile
   * tenants another share of it.
   */
  mayBeFull = false;
  /** Whether requests may be refused since the feature level is below theirs. */
  hasLevels = false;
  /** Whether additions may be refused since a disk has little room. */
  mayLackRoom = false;
  /** Requests that were refused without a transaction: none may be committed. */
  readonly #refused = new Set<string>();
  readonly #requests = new Map<string, SimRequest>();
  readonly #identities = new Map<SessionId, string>();
  readonly #txns = new Map<number, Committed>();
  /** Where a request was committed. */
  readonly #places = new Map<string, number>();
  readonly #proposals: ProposedTxns;
  readonly #limits: Limits;
  readonly #discarded: Discarded[] = [];
  #last = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#proposals = new ProposedTxns(limits);
    for (const path of INITIAL) this.past.keep(this.model, path, 0);
  }

  /** Where the last restored state stands; 0: there is none. */
  get restoredAt(): number {
    return this.#discarded.at(-1)?.restoredAt ?? 0;
  }

  /** The newest transaction that any server has applied. */
  get last(): number {
    return this.#last;
  }

  /** A leader proposes transactions. @param seen called with the header of each */
  proposed(bytes: Uint8Array, start: number, end: number, seen: (header: Readonly<TxnHeader>) => void): void {
    this.#proposals.proposed(bytes, start, end, seen);
  }

  /**
   * The session of a hostile tenant: the model takes over its transactions as they are, as long as
   * they stay below the tenants' path.
   */
  addHostile(session: SessionId): void {
    this.#proposals.addHostile(session);
  }

  isHostile(session: SessionId): boolean {
    return this.#proposals.isHostile(session);
  }

  /** The clients of a session authenticate with an identity before anything else. */
  identified(session: SessionId, identity: string): void {
    this.#identities.set(session, identity);
  }

  requested(session: SessionId, xid: number, request: SimRequest): void {
    this.#requests.set(`${session}:${xid}`, request);
  }

  /** A server refused an addition, for want of room, without a transaction. */
  refusedForRoom(session: SessionId, xid: number): void {
    this.#refused.add(`${session}:${xid}`);
  }

  at(zxid: number): Committed | undefined {
    return this.#txns.get(zxid);
  }

  placeOf(session: SessionId, xid: number): number | undefined {
    return this.#places.get(`${session}:${xid}`);
  }

  /** The model as it is at the newest transaction. */
  image(): ModelImage {
    return { zxid: this.#last, model: this.model.copy(), sessions: this.sessions.copy() };
  }

  /** A restored state is committed, which stands at a zxid. */
  restore(
    restoredAt: number,
    { zxid: restoredFrom, model, sessions }: ModelImage,
    become: RestoredSessions = "end",
  ): void {
    this.#discarded.push({ zxid: this.#last, model: this.model, sessions: this.sessions, restoredAt, restoredFrom });
    this.model = model.copy();
    this.sessions = this.sessions.restored(sessions, restoredAt, become);
    this.past.restore(restoredAt, restoredFrom);
    this.#last = restoredAt;
  }

  /** The first server applies a transaction: the model applies it too. */
  commit(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): Committed {
    const discarded = this.#discarded.find(({ restoredAt }) => header.zxid < restoredAt);
    return discarded === undefined ? this.#commit(header, op) : this.#commitLate(discarded, header, op);
  }

  /** It was committed before a restored state was, and the server does not know of that yet. */
  #commitLate(discarded: Discarded, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): Committed {
    const { model, sessions } = this;
    const last = this.#last;
    this.model = discarded.model;
    this.sessions = discarded.sessions;
    const committed = this.#commit(header, op);
    this.model = model;
    this.sessions = sessions;
    this.#last = last;
    const { restoredAt, restoredFrom } = discarded;
    sessions.discard(discarded.sessions, restoredAt);
    for (const path of touchedBy(committed.effects)) this.past.restoreNode(path, restoredAt, restoredFrom);
    return committed;
  }

  #commit(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): Committed {
    const { zxid, cxid } = header;
    const session = sessionIdFromHalves(header.sessionHigh, header.sessionLow);
    const reaped = header.op === OpCode.DELETE_CONTAINER ? this.#reap(header, op) : undefined;
    const isChange = header.op === OpCode.RECONFIG;
    const isOfServers = isChange || header.op === OpCode.RAISE_LEVEL || reaped !== undefined;
    const answer = isOfServers ? undefined : this.#apply(header, session, op);
    const isChanged = isChange && op.op !== OpCode.ERROR;
    const effects: readonly Effect[] = isChanged
      ? [{ kind: "changed", path: "/zookeeper/config" }]
      : this.model.takeEffects();
    for (const path of touchedBy(effects)) this.past.keep(this.model, path, zxid);
    const committed: Committed = { zxid, session, cxid, op: header.op, answer, effects, reaped };
    this.#txns.set(zxid, committed);
    this.#last = zxid;
    return committed;
  }

  #reap({ zxid, timeMs }: Readonly<TxnHeader>, { path }: Readonly<TxnOp>): Reaped["kind"] {
    const reaped = this.model.reap(sliceText(path), zxid, timeMs);
    if (reaped === undefined) {
      throw new Violation(
        "I7",
        `${sliceText(path)} is removed at ${formatZxid(zxid)}, and is neither empty nor expired`,
      );
    }
    return reaped.kind;
  }

  #apply(header: Readonly<TxnHeader>, session: SessionId, first: Readonly<TxnOp>): Answer | undefined {
    const { cxid, op, zxid, timeMs } = header;
    const who = `${session}:${cxid}`;
    const life = this.sessions.get(session);
    if (op === OpCode.CREATE_SESSION) {
      this.sessions.create(session, zxid);
      return undefined;
    }
    const isByServer = op === OpCode.CLOSE_SESSION && cxid === 0;
    const end = first.op === OpCode.ERROR ? undefined : this.#proposals.endAt(zxid);
    // The client's request is answered with the last part.
    const isBegin = end !== undefined && !end.isLast;
    if (!isByServer) {
      const before = this.#places.get(who);
      if (before !== undefined) {
        throw new Violation(
          "C1",
          `request ${who} is committed at ${formatZxid(before as Zxid)} and ${formatZxid(zxid)}`,
        );
      }
      if (this.#refused.has(who)) throw new Violation("C1", `request ${who} is refused and committed`);
      if (!isBegin) this.#places.set(who, zxid);
    }
    const isRefused = first.op === OpCode.ERROR;
    if (isRefused && first.code === ErrorCode.SESSION_MOVED) return undefined;
    if (isRefused && first.code === ErrorCode.SESSION_EXPIRED) {
      if (life?.endingZxid === undefined) {
        throw new Violation("C9", `request ${who} is refused as expired while its session lives`);
      }
      return { kind: "header", code: ErrorCode.SESSION_EXPIRED };
    }
    if (life === undefined && !(op !== OpCode.CLOSE_SESSION && this.sessions.isLocal(session))) {
      throw new Violation("I27", `request ${who} of a session that was never created`);
    }
    if (op === OpCode.CLOSE_SESSION) {
      if (end === undefined) throw new Violation("I8", `${formatZxid(zxid)} was never proposed`);
      return this.#end(session, end, header);
    }
    if (life?.endingZxid !== undefined) {
      throw new Violation("I26", `request ${who} takes effect after its session's end`);
    }
    const requested = this.#requests.get(who);
    if (requested?.kind === "hostile") {
      this.#applyHostile(session, header);
      return undefined;
    }
    if (requested?.kind !== "write" || requested.request.kind === "close") {
      throw new Violation("I7", `${who} was committed and never requested`);
    }
    const { request } = requested;
    if (isRefused && first.code === ErrorCode.OPERATION_TIMEOUT && this.mayLackRoom && isAddition(request)) {
      return { kind: "header", code: first.code };
    }
    // Whether it should be is checked where it is proposed (V1).
    if (isRefused && first.code === ErrorCode.UNIMPLEMENTED && this.hasLevels) return refusalOf(request, first);
    const isUnreadable = isRefused && first.code === ErrorCode.MARSHALLING_ERROR;
    const isTooLarge = isRefusedForSize(request, this.#limits);
    if (isTooLarge === "yes" || (isTooLarge === "maybe" && isUnreadable)) {
      return { kind: "header", code: ErrorCode.MARSHALLING_ERROR };
    }
    if (isRefused && first.code === ErrorCode.QUOTA_EXCEEDED && this.mayBeFull) return refusalOf(request, first);
    return this.model.apply(request, session, zxid, timeMs, this.#identities.get(session));
  }

  #applyHostile(session: SessionId, { zxid, timeMs }: Readonly<TxnHeader>): void {
    for (const op of this.#proposals.hostileAt(zxid) ?? []) {
      const isOwn = op.kind !== "create" || op.owner === 0n || op.owner === session;
      const isInside = op.path === TENANT_PATH || isBelow(op.path, TENANT_PATH);
      if (!isOwn || !isInside || !this.model.applyOp(op, zxid, timeMs)) {
        throw new Violation("I7", `${formatZxid(zxid)} of a hostile tenant does not apply: ${JSON.stringify(op.path)}`);
      }
    }
  }

  #end(session: SessionId, end: ProposedEnd, header: Readonly<TxnHeader>): Answer | undefined {
    const { closeCxid } = this.sessions.end(session, end, header, this.model);
    if (!end.isLast || closeCxid === 0) return undefined;
    this.#places.set(`${session}:${closeCxid}`, header.zxid);
    return { kind: "header", code: ErrorCode.OK };
  }
}

function touchedBy(effects: readonly Effect[]): ReadonlySet<string> {
  const touched = new Set<string>();
  for (const { kind, path } of effects) {
    touched.add(path);
    if (kind === "created" || kind === "deleted") touched.add(parentPath(path));
  }
  return touched;
}

/** Whether a write creates or replaces anything. */
export function isAddition(request: TreeWrite): boolean {
  const writes = request.kind === "one" ? [request.write] : request.writes;
  return writes.some(({ kind }) => kind !== "delete" && kind !== "check");
}

function refusalOf(request: TreeWrite, { code, failedIndex }: Readonly<TxnOp>): Answer {
  if (request.kind === "one") return { kind: "header", code };
  const codeOf = (i: number): number => {
    if (i === failedIndex) return code;
    return i < failedIndex ? ErrorCode.OK : ErrorCode.RUNTIME_INCONSISTENCY;
  };
  return { kind: "multi", parts: request.writes.map((_, i) => ({ kind: "error", code: codeOf(i) })) };
}
