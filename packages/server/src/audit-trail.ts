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

/** What was asked, by the names of Apache ZooKeeper's audit log. */
export type AuditOperation =
  | "create"
  | "delete"
  | "setData"
  | "setAcl"
  | "multiOperation"
  | "reconfig"
  | "ephemeralZNodeDeletionOnSessionCloseOrExpire";

/** One write, and who asked for it. Data are never part of it. */
export interface AuditRecord {
  readonly zxid: Zxid;
  readonly session: SessionId;
  /** Who the client was then; undefined where the server itself removes what a session leaves behind. */
  readonly identities: readonly Identity[] | undefined;
  /** Where the client is; undefined as above. */
  readonly address: string | undefined;
  readonly operation: AuditOperation;
  /** Of what was created, the path with its number. Undefined for a multi that was refused, and for reconfig. */
  readonly path: string | undefined;
  /** Of a create, by Apache's name, such as `persistent_sequential`. */
  readonly createMode: string | undefined;
  /** Of a setAcl, as it was asked for. */
  readonly acl: Acl | undefined;
  readonly result: "success" | "failure";
}

/** A client's write whose transaction has not been applied. */
interface Asked {
  readonly identities: readonly Identity[];
  readonly address: string;
  readonly operation: AuditOperation;
  readonly path: string | undefined;
  readonly acl: Acl | undefined;
  /** Of each part of a multi, or of the request alone. */
  readonly createModes: readonly (string | undefined)[];
}

interface Applying {
  readonly sequence: number;
  readonly asked: Asked | undefined;
  opCount: number;
}

/** Who asks. */
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
 * Gathers who asked for which write and what became of it, and emits it once a turn; costs nothing while nobody listens.
 *
 * A write is noted when this server takes it, for a refusal does not say what was asked, and told when its transaction is applied here.
 * What a client asked of a server that lost its role before that has no known end, and is not told of; its client does not know either.
 */
export class AuditTrail {
  readonly #sid: number;
  readonly #records = new Subject<readonly AuditRecord[]>();
  readonly records$: Observable<readonly AuditRecord[]> = this.#records.asObservable();
  readonly #part: Request = newRequest();
  /** By the number that this server gave them, the oldest first. */
  readonly #asked = new Map<number, Asked>();
  /** The write whose transaction is being applied, and how many of its ops were. */
  #current: Applying | undefined;
  #turn: AuditRecord[] = [];

  /** @param sid this server's, by which it knows its own clients' writes */
  constructor(sid: number) {
    this.#sid = sid;
  }

  /** Notes a write. Parts of a multi are left as they were found. */
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
    // Of a multi, checks are not told of.
    if (operation === undefined) return;
    const { identities, address, acl, path } = asked;
    this.#turn.push({
      ...{ ...whereOf(header), identities, address, operation, acl },
      path: isFailure ? path : sliceText(op.path),
      createMode: isFailure && operation !== "create" ? undefined : asked.createModes[index],
      result: isFailure ? "failure" : "success",
    });
  }

  /** The end of a turn. */
  flush(): void {
    if (this.#turn.length === 0) return;
    const turn = this.#turn;
    this.#turn = [];
    this.#records.next(turn);
  }

  /** The role has ended: what was asked in it has no answer. */
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
      ...{ identities: undefined, address: undefined, createMode: undefined, acl: undefined },
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
      // Whoever makes the transaction refuses it.
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
