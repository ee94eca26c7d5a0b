import { TLSSocket } from "node:tls";
import { OpCode, type SessionId } from "@zooid/model";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { AdminView } from "./admin-view.ts";

/** The data shown for one client connection. Times are whole milliseconds. */
export interface ConnectionFacts {
  /** `address:port`, an IPv6 address in brackets. */
  readonly host: string;
  /**
   * The operations that the socket waits for, numbered as in Java's selector: reading 1, writing 4.
   */
  readonly interestOps: number;
  readonly queued: number;
  readonly received: number;
  readonly sent: number;
  readonly establishedMs: number;
  /** Whether the connection uses TLS. */
  readonly isSecure: boolean;
  /** Undefined before it has one. */
  readonly session: SessionFacts | undefined;
}

export interface SessionFacts {
  readonly id: SessionId;
  readonly timeoutMs: number;
  readonly lastOperation: string;
  /** -1 before the first counted answer. */
  readonly lastXid: number;
  readonly lastZxid: number;
  readonly lastResponseMs: number;
  readonly lastLatencyMs: number;
  readonly latencyMsMin: number;
  readonly latencyMsAverage: number;
  readonly latencyMsMax: number;
}

/** @param asking the connection of the requester; its socket waits for no operation */
export function* connectionFacts(
  view: AdminView,
  asking?: ClientConnection,
): Generator<ConnectionFacts, void, undefined> {
  for (const connection of view.driver.connections()) yield factsOf(view, connection, connection === asking);
}

function factsOf({ driver }: AdminView, connection: ClientConnection, isAsking: boolean): ConnectionFacts {
  const known = driver.replica.connection(connection.ref);
  return {
    host: connection.peer.slice(1),
    interestOps: isAsking ? 0 : connection.socket.writableLength > 0 ? 5 : 1,
    queued: known?.inFlight ?? 0,
    received: known?.stats.received ?? 0,
    sent: known?.stats.sent ?? 0,
    establishedMs: Math.floor(connection.establishedMs),
    isSecure: connection.socket instanceof TLSSocket,
    session: known === undefined ? undefined : sessionFacts(known),
  };
}

type Known = NonNullable<ReturnType<AdminView["driver"]["replica"]["connection"]>>;

function sessionFacts({ session, stats }: Known): SessionFacts | undefined {
  if (session === undefined) return undefined;
  const hasLatency = stats.latencyCount > 0;
  return {
    id: session.id,
    timeoutMs: session.timeoutMs,
    lastOperation: OPERATION_CODES.get(stats.lastOp) ?? "NA",
    lastXid: stats.lastXid,
    lastZxid: stats.lastZxid,
    lastResponseMs: Math.floor(stats.lastResponseMs),
    lastLatencyMs: Math.floor(stats.lastLatencyMs),
    latencyMsMin: hasLatency ? Math.floor(stats.latencyMsMin) : 0,
    latencyMsAverage: hasLatency ? Math.floor(stats.latencyMsTotal / stats.latencyCount) : 0,
    latencyMsMax: Math.floor(stats.latencyMsMax),
  };
}

/** Names of operations in lines that people and tools read. */
const OPERATION_CODES: ReadonlyMap<number, string> = new Map<number, string>([
  [OpCode.PING, "PING"],
  [OpCode.CREATE_SESSION, "SESS"],
  [OpCode.MULTI, "MULT"],
  [OpCode.MULTI_READ, "MLTR"],
  [OpCode.CREATE, "CREA"],
  [OpCode.CREATE2, "CREA"],
  [OpCode.DELETE, "DELE"],
  [OpCode.SET_DATA, "SETD"],
  [OpCode.SET_ACL, "SETA"],
  [OpCode.CLOSE_SESSION, "CLOS"],
  [OpCode.SYNC, "SYNC"],
  [OpCode.EXISTS, "EXIS"],
  [OpCode.GET_DATA, "GETD"],
  [OpCode.SET_WATCHES, "SETW"],
  [OpCode.SET_WATCHES2, "STW2"],
  [OpCode.GET_ACL, "GETA"],
  [OpCode.GET_CHILDREN, "GETC"],
  [OpCode.GET_CHILDREN2, "GETC"],
  [OpCode.GET_ALL_CHILDREN_NUMBER, "GETACN"],
  [OpCode.GET_CHILDREN_PAGE, "GETP"],
  [OpCode.GET_PAST, "GETT"],
  [OpCode.GET_CHANGES, "GETH"],
  [OpCode.GET_EPHEMERALS, "GETE"],
  [OpCode.ADD_WATCH, "ADDW"],
  [OpCode.CHECK_WATCHES, "CHKW"],
  [OpCode.REMOVE_WATCHES, "REMW"],
  [OpCode.WHO_AM_I, "HOMI"],
]);
