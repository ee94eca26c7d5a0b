import { OpCode } from "@zooid/model";
import type { DeliveryParts } from "./parts/delivery.ts";
import type { RoleChanges } from "./role-changes.ts";

interface Parts extends DeliveryParts {
  readonly roles: RoleChanges;
}

/**
 * Does work that is due by time, and the rest of what earlier turns had no time for. Each turn asks
 * when something is due, so an idle one asks no part for postponed work: see {@link PostponedWork}.
 */
export class DueWork {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  run(): void {
    const { membership, roles, connections, watchBudget, waiting, setWatches } = this.#parts;
    const { memberChanges, servingState, proposer, forwarded, sessionEnds } = this.#parts;
    membership.tick();
    roles.serveReadOnlyWhenDue();
    this.#parts.automaticTransfer.tick();
    this.#resignWhenExhausted();
    this.#leaveWhenClosed();
    connections.removeMoreWatches();
    watchBudget.settle();
    if (!servingState.isApplying) {
      waiting.answerMore();
      setWatches.restoreMore();
    }
    if (!servingState.isLeading) return;
    this.#prepareMore();
    if (proposer.isPreparing) return;
    forwarded.takeMore();
    const wish = memberChanges.takeDueWish();
    if (wish !== undefined) proposer.changeMembers(wish);
    sessionEnds.propose();
    if (!proposer.isPreparing) this.#reap();
  }

  /** When {@link run} has something to do; undefined when never. */
  nextDueMs(): number | undefined {
    const { config, servingState, postponed, membership, roles, reaper, automaticTransfer } = this.#parts;
    if (postponed.isMarked && this.hasPostponed()) return servingState.nowMs;
    const reaperDueMs = servingState.isLeading ? reaper.nextDueMs() : undefined;
    // A server alone has no election, no other server to lead, and never lacks a quorum.
    if (config.ensemble === undefined) return reaperDueMs;
    const roleDueMs = earliest(earliest(membership.nextDueMs(), roles.readOnlyDueMs()), this.#closedDueMs);
    return earliest(roleDueMs, earliest(reaperDueMs, automaticTransfer.nextDueMs()));
  }

  /** Whether an earlier turn left something that is due now; clears the mark where none is left. */
  hasPostponed(): boolean {
    const { postponed, connections, watchBudget, proposer, waiting, setWatches, servingState, forwarded, sessionEnds } =
      this.#parts;
    const isDue =
      connections.isRemovingWatches ||
      watchBudget.isUnsettled ||
      proposer.isPreparing ||
      forwarded.hasBacklog ||
      sessionEnds.hasPending;
    // These also wait for the rest of a transaction that is applied in part.
    const isBehind = setWatches.hasUnfinished || waiting.hasHeldBack;
    postponed.isMarked = isDue || isBehind;
    return isDue || (isBehind && !servingState.isApplying);
  }

  /** An epoch's counter is used up: a new epoch needs a new leader. */
  #resignWhenExhausted(): void {
    const { zab, tools, proposer } = this.#parts;
    if (!zab.isExhausted || zab.outstandingCount > 0) return;
    if (tools.batcher.count > 0 || proposer.isPreparing) return;
    zab.resign({ kind: "counter-used-up" });
  }

  /**
   * A learner leaves with its leader. It leaves alone where the leader's epoch began without
   * clients, and this server learned that only after it had begun to serve them.
   */
  #leaveWhenClosed(): void {
    const { zab } = this.#parts;
    const dueMs = this.#closedDueMs;
    if (dueMs !== undefined && dueMs <= this.#parts.servingState.nowMs) zab.resign({ kind: "closed-to-clients" });
  }

  get #closedDueMs(): number | undefined {
    const { config, servingState } = this.#parts;
    const { closedMs, isLeading } = servingState;
    return closedMs === undefined || isLeading ? undefined : closedMs + config.tickMs;
  }

  /** Prepares more of a multi that is prepared in part, and of the writes that wait for it. */
  #prepareMore(): void {
    const { proposer, admission } = this.#parts;
    if (!proposer.isPreparing) return;
    proposer.prepareMore();
    if (!proposer.isPreparing) admission.committed();
  }

  /**
   * Proposes the end of due containers and TTL nodes, unless clients' writes have to wait already.
   */
  #reap(): void {
    const { servingState, admission, reaper, proposer, inFlightWrites, zab } = this.#parts;
    const { nowMs, wallMs } = servingState;
    // Those who keep a TTL node alive cannot reach it while clients are closed.
    if (admission.isFull || zab.members.areClientsClosed) {
      reaper.postpone(nowMs);
      return;
    }
    const op = OpCode.DELETE_CONTAINER;
    reaper.step(nowMs, wallMs, (node) => {
      proposer.reap(inFlightWrites.requester(undefined, 0, op, inFlightWrites.issueWithoutClient(op)), node);
    });
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
