import { BUDGETS } from "@zooid/model";
import { TimeShare } from "../driver/time-share.ts";

const COST_MS_MAX = 8;

/**
 * Grants the beginning of TLS handshakes by the time that they have taken: they get a quarter of
 * the event loop, however dear each is.
 */
export class HandshakeBudget extends TimeShare {
  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    super({ now, ...BUDGETS.handshakes, costMsMax: COST_MS_MAX });
  }
}
