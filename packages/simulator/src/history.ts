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
import type { Answer, SeenStat } from "./answers.ts";
import { type Effect, ModelTree, type Reaped } from "./model-tree.ts";
import type { NodeRead, SimRequest } from "./requests.ts";
import { Violation } from "./violation.ts";

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
  closedZxid: number | undefined;
  /** The leader ended it, not its client. */
  isExpired: boolean;
}

const INITIAL = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

/**
 * The committed requests in zxid order, and what the model makes of them: the answer that each must get, and what the tree looked like
 * at every zxid. Servers that lag are compared with the past that they stand at.
 */
export class History {
  readonly model: ModelTree = new ModelTree();
  readonly sessions: Map<SessionId, SessionLife> = new Map();
  readonly #requests = new Map<string, SimRequest>();
  readonly #txns = new Map<number, Committed>();
  /** Where a request was committed. */
  readonly #places = new Map<string, number>();
  readonly #versions = new Map<string, NodeVersion[]>();
  #last = 0;

  constructor() {
    for (const path of INITIAL) this.#keepVersion(path, 0);
  }

  get count(): number {
    return this.#txns.size;
  }

  /** The newest transaction that any server has applied. */
  get last(): number {
    return this.#last;
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
      this.sessions.set(session, { createdZxid: zxid, closedZxid: undefined, isExpired: false });
      return undefined;
    }
    const isByServer = op === OpCode.CLOSE_SESSION && cxid === 0;
    if (!isByServer) {
      const before = this.#places.get(who);
      if (before !== undefined) {
        throw new Violation(
          "C1",
          `request ${who} is committed at ${formatZxid(before as Zxid)} and ${formatZxid(zxid)}`,
        );
      }
      this.#places.set(who, zxid);
    }
    const isRefused = first.op === OpCode.ERROR;
    if (isRefused && first.code === ErrorCode.SESSION_MOVED) return undefined;
    if (isRefused && first.code === ErrorCode.SESSION_EXPIRED) {
      if (life?.closedZxid === undefined) {
        throw new Violation("C9", `request ${who} is refused as expired and its session lives`);
      }
      return { kind: "header", code: ErrorCode.SESSION_EXPIRED };
    }
    if (life === undefined) throw new Violation("I27", `request ${who} of a session that was never created`);
    if (life.closedZxid !== undefined) {
      throw new Violation("I26", `request ${who} takes effect behind its session's end`);
    }
    if (op === OpCode.CLOSE_SESSION) {
      life.closedZxid = zxid;
      life.isExpired = isByServer;
      return this.model.apply({ kind: "close" }, session, zxid, timeMs);
    }
    const request = this.#requests.get(who);
    if (request?.kind !== "write") throw new Violation("I7", `${who} was committed and never asked for`);
    return this.model.apply(request.request, session, zxid, timeMs);
  }

  #keepVersion(path: string, zxid: number): void {
    const versions = this.#versions.get(path);
    const version = { zxid, node: this.model.read(path) };
    if (versions === undefined) this.#versions.set(path, [version]);
    else versions.push(version);
  }
}
