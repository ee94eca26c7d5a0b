import { formatZxid } from "@zooid/model";
import type { Member } from "../cluster/cluster.ts";
import { Violation } from "../invariants/violation.ts";
import type { Run } from "./run.ts";

/** Without faults a leader must be found within this time. */
const LEADER_LIMIT_MS = 8000;
/** More leader changes after the last fault are a livelock. */
const LEADER_COUNT_MAX = 4;

/**
 * L1, L5 and L7: once faults have ended there is one leader, all servers serve the same history,
 * and every client has its answers.
 */
export class Convergence {
  readonly #run: Run;
  readonly #leaderCountMax: number;
  #noLeaderSinceMs: number;
  #epoch: number | undefined;
  #leaderCount = 0;

  /** Begins when the last fault has ended. */
  constructor(run: Run) {
    this.#run = run;
    this.#noLeaderSinceMs = run.nowMs;
    // A counter that ends early ends epochs, too.
    this.#leaderCountMax = run.plan.counterMax === undefined ? LEADER_COUNT_MAX : Number.POSITIVE_INFINITY;
  }

  isReached(): boolean {
    this.#watchLeader();
    return whatIsMissing(this.#run) === "";
  }

  #watchLeader(): void {
    const { cluster, nowMs } = this.#run;
    const { leader } = cluster;
    if (leader === undefined) {
      if (nowMs - this.#noLeaderSinceMs <= LEADER_LIMIT_MS) return;
      throw new Violation("L1", `no leader ${LEADER_LIMIT_MS} ms after the last fault: ${statesOf(this.#run)}`);
    }
    this.#noLeaderSinceMs = nowMs;
    const { epoch } = leader.replica.zab;
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#leaderCount++;
    if (this.#leaderCount <= this.#leaderCountMax) return;
    throw new Violation("L7", `${this.#leaderCount} leaders after the last fault: ${statesOf(this.#run)}`);
  }
}

/** Why a run has not converged, in words; empty when it has. */
export function whatIsMissing(run: Run): string {
  const { cluster, history, clients, reaping } = run;
  const leaders = cluster.running().filter((server) => server.isLeading);
  const [leader] = leaders;
  if (leader === undefined || leaders.length !== 1) return `${leaders.length} servers lead: ${statesOf(run)}`;
  const missing: string[] = [];
  const { zab, tree } = leader.replica;
  const last = tree.applied;
  for (const { sid, server } of cluster.members) {
    if (server?.isServing !== true) missing.push(`server ${sid} does not serve`);
    else if (server.replica.tree.applied !== last || server.disk.durable.tail.zxid !== last) {
      missing.push(`server ${sid} is not synced`);
    }
  }
  if (zab.lastProposed !== zab.committed && zab.outstandingCount > 0) {
    missing.push("the leader has proposals that are not committed");
  }
  for (const { sid, server } of cluster.members) {
    if (server === undefined) continue;
    const { outstandingCount, pendingSyncCount, waitingRenewalCount } = server.replica;
    const waiting = `${outstandingCount} writes, ${pendingSyncCount} syncs and ${waitingRenewalCount} renewals`;
    if (outstandingCount + pendingSyncCount + waitingRenewalCount > 0) missing.push(`${waiting} wait at server ${sid}`);
  }
  const due = reaping.dueNode(leader, history.model);
  if (due !== undefined) missing.push(`${due} is due and not removed`);
  if (history.sessions.hasUnfinishedEnd) missing.push("the end of a session is not complete");
  for (const { isDone, name, inFlight } of clients) {
    if (!isDone) missing.push(`${name} waits for ${inFlight.length} answers`);
  }
  return missing.length === 0 ? "" : `${missing.join(", ")}: ${statesOf(run)}`;
}

function statesOf({ cluster }: Run): string {
  return cluster.members.map(stateOf).join("; ");
}

function stateOf({ sid, server }: Member): string {
  if (server === undefined) return `s${sid} down`;
  const { zab, tree } = server.replica;
  const tail = formatZxid(server.disk.durable.tail.zxid);
  const paused = server.isPaused ? " paused" : "";
  return `s${sid} ${zab.state}/${zab.phase} epoch ${zab.epoch} log ${tail} applied ${formatZxid(tree.applied)}${paused}`;
}
