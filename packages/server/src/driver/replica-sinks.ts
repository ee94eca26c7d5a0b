import { type ConnectionRefusal, type ReplicaSinks, withNoPeers } from "@zooid/replica";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { CountedReplies } from "../clients/counted-replies.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Clients } from "./clients.ts";
import type { DriverGround } from "./driver-ground.ts";
import type { Proposals } from "./proposals.ts";

interface Parts extends DriverGround {
  readonly checkpoints: Checkpoints;
  readonly clients: Clients;
  readonly proposals: Proposals;
  readonly replies: CountedReplies;
}

const REFUSALS: Readonly<Record<ConnectionRefusal, string>> = {
  "unreadable-request": "it sent a frame that is no request",
  "unknown-operation": "it requested an operation that this server does not serve",
  authentication: "its authentication was refused",
  unauthenticated: "it sent a request before it had authenticated as this server requires",
  "other-ensemble": "it looks for another ensemble",
  "watch-limit": "it armed more watches than one connection may",
};

/** The replica's outputs: each call is performed by a part of the driver. */
export function replicaSinksOf(parts: Parts): ReplicaSinks {
  const { clients, hooks, recorder, tools } = parts;
  const { audit } = hooks;
  return {
    replies: parts.replies,
    ...peersOf(parts),
    install: () => {
      hooks.install();
      parts.checkpoints.loaded();
    },
    roleChanged: () => roleChanged(parts),
    membersChanged: () => parts.peers?.membersChanged(parts.replica.zab.members),
    note: (event) => {
      if (event.kind === "slow-request") hooks.slow.request(event);
      else hooks.note(event);
    },
    resume: (to) => clients.resume(to),
    refused: (to, refusal) => {
      const connection = clients.get(to);
      if (connection === undefined) return;
      hooks.refusals.note(refusal, connection.peer, REFUSALS[refusal]);
      if (refusal === "authentication") delayFailure(parts, connection);
    },
    wrongPassword: (to) => {
      const connection = clients.get(to);
      if (connection !== undefined) delayFailure(parts, connection);
    },
    requested: (sequence, connection, request) => audit?.asked(sequence, connection, request, tools.requests),
    applied: (header, op) => {
      parts.checkpoints.applied(header, op);
      recorder?.applied(header, op);
      audit?.applied(header, op);
    },
  };
}

/** The log and the other servers; a server alone calls nothing of the latter. */
function peersOf({ log, peers }: Parts): Pick<ReplicaSinks, "log" | "links" | "snapshots" | "elect"> {
  if (peers === undefined) return { ...withNoPeers(log), elect: () => {} };
  return {
    log,
    links: peers.links,
    snapshots: peers.snapshots,
    elect: (to, message) => peers.elect(to, message),
  };
}

function roleChanged({ roleTimes, replica, proposals, hooks }: Parts): void {
  roleTimes.changed(replica.zab, performance.now());
  proposals.roleChanged();
  if (!replica.isServing) hooks.audit?.clear();
  hooks.roleChanged();
}

/** Makes the answer to a failed authentication wait, if many failed from the same address. */
function delayFailure({ authFailures }: Parts, connection: ClientConnection): void {
  const delayMs = authFailures.delayMs(connection.address, performance.now());
  if (delayMs > 0) connection.withhold(delayMs);
}
