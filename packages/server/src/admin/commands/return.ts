import { setTimeout as delay } from "node:timers/promises";
import { assertNever, composeZxid, EPOCH_MAX, formatZxid, memberLines, parseZxid, type Zxid } from "@zooid/model";
import { apacheEpochAbove } from "../../offline/apache/apache-epoch.ts";
import type { AdminView } from "../admin-view.ts";
import { requesterIdentities } from "../authorise.ts";
import {
  audited,
  type CommandRequest,
  Failure,
  type Fields,
  leaderText,
  notYet,
  type Outcome,
  Snapshot,
} from "./command.ts";

/** Time in which a change of the configuration commits. */
const COMMIT_MS = 5000;
const POLL_MS = 5;
const ALONE =
  "a server alone has no configuration that keeps its clients out: stop it, and export its data with zooid-server export --apache OUT --data DIR --sessions keep";

/** How far this server is on a return to Apache ZooKeeper, and what it would export. */
export function returnStatus(view: AdminView): Fields {
  const { driver, config } = view;
  const { replica } = driver;
  const { tree, zab } = replica;
  const { committed } = zab.members;
  const found = apacheEpochAbove(epochMaxOf(view));
  const isRefused = typeof found === "string";
  return {
    server_id: config.ensemble?.sid ?? null,
    is_serving: replica.isServing,
    is_leader: replica.isLeading,
    leader_id: zab.leader ?? null,
    epoch: zab.epoch,
    zxid: formatZxid(tree.applied),
    clients: committed?.clients ?? "open",
    closed_at: zab.members.areClientsClosedAgain && committed !== undefined ? formatZxid(committed.version) : null,
    connections: replica.connectionCount + view.handshakeCount(),
    sessions: tree.sessionCount,
    kept_sessions: tree.derivedPasswordCount,
    nodes: tree.nodeCount,
    servers: committed === undefined ? null : memberLines(committed.servers).join("\n"),
    apache_epoch: isRefused ? null : found.epoch,
    apache_epoch_note: isRefused ? found : (found.warning ?? null),
  };
}

/** The highest epoch that this server knows: it may have promised one that no leader has begun. */
function epochMaxOf({ driver }: AdminView): number {
  const { zab } = driver.replica;
  const { promise, currentEpoch } = zab.durable;
  return Math.max(promise.epoch, currentEpoch, zab.epoch);
}

/**
 * Closes a running ensemble to its clients. It answers once that is committed; then the epoch in
 * which it served them ends, and each server closes its ports.
 */
export async function closeClients(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { driver } = view;
  const { members, leader } = driver.replica.zab;
  const answer = view.closeClients({ identities: requesterIdentities(view, request), address: request.address });
  switch (answer) {
    case "closed":
      return members.areClientsClosedAgain
        ? closedFields(view, "closed-again")
        : new Failure("the ensemble has served no clients since it was founded: there is nothing to close", 409);
    case "proposed":
      break;
    case "busy":
      return notYet("the configuration of the ensemble, or its feature level, is being changed");
    case "alone":
      return new Failure(ALONE, 409);
    case "not-leading":
      return new Failure(
        `the leader closes the ensemble to clients, and this server does not lead${leaderText(leader)}`,
        409,
      );
    default:
      return assertNever(answer);
  }
  const endMs = performance.now() + COMMIT_MS;
  while (!members.areClientsClosed) {
    if (performance.now() >= endMs || driver.isHalted)
      return notYet("the closing is proposed and not known to be committed yet: ask again");
    await delay(POLL_MS, undefined, { ref: false });
  }
  return closedFields(view, "open");
}

function closedFields({ driver }: AdminView, before: "open" | "closed-again"): Fields {
  const { committed } = driver.replica.zab.members;
  return {
    clients: "closed-again",
    clients_before: before,
    closed_at: committed === undefined ? null : formatZxid(committed.version),
  };
}

interface ExportRequest {
  readonly epoch: number;
  /** The change of the configuration that has closed the ensemble. */
  readonly closedAt: Zxid;
}

/** @returns a sentence about the first parameter that is wrong */
function exportRequestOf(query: URLSearchParams): ExportRequest | string {
  const epoch = query.get("epoch") ?? "";
  if (!/^\d{1,7}$/.test(epoch) || Number(epoch) >= EPOCH_MAX)
    return `epoch is a whole number below ${EPOCH_MAX}, the one that Apache's servers begin behind, not ${JSON.stringify(epoch)}`;
  try {
    return { epoch: Number(epoch), closedAt: parseZxid(query.get("closed") ?? "") };
  } catch (error) {
    if (error instanceof RangeError) return `closed is the closed_at of return_status: ${error.message}`;
    throw error;
  }
}

/**
 * Sends the state of an ensemble that is closed to its clients, as a snapshot of Apache ZooKeeper's
 * that its servers start from: with the sessions that they can continue, and at the first zxid of
 * the epoch.
 */
export async function exportApache(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const asked = exportRequestOf(request.query);
  if (typeof asked === "string") return new Failure(asked, 400);
  const obstacle = exportObstacle(view, asked);
  if (obstacle !== undefined) return new Failure(obstacle, 409);
  const newHistoryAt = composeZxid(asked.epoch, 1);
  const taken = await view.apacheExports.take({ sessions: "derived", newHistoryAt });
  audited(view, request, "exportApache", typeof taken === "string" ? undefined : taken);
  if (typeof taken === "string") return notYet(taken);
  if (taken.position.zxid < asked.closedAt) {
    await taken[Symbol.asyncDispose]();
    return notYet(`the state on disk stands at ${formatZxid(taken.position.zxid)}: ask again`);
  }
  const headers = {
    last_zxid: formatZxid(newHistoryAt),
    state_zxid: formatZxid(taken.position.zxid),
    snapshot_size: String(taken.sizeBytes),
    nodes: String(taken.nodeCount),
    ephemerals_removed: String(taken.leftOutCount),
    sessions_kept: String(taken.sessionCount),
    sessions_ended: String(taken.leftOutSessionCount),
    shortest_timeout_ms: String(taken.shortestTimeoutMs),
    ttl_nodes: String(taken.ttlCount),
    data_bytes_max: String(taken.dataBytesMax),
  };
  return new Snapshot(headers, taken);
}

function exportObstacle(view: AdminView, { epoch, closedAt }: ExportRequest): string | undefined {
  const { replica } = view.driver;
  const { members, leader } = replica.zab;
  const { committed, lastSeen } = members;
  if (committed === undefined) return ALONE;
  if (!replica.isLeading) return `the leader exports its state, and this server does not lead${leaderText(leader)}`;
  if (!members.areClientsClosedAgain || lastSeen?.clients === "open")
    return "the ensemble serves clients, or is being opened to them: close_clients comes first";
  if (committed.version !== closedAt)
    return `the ensemble was closed to clients at ${formatZxid(committed.version)}, and not at ${formatZxid(closedAt)}`;
  const found = apacheEpochAbove(epochMaxOf(view));
  if (typeof found === "string") return found;
  if (epoch < found.epoch) return `epoch ${epoch} is too near to this ensemble's: it is ${found.epoch} at least`;
  return view.workUnderWay();
}
