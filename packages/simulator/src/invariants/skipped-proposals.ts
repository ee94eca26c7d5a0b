import { composeZxid, counterOf, epochOf, formatZxid, type ServerId, type Zxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { CoverageCounts } from "../runs/coverage.ts";
import type { ProposalStreams } from "./proposals.ts";
import { Violation } from "./violation.ts";

/**
 * A range of some epoch, from `counter` on, that can never be committed any more, since `killedBy`
 * has its leader.
 */
interface Dead {
  readonly counter: number;
  readonly killedBy: number;
}

/** I20: a proposal that a later leader's history lacks stays skipped. */
export class SkippedProposals {
  readonly #proposals: ProposalStreams;
  readonly #coverage: CoverageCounts;
  readonly #dead = new Map<number, Dead>();

  constructor(proposals: ProposalStreams, coverage: CoverageCounts) {
    this.#proposals = proposals;
    this.#coverage = coverage;
  }

  proposed(zxid: Zxid): void {
    const dead = this.#dead.get(epochOf(zxid));
    if (dead !== undefined && counterOf(zxid) >= dead.counter) this.#coverage.reached("proposal died");
  }

  /**
   * A leader's history is established: what older leaders proposed and this history lacks is
   * skipped.
   */
  established(epoch: number, durable: DurableLog): void {
    for (const [older, last] of this.#proposals.epochs()) {
      if (older >= epoch) continue;
      const kept = durable.epochs.find((range) => range.epoch === older)?.last ?? 0;
      const dead = this.#dead.get(older);
      if (dead !== undefined && dead.counter <= kept) {
        throw new Violation("I20", `${formatZxid(composeZxid(older, kept))} was skipped and is back in epoch ${epoch}`);
      }
      if (dead === undefined) {
        this.#dead.set(older, { counter: kept + 1, killedBy: epoch });
        if (last > kept) this.#coverage.reached("proposal died");
      }
    }
  }

  /** A history was installed on a disk. */
  installed(sid: ServerId, { epochs, currentEpoch }: DurableLog): void {
    for (const { epoch, last } of epochs) {
      const dead = this.#dead.get(epoch);
      if (dead === undefined || currentEpoch < dead.killedBy || last < dead.counter) continue;
      const zxid = formatZxid(composeZxid(epoch, last));
      throw new Violation("I20", `server ${sid} holds epoch ${currentEpoch} and ${zxid}, which was skipped`);
    }
  }
}
