import { epochOf, formatZxid, type TxnHeader } from "@zooid/model";
import { Violation } from "./violation.ts";

/**
 * T1: within an epoch the times of transactions never fall, whatever the leader's wall clock does.
 */
export class Stamps {
  #epoch = 0;
  #timeMs = 0;

  /** A transaction is applied for the first time. */
  committed({ zxid, timeMs }: Pick<TxnHeader, "zxid" | "timeMs">): void {
    const epoch = epochOf(zxid);
    if (epoch === this.#epoch && timeMs < this.#timeMs) {
      throw new Violation("T1", `${formatZxid(zxid)} is stamped ${timeMs}, the transaction before it ${this.#timeMs}`);
    }
    this.#epoch = epoch;
    this.#timeMs = timeMs;
  }
}
