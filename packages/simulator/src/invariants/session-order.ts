import { ErrorCode, formatZxid, OpCode, type SessionId, type TxnHeader, type TxnOp, type Zxid } from "@zooid/model";
import type { Committed } from "../model/history.ts";
import { Violation } from "./violation.ts";

/**
 * G2: requests of one session take effect in the order in which its client numbered them, also when
 * they come from several servers: a request's `cxid` is never behind that of the session's last
 * one, and a close does not end a session that its client renewed after it.
 */
export class SessionOrder {
  readonly #last = new Map<SessionId, { readonly cxid: number; readonly zxid: number }>();

  /** Where each session's client last connected with it, and its last request before. */
  readonly #renewed = new Map<SessionId, { readonly sid: number; readonly cxid: number }>();
  /** Closes that were proposed when their client had the session on a later connection. */
  readonly #lateCloses = new Set<number>();

  /** A client has its session on a further connection. @param cxid its last request before */
  renewed(session: SessionId, sid: number, cxid: number): void {
    this.#renewed.set(session, { sid, cxid });
  }

  /**
   * A leader proposes the end of a session that its client asked for. Once such a request reaches
   * the leader, the session is not renewed any more, so a later connection to another server shows
   * that it came late. (By the same server it may come behind the renewal, and is no later than the
   * requests of the new connection.)
   *
   * @param owner the server that has the session by the leader: an earlier renewal of the client
   *   may arrive late too, in front of the close, and take the session back
   */
  proposedClose(
    session: SessionId,
    { cxid, zxid, origin }: Pick<TxnHeader, "cxid" | "zxid" | "origin">,
    owner: number | undefined,
  ): void {
    const renewed = this.#renewed.get(session);
    if (renewed === undefined || cxid > renewed.cxid || origin === renewed.sid || origin === owner) return;
    this.#lateCloses.add(zxid);
  }

  /** A transaction is applied for the first time; its first op. */
  committed(
    { session, cxid, zxid }: Pick<Committed, "session" | "cxid" | "zxid">,
    first: Readonly<TxnOp>,
    origin: number,
  ): void {
    // Transactions of the leader itself have no cxid.
    if (cxid <= 0 || isRefusedForItsSession(first)) return;
    if (this.#lateCloses.has(zxid)) {
      throw new Violation(
        "G2",
        `close ${session}:${cxid} takes effect although another server has renewed the session`,
      );
    }
    const last = this.#last.get(session);
    if (last !== undefined && cxid < last.cxid) {
      // A session that went to another server and came back: what its client sent to the first one
      // and gave up may arrive there late, with an outcome that the client does not know.
      const renewed = this.#renewed.get(session);
      if (renewed !== undefined && renewed.sid === origin && cxid <= renewed.cxid) return;
      const behind = `${last.cxid}, which took effect at ${formatZxid(last.zxid as Zxid)}`;
      throw new Violation(
        "G2",
        `request ${session}:${cxid} takes effect at ${formatZxid(zxid as Zxid)}, after ${behind}`,
      );
    }
    this.#last.set(session, { cxid, zxid });
  }
}

/**
 * Such a refusal may come late: it has no effect, and no connection of the session waits for it.
 */
function isRefusedForItsSession({ op, code }: Readonly<TxnOp>): boolean {
  return op === OpCode.ERROR && (code === ErrorCode.SESSION_MOVED || code === ErrorCode.SESSION_EXPIRED);
}
