import type { Zxid } from "@zooid/model";
import type { ApacheTransaction } from "@zooid/wire/apache";
import { type SinceSync, SyncCounts } from "./since-sync.ts";

/**
 * The answer of Apache's leader to a SYNC: all that it had proposed before has been applied here.
 */
export interface SyncAnswer extends SinceSync {
  /** The last transaction before the answer. */
  readonly zxid: Zxid;
}

/** Why a SYNC, or an act at the end of following, is refused. */
export class FollowRefusal {
  readonly reason: string;
  /** Whether the same request may be accepted later. */
  readonly isForNow: boolean;

  constructor(reason: string, { isForNow = false }: { readonly isForNow?: boolean } = {}) {
    this.reason = reason;
    this.isForNow = isForNow;
  }
}

/** SYNCs without an answer. One that is not waited for any more is answered, too. */
const SYNC_COUNT_MAX = 16;

/**
 * SYNCs of operators, whose answers come among the transactions, in the order of their requests.
 */
export class FollowSyncs {
  readonly #counts = new SyncCounts();
  readonly #waiting: PromiseWithResolvers<SyncAnswer | FollowRefusal>[] = [];

  /** @param send asks Apache's leader */
  async ask(timeoutMs: number, send: () => void): Promise<SyncAnswer | FollowRefusal> {
    if (this.#waiting.length === SYNC_COUNT_MAX)
      return new FollowRefusal(`${SYNC_COUNT_MAX} SYNCs have no answer yet`, { isForNow: true });
    const answer = Promise.withResolvers<SyncAnswer | FollowRefusal>();
    this.#waiting.push(answer);
    send();
    const late = setTimeout(() => {
      answer.resolve(
        new FollowRefusal(`Apache's leader has not answered a SYNC within ${timeoutMs} ms`, { isForNow: true }),
      );
    }, timeoutMs);
    try {
      return await answer.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** The transactions since the last answer. */
  get sinceLast(): SinceSync {
    return this.#counts.sinceLast;
  }

  /** A transaction is applied. */
  applied(transaction: ApacheTransaction): void {
    this.#counts.add(transaction);
  }

  /** A snapshot comes, which may contain any transactions. */
  replaced(): void {
    this.#counts.forget();
  }

  /** An answer has come. */
  answered(zxid: Zxid): void {
    this.#waiting.shift()?.resolve({ zxid, ...this.#counts.take(zxid) });
  }

  /** No answer comes any more. */
  end(): void {
    for (const answer of this.#waiting.splice(0))
      answer.resolve(new FollowRefusal("the ensemble is not followed any more"));
  }
}
