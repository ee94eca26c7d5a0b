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
import type { NodeRead, SimRequest } from "../clients/requests.ts";
import { TENANT_PATH } from "../clients/tenant.ts";
import type { Answer, SeenStat } from "../cluster/answers.ts";
import type { Limits } from "../cluster/limits.ts";
import { Violation } from "../invariants/violation.ts";
import { Proposals, type ProposedEnd } from "./proposed-txns.ts";
import { isRefusedForSize } from "./request-size.ts";
import { type Effect, isBelow, ModelTree, type Reaped, type TreeWrite } from "./tree.ts";

/** What one committed transaction did, by the model. */
export interface Committed {
  readonly zxid: number;
  readonly session: SessionId;
  readonly cxid: number;
  readonly op: number;
  /** What its client must hear; undefined where it hears no answer but is let go. */
  readonly answer: Answer | undefined;
  readonly effects: readonly Effect[];
  /** What kind of node the leader removed by itself. */
  readonly reaped: Reaped["kind"] | undefined;
}

interface NodeVersion {
  readonly zxid: number;
  readonly node: { readonly data: string; readonly stat: SeenStat; readonly children: readonly string[] } | undefined;
}

/** A session's life, in zxids. */
export interface SessionLife {
  readonly createdZxid: number;
  /** The transaction with the first part of its end, after which nothing of it takes effect. */
  endingZxid: number | undefined;
  /** The transaction with the last part of its end; often the same. */
  closedZxid: number | undefined;
  /** The leader ended it, not its client. */
  isExpired: boolean;
  /** The request that ended it, if its client did. */
  closeCxid: number;
}

const INITIAL = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

/**
 * The committed requests in zxid order, and what the model makes of them: the answer that each must get, and what the tree looked like
 * at every zxid. Servers that lag are compared with the past that they stand at.
 */
