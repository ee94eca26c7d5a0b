import { formatZxid, type Zxid } from "@zooid/model";
import { type ApacheTransaction, ApacheType } from "@zooid/wire/apache";

/** The kinds of transactions that a proof of closed client ports tells apart. */
export type FollowedKind =
  /** A session that Apache ended, since its timeout was over or an operator asked for it. */
  | "session-expired"
  /** A container without children, or a node whose time to live was over. */
  | "reaped"
  /** A change of the ensemble's configuration. */
  | "reconfig"
  /** A client's request, one that failed too. */
  | "request";

/** A client's request, for reports. */
export interface FollowedRequest {
  readonly zxid: string;
  readonly session: string;
  /** Apache's number of the transaction's type. */
  readonly type: number;
}

/** The transactions from one SYNC's answer to the next one's. */
export interface SinceSync {
  /** The last transaction before the earlier answer; undefined where that cannot be said. */
  readonly after: Zxid | undefined;
  readonly expiredCount: number;
  readonly reapedCount: number;
  readonly reconfigCount: number;
  readonly requestCount: number;
  /** The first of the requests. */
  readonly requests: readonly FollowedRequest[];
}

const REQUESTS_MAX = 20;

export function followedKind({ session, cxid, type }: ApacheTransaction): FollowedKind {
  // Requests of clients have numbers from 1 on, and below 0 for their ends and logins.
  const isOfServer = cxid === 0;
  switch (type) {
    case ApacheType.CLOSE_SESSION:
      return isOfServer ? "session-expired" : "request";
    case ApacheType.DELETE:
    case ApacheType.DELETE_CONTAINER:
      return isOfServer && session === 0n ? "reaped" : "request";
    case ApacheType.RECONFIG:
      return "reconfig";
    default:
      return "request";
  }
}

/** Counts the transactions between the answers to two SYNCs. */
export class SyncCounts {
  #after: Zxid | undefined;
  #expiredCount = 0;
  #reapedCount = 0;
  #reconfigCount = 0;
  #requestCount = 0;
  #requests: FollowedRequest[] = [];

  add(transaction: ApacheTransaction): void {
    const kind = followedKind(transaction);
    switch (kind) {
      case "session-expired":
        this.#expiredCount++;
        return;
      case "reaped":
        this.#reapedCount++;
        return;
      case "reconfig":
        this.#reconfigCount++;
        return;
      case "request": {
        this.#requestCount++;
        const { zxid, session, type } = transaction;
        if (this.#requests.length < REQUESTS_MAX)
          this.#requests.push({
            zxid: formatZxid(Number(zxid) as Zxid),
            session: `0x${BigInt.asUintN(64, session).toString(16)}`,
            type,
          });
      }
    }
  }

  /** A snapshot may contain any transactions: the next answer has no earlier one. */
  forget(): void {
    this.#begin(undefined);
  }

  /** The transactions since the last answer. */
  get sinceLast(): SinceSync {
    return {
      after: this.#after,
      expiredCount: this.#expiredCount,
      reapedCount: this.#reapedCount,
      reconfigCount: this.#reconfigCount,
      requestCount: this.#requestCount,
      requests: this.#requests,
    };
  }

  /** An answer has come, behind this transaction. */
  take(zxid: Zxid): SinceSync {
    const taken = this.sinceLast;
    this.#begin(zxid);
    return taken;
  }

  #begin(after: Zxid | undefined): void {
    this.#after = after;
    this.#expiredCount = 0;
    this.#reapedCount = 0;
    this.#reconfigCount = 0;
    this.#requestCount = 0;
    this.#requests = [];
  }
}
