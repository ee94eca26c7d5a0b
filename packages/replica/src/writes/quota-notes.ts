import type { Excess } from "@zooid/data-tree";
import type { ReplicaEvent } from "../operator-events.ts";

/** Between two events about quotas. */
const INTERVAL_MS = 10_000;

/** Tells operators of writes that go beyond a quota: not of each, since a client that does so once does so often. */
export class QuotaNotes {
  readonly #note: (event: ReplicaEvent) => void;
  #silentUntilMs = 0;
  #unsaid = 0;

  constructor(note: (event: ReplicaEvent) => void) {
    this.#note = note;
  }

  tell(excess: Excess, nowMs: number): void {
    if (nowMs < this.#silentUntilMs) {
      this.#unsaid++;
      return;
    }
    this.#note({ kind: "over-quota", excess, moreCount: this.#unsaid });
    this.#silentUntilMs = nowMs + INTERVAL_MS;
    this.#unsaid = 0;
  }
}