export class History {
  readonly model: ModelTree = new ModelTree();
  readonly sessions: Map<SessionId, SessionLife> = new Map();
  /** Sessions that began as ones that their server alone knows. */
  readonly #localBeginnings = new Set<SessionId>();
  /** Whether ordinary clients may be refused since the tree is full: each new leader grants hostile tenants another share of it. */
  mayBeFull = false;
  readonly #requests = new Map<string, SimRequest>();
  readonly #txns = new Map<number, Committed>();
  /** Where a request was committed. */
  readonly #places = new Map<string, number>();
  readonly #versions = new Map<string, NodeVersion[]>();
  readonly #proposals: Proposals;
  readonly #limits: Limits;
  #last = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#proposals = new Proposals(limits);
    for (const path of INITIAL) this.#keepVersion(path, 0);
  }

  get count(): number {
    return this.#txns.size;
  }

  /** The newest transaction that any server has applied. */
  get last(): number {
    return this.#last;
  }

  /** Whether the end of a session has begun and is not complete. */
  get hasUnfinishedEnd(): boolean {
    for (const { endingZxid, closedZxid } of this.sessions.values()) {
      if (endingZxid !== undefined && closedZxid === undefined) return true;
    }
    return false;
  }

  /** A leader proposes transactions. */
  proposed(bytes: Uint8Array, start: number, end: number): void {
    this.#proposals.proposed(bytes, start, end);
  }

  /** A client has a session, and no transaction created it. */
  beganLocally(session: SessionId): void {
    this.#localBeginnings.add(session);
  }

  /** Whether a session began as one that its server alone knows; it may have been replicated since. */
  hasBegunLocally(session: SessionId): boolean {
    return this.#localBeginnings.has(session);
  }

  /** Whether its server alone knows a session. */
  isLocal(session: SessionId): boolean {
    return this.#localBeginnings.has(session) && !this.sessions.has(session);
  }

  /** Of this session the model believes what its transactions say, as far as they are below the path of hostile tenants. */
  isHostile(session: SessionId): void {
    this.#proposals.addHostile(session);
  }

  asked(session: SessionId, xid: number, request: SimRequest): void {
    this.#requests.set(`${session}:${xid}`, request);
  }

  at(zxid: number): Committed | undefined {
    return this.#txns.get(zxid);
  }

  placeOf(session: SessionId, xid: number): number | undefined {
    return this.#places.get(`${session}:${xid}`);
  }

  /** A server is the first to apply a transaction: the model follows. */
  commit(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): Committed {
    const { zxid, cxid } = header;
    const session = sessionIdFromHalves(header.sessionHigh, header.sessionLow);
    const reaped = header.op === OpCode.DELETE_CONTAINER ? this.#reap(header, op) : undefined;
    const answer = reaped === undefined ? this.#apply(header, session, op) : undefined;
    const effects = this.model.takeEffects();
    const touched = new Set<string>();
    for (const { kind, path } of effects) {
      touched.add(path);
      if (kind !== "changed") touched.add(parentPath(path));
    }
    for (const path of touched) this.#keepVersion(path, zxid);
    const committed: Committed = { zxid, session, cxid, op: header.op, answer, effects, reaped };
    this.#txns.set(zxid, committed);
    this.#last = zxid;
    return committed;
  }

  /** A node as it was when a transaction had been applied and no later one. */
  nodeAt(path: string, zxid: number): NodeVersion["node"] {
    const versions = this.#versions.get(path);
    if (versions === undefined) return undefined;
    for (let i = versions.length - 1; i >= 0; i--) {
      const version = versions[i];
      if (version !== undefined && version.zxid <= zxid) return version.node;
    }
    return undefined;
  }

  read({ kind, path }: NodeRead, zxid: number): Answer {
    const node = this.nodeAt(path, zxid);
    if (node === undefined) return { kind: "header", code: ErrorCode.NO_NODE };
    const { data, stat, children } = node;
    if (kind === "data") return { kind, data, stat };
    return kind === "exists" ? { kind: "stat", stat } : { kind, children };
  }

  ephemerals(session: bigint, prefix: string, zxid: number): readonly string[] {
    const paths: string[] = [];
    for (const path of this.#versions.keys()) {
      if (path.startsWith(prefix) && this.nodeAt(path, zxid)?.stat.owner === session) paths.push(path);
    }
    return paths.sort();
  }

  /** How many nodes lay below a path; undefined where there was none. */
  countBelow(path: string, zxid: number): number | undefined {
    if (this.nodeAt(path, zxid) === undefined) return undefined;
    const prefix = path === "/" ? "/" : `${path}/`;
    let count = 0;
    for (const other of this.#versions.keys()) {
      if (other !== path && other.startsWith(prefix) && this.nodeAt(other, zxid) !== undefined) count++;
    }
    return count;
  }

  #reap({ zxid, timeMs }: Readonly<TxnHeader>, { path }: Readonly<TxnOp>): Reaped["kind"] {
    const reaped = this.model.reap(sliceText(path), zxid, timeMs);
    if (reaped === undefined) {
      throw new Violation("I7", `${sliceText(path)} is removed at ${formatZxid(zxid)}, and nobody may remove it`);
    }
    return reaped.kind;
  }

  #apply(header: Readonly<TxnHeader>, session: SessionId, first: Readonly<TxnOp>): Answer | undefined {
    const { cxid, op, zxid, timeMs } = header;
    const who = `${session}:${cxid}`;
    const life = this.sessions.get(session);
    if (op === OpCode.CREATE_SESSION) {
      if (life !== undefined) throw new Violation("I26", `session ${session} is created twice`);
      this.sessions.set(session, {
        createdZxid: zxid,
        endingZxid: undefined,
        closedZxid: undefined,
        isExpired: false,
        closeCxid: 0,
      });
      return undefined;
    }
    const isByServer = op === OpCode.CLOSE_SESSION && cxid === 0;
    const end = first.op === OpCode.ERROR ? undefined : this.#proposals.endAt(zxid);
    // The client hears of the last part, whose request it is no more.
    const isBegin = end !== undefined && !end.isLast;
    if (!isByServer) {
      const before = this.#places.get(who);
      if (before !== undefined) {
        throw new Violation(
          "C1",
          `request ${who} is committed at ${formatZxid(before as Zxid)} and ${formatZxid(zxid)}`,
        );
      }
      if (!isBegin) this.#places.set(who, zxid);
    }
    const isRefused = first.op === OpCode.ERROR;
    if (isRefused && first.code === ErrorCode.SESSION_MOVED) return undefined;
    if (isRefused && first.code === ErrorCode.SESSION_EXPIRED) {
      if (life?.endingZxid === undefined) {
        throw new Violation("C9", `request ${who} is refused as expired and its session lives`);
      }
      return { kind: "header", code: ErrorCode.SESSION_EXPIRED };
    }
    if (life === undefined && !(op !== OpCode.CLOSE_SESSION && this.isLocal(session))) {
      throw new Violation("I27", `request ${who} of a session that was never created`);
    }
    if (op === OpCode.CLOSE_SESSION) {
      if (end === undefined || life === undefined) throw new Violation("I8", `${formatZxid(zxid)} was never proposed`);
      return this.#end(session, life, end, header);
    }
    if (life?.endingZxid !== undefined) {
      throw new Violation("I26", `request ${who} takes effect behind its session's end`);
    }
    const asked = this.#requests.get(who);
    if (asked?.kind === "hostile") {
      this.#applyHostile(session, header);
      return undefined;
    }
    if (asked?.kind !== "write" || asked.request.kind === "close") {
      throw new Violation("I7", `${who} was committed and never asked for`);
    }
    const { request } = asked;
    const isUnreadable = isRefused && first.code === ErrorCode.MARSHALLING_ERROR;
    const isTooLarge = isRefusedForSize(request, this.#limits);
    if (isTooLarge === "yes" || (isTooLarge === "maybe" && isUnreadable)) {
      return { kind: "header", code: ErrorCode.MARSHALLING_ERROR };
    }
    if (isRefused && first.code === ErrorCode.QUOTA_EXCEEDED && this.mayBeFull) return refusalOf(request, first);
    return this.model.apply(request, session, zxid, timeMs);
  }

  #applyHostile(session: SessionId, { zxid }: Readonly<TxnHeader>): void {
    for (const op of this.#proposals.hostileAt(zxid) ?? []) {
      const isOwn = op.kind !== "create" || op.owner === 0n || op.owner === session;
      const isInside = op.path === TENANT_PATH || isBelow(op.path, TENANT_PATH);
      if (!isOwn || !isInside || !this.model.applyOp(op, zxid)) {
        throw new Violation("I7", `${formatZxid(zxid)} of a hostile tenant does not apply: ${JSON.stringify(op.path)}`);
      }
    }
  }

  /** A part of the end of a session. Which of its ephemerals go first is the leader's affair; with the last part all are gone. */
  #end(session: SessionId, life: SessionLife, end: ProposedEnd, header: Readonly<TxnHeader>): Answer | undefined {
    const { cxid, zxid } = header;
    const where = `${formatZxid(zxid)}, a part of the end of session ${session},`;
    if (life.closedZxid !== undefined) throw new Violation("I26", `${where} comes behind the last one`);
    if (life.endingZxid !== undefined) {
      if (end.isFirst || cxid !== 0) throw new Violation("I26", `${where} is a first one behind another`);
    } else {
      if (!end.isFirst && !end.isLast) throw new Violation("I26", `${where} comes before the first one`);
      life.endingZxid = zxid;
      life.isExpired = cxid === 0;
      life.closeCxid = cxid;
    }
    for (const path of end.paths) {
      if (!this.model.removeOwned(session, path, zxid)) {
        throw new Violation("I26", `${where} removes ${path}, which is no ephemeral of it`);
      }
    }
    if (!end.isLast) return undefined;
    if (this.model.owners().has(session)) throw new Violation("I26", `${where} is the last one and leaves ephemerals`);
    life.closedZxid = zxid;
    if (life.closeCxid === 0) return undefined;
    this.#places.set(`${session}:${life.closeCxid}`, zxid);
    return { kind: "header", code: ErrorCode.OK };
  }

  #keepVersion(path: string, zxid: number): void {
    const versions = this.#versions.get(path);
    const node = this.model.read(path);
    // What lies there is read by none but tenants, whose answers are not foretold: a list for each change would take too much.
    const isHidden = node !== undefined && (path === TENANT_PATH || isBelow(path, TENANT_PATH));
    const version = { zxid, node: isHidden ? { ...node, children: [] } : node };
    if (versions === undefined) this.#versions.set(path, [version]);
    else versions.push(version);
  }
}

function refusalOf(request: TreeWrite, { code, failedIndex }: Readonly<TxnOp>): Answer {
  if (request.kind === "one") return { kind: "header", code };
  const codeOf = (i: number): number => {
    if (i === failedIndex) return code;
    return i < failedIndex ? ErrorCode.OK : ErrorCode.RUNTIME_INCONSISTENCY;
  };
  return { kind: "multi", parts: request.writes.map((_, i) => ({ kind: "error", code: codeOf(i) })) };
}
