import {
  type Acl,
  type Identity,
  newRequest,
  OpCode,
  type Request,
  type RequestDecoder,
  type SessionId,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { type Observable, Subject } from "rxjs";

/** Operations by their names in Apache ZooKeeper's audit log. */
export type AuditOperation =
  | "create"
  | "delete"
  | "setData"
  | "setAcl"
  | "multiOperation"
  | "reconfig"
  | "ephemeralZNodeDeletionOnSessionCloseOrExpire"
  /** Acts of operators at the admin port, which Apache ZooKeeper's audit log does not have. */
  | OperatorAct;

/**
 * An operator ends a session, reads or replaces the whole state, removes its history, raises the
 * feature level, reloads the settings, takes over the clients of a followed Apache ensemble, or
 * returns them to one.
 */
export type OperatorAct =
  | "endSession"
  | "snapshot"
  | "restore"
  | "backup"
  | "purgeHistory"
  | "finalizeUpgrade"
  | "openClients"
  | "closeClients"
  | "reload"
  | "followTouch"
  | "followFinish"
  | "followResume"
  | "takeOver"
  | "dropStandby"
  | "exportApache";

/** One write and its requester. Node data is never part of it. */
export interface AuditRecord {
  readonly zxid: Zxid;
  readonly session: SessionId;
  /**
   * The client's identities at that time; undefined for nodes that the server removes at a
   * session's end.
   */
  readonly identities: readonly Identity[] | undefined;
  /** The client's address; undefined as above. */
  readonly address: string | undefined;
  readonly operation: AuditOperation;
  /**
   * For creates, the path with its sequence number. Undefined for a refused multi, and for
   * reconfig.
   */
  readonly path: string | undefined;
  /** For creates, the mode by Apache's name, such as `persistent_sequential`. */
  readonly createMode: string | undefined;
  /** For setAcl, the access list as requested. */
  readonly acl: Acl | undefined;
  readonly result: "success" | "failure";
}

/** A client's write whose transaction is not applied yet. */
interface Asked {
  readonly identities: readonly Identity[];
  readonly address: string;
  readonly operation: AuditOperation;
  readonly path: string | undefined;
  readonly acl: Acl | undefined;
  /** One for each part of a multi, or one for a single request. */
  readonly createModes: readonly (string | undefined)[];
}

interface Applying {
  readonly sequence: number;
  readonly asked: Asked | undefined;
  opCount: number;
}

/** The requester. */
export interface AuditedClient {
  readonly identities: readonly Identity[];
  readonly address: string;
}

/** By the flags of a create. */
const CREATE_MODES: readonly string[] = [
  "persistent",
  "ephemeral",
  "persistent_sequential",
  "ephemeral_sequential",
  "container",
  "persistent_with_ttl",
  "persistent_sequential_with_ttl",
];

/**
 * Records each write with its requester and its result, and emits the records once a turn; it costs
 * nothing while the stream has no subscriber.
 *
 * A write is recorded when this server receives it, because a refusal does not contain the request,
 * and emitted when its transaction is applied here. A write of a server that loses its role before
 * that has no known result and is not emitted; its client does not know the result either.
 */
export class AuditTrail {
  readonly #sid: number;
  readonly #records = new Subject<readonly AuditRecord[]>();
  readonly records$: Observable<readonly AuditRecord[]> = this.#records.asObservable();
  readonly #part: Request = newRequest();
  /** By the request number of this server, oldest first. */
  readonly #asked = new Map<number, Asked>();
  /** The write whose transaction is being applied, and how many of its ops are applied. */
  #current: Applying | undefined;
  #turn: AuditRecord[] = [];

  /** @param sid this server's id, which marks writes of its own clients */
  constructor(sid: number) {
    this.#sid = sid;
  }

  /** Records a write. Parts of a multi are not copied. */
  asked(sequence: number, { identities, address }: AuditedClient, request: Request, parts: RequestDecoder): void {
    if (!this.#records.observed) return;
    const operation = operationOf(request.op);
    if (operation === undefined) return;
    this.#asked.set(sequence, {
      identities,
      address,
      operation,
      path: request.hasPath && request.op !== OpCode.MULTI ? sliceText(request.path) : undefined,
      acl: request.op === OpCode.SET_ACL ? request.acl : undefined,
      createModes: request.op === OpCode.MULTI ? this.#modesOfParts(parts) : [modeOf(request)],
    });
  }

  /** One op of a committed transaction. */
  applied(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    if (!this.#records.observed) return;
    if (header.op === OpCode.CLOSE_SESSION) {
      if (op.op === OpCode.DELETE) this.#left(header, op);
      return;
    }
    if (header.origin !== this.#sid) return;
    const current = this.#take(header.originSeq);
    const { asked } = current;
    const index = current.opCount++;
    if (asked === undefined) return;
    const isFailure = op.op === OpCode.ERROR;
    const operation = isFailure ? asked.operation : operationOf(op.op);
    // Checks of a multi are not recorded.
    if (operation === undefined) return;
    const { identities, address, acl, path } = asked;
    this.#turn.push({
      ...whereOf(header),
      identities,
      address,
      operation,
      acl,
      path: isFailure ? path : sliceText(op.path),
      createMode: isFailure && operation !== "create" ? undefined : asked.createModes[index],
      result: isFailure ? "failure" : "success",
    });
  }

  /** An operator has acted by an admin command; a session that was ended is the object. */
  acted(
    operation: OperatorAct,
    record: Pick<AuditRecord, "zxid" | "session" | "identities" | "address" | "result">,
  ): void {
    if (!this.#records.observed) return;
    this.#turn.push({ ...record, operation, path: undefined, createMode: undefined, acl: undefined });
    this.publish();
  }

  /** Whether {@link publish} has something to do. */
  get hasRecords(): boolean {
    return this.#turn.length > 0;
  }

  /** The end of a turn. */
  publish(): void {
    const turn = this.#turn;
    this.#turn = [];
    this.#records.next(turn);
  }

  /** The role has ended: its pending writes have no known result. */
  clear(): void {
    this.#asked.clear();
    this.#current = undefined;
  }

  complete(): void {
    this.#records.complete();
  }

  #take(sequence: number): Applying {
    if (this.#current?.sequence === sequence) return this.#current;
    const asked = this.#asked.get(sequence);
    this.#asked.delete(sequence);
    this.#current = { sequence, asked, opCount: 0 };
    return this.#current;
  }

  #left(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    this.#turn.push({
      ...whereOf(header),
      identities: undefined,
      address: undefined,
      createMode: undefined,
      acl: undefined,
      operation: "ephemeralZNodeDeletionOnSessionCloseOrExpire",
      path: sliceText(op.path),
      result: "success",
    });
  }

  #modesOfParts(parts: RequestDecoder): readonly (string | undefined)[] {
    const modes: (string | undefined)[] = [];
    try {
      while (parts.nextPart(this.#part)) modes.push(modeOf(this.#part));
    } catch {
      // The server that makes the transaction will refuse it.
    }
    parts.rewindParts();
    return modes;
  }
}

function whereOf({ zxid, sessionHigh, sessionLow }: Readonly<TxnHeader>): Pick<AuditRecord, "zxid" | "session"> {
  return { zxid, session: sessionIdFromHalves(sessionHigh, sessionLow) };
}

function operationOf(op: number): AuditOperation | undefined {
  switch (op) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
      return "create";
    case OpCode.DELETE:
      return "delete";
    case OpCode.SET_DATA:
      return "setData";
    case OpCode.SET_ACL:
      return "setAcl";
    case OpCode.MULTI:
      return "multiOperation";
    case OpCode.RECONFIG:
      return "reconfig";
    default:
      return undefined;
  }
}

function modeOf({ op, flags }: Readonly<Request>): string | undefined {
  return operationOf(op) === "create" ? CREATE_MODES[flags] : undefined;
}
