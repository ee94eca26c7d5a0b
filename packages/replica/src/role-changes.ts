import { isFloorUncommitted, restoredAt } from "@zooid/model";
import type { RoleEnd } from "@zooid/zab";
import type { DeliveryParts } from "./parts/delivery.ts";

/** A server without a role serves reads after a tick, and not sooner than this. */
const READ_ONLY_MS_MIN = 2000;
/** More writes than one life of a server sends off. */
const SEQUENCES_PER_START = 2 ** 32;

/** Begins and ends what depends on a role: service, sessions, unanswered requests. */
export class RoleChanges {
  readonly #parts: DeliveryParts;
  #wereClientsClosed: boolean;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#wereClientsClosed = parts.zab.members.areClientsClosed;
  }

  /** Leads an ensemble of one, in an epoch whose promise is durable. */
  leadAlone(epoch: number, bootCount: number): void {
    const { sessionCreation, zab } = this.#parts;
    sessionCreation.startAlone(bootCount);
    zab.leadAlone(epoch);
  }

  /**
   * Begins to look for a role. A server that lost its disk counts its starts from 1 again, so a
   * random offset keeps the numbers of its writes and its sessions' ids unique.
   */
  join(bootCount: number): void {
    const { tools, inFlightWrites, sessionCreation, zab } = this.#parts;
    const offset = Math.floor(tools.random() * (SEQUENCES_PER_START / 2));
    inFlightWrites.startAt(bootCount * SEQUENCES_PER_START + offset);
    sessionCreation.startAmongOthers(bootCount);
    zab.flush();
  }

  /** The broadcast has established a role in an epoch. */
  serve(epoch: number): void {
    const { servingState, connections, tree, sessions, zab, proposer, reaper, membership } = this.#parts;
    // rule: read-only-clients-are-disconnected
    if (servingState.isReadOnly) connections.disconnectAll();
    servingState.serve(epoch, tree.applied, zab.state === "leading");
    sessions.reset();
    this.#parts.memberChanges.show();
    const restored = restoredAt(zab.durable);
    // rule: no-removals-after-a-restore
    if (restored !== undefined) reaper.restored(restored, servingState.nowMs);
    if (servingState.isLeading) {
      proposer.beginEpoch(epoch);
      // Before anything else is written.
      proposer.foundLevel();
      reaper.begin(servingState.nowMs, servingState.wallMs);
      sessions.takeOver();
    }
    membership.established(epoch);
  }

  /** The configuration changed, or begins to. */
  membersChanged(): void {
    const { memberChanges, servingState, sessions, zab } = this.#parts;
    const { areClientsClosed } = zab.members;
    // Each session has its whole timeout to find a server, however long the clients were closed.
    if (this.#wereClientsClosed && !areClientsClosed && servingState.isLeading) sessions.takeOver();
    // rule: a-closing-ends-the-epoch
    if (!this.#wereClientsClosed && areClientsClosed && servingState.isServing)
      servingState.closedMs = servingState.nowMs;
    this.#wereClientsClosed = areClientsClosed;
    memberChanges.changed();
  }

  /** The role has ended: its requests get no answer any more, so their clients are disconnected. */
  left(reason: RoleEnd): void {
    const parts = this.#parts;
    // No longer while the rest of a transaction is applied, which could propose something.
    parts.servingState.isLeading = false;
    parts.commitProcessor.complete();
    parts.sinks.note(reason);
    parts.servingState.left();
    parts.membership.left(reason);
    // rule: clients-are-disconnected-with-the-role
    parts.connections.disconnectAll();
    parts.inFlightWrites.clear();
    parts.proposer.discard();
    parts.syncs.clear();
    parts.setWatches.clear();
    parts.historyRequests.clear();
    parts.waiting.clear();
    parts.forwarder.clear();
    parts.forwarded.clear();
    parts.admission.clear();
    parts.sessionRenewal.clear();
    parts.sessionEnds.clear();
    parts.endingSessions.clear();
    parts.unconfirmedRefusals.clear();
    parts.sessions.reset();
    parts.sinks.roleChanged();
  }

  /**
   * When a server without a role begins to serve reads to clients that accept read-only service.
   */
  readOnlyDueMs(): number | undefined {
    const { config, servingState, membership, zab } = this.#parts;
    const { looksSinceMs } = membership;
    if (config.ensemble?.readOnlyMode !== true || servingState.isReadOnly || looksSinceMs === undefined) {
      return undefined;
    }
    // 1. S1 has a restored state that no quorum has, and is cut off. A client reads it there.
    // 2. S2 and S3 continue with the history before, which the client reads next.
    if (isFloorUncommitted(zab.durable)) return undefined;
    return looksSinceMs + Math.max(config.tickMs, READ_ONLY_MS_MIN);
  }

  serveReadOnlyWhenDue(): void {
    const { servingState, tree, sinks } = this.#parts;
    const dueMs = this.readOnlyDueMs();
    if (dueMs === undefined || dueMs > servingState.nowMs) return;
    servingState.serveReadOnly(tree.applied);
    this.#parts.memberChanges.show();
    sinks.note({ kind: "read-only-service" });
    sinks.roleChanged();
  }
}
