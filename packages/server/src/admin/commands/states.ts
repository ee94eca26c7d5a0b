import { formatZxid } from "@zooid/model";
import { type PurgeOutline, PurgeRefusal } from "../../storage/history-purges.ts";
import type { AdminView } from "../admin-view.ts";
import { BadParameter } from "../client-reports.ts";
import { SnapshotRefusal } from "../snapshot-endpoint.ts";
import { backupFields, beginBackup } from "./backup-fields.ts";
import { audited, type CommandRequest, Failure, leaderText, type Outcome, Snapshot } from "./command.ts";
import { outlineFields, purgeRequestOf } from "./purge-fields.ts";
import { momentOf, restoreFields } from "./restore-fields.ts";

function refused({ error, status, retryAfterMs }: SnapshotRefusal): Failure {
  const headers = retryAfterMs === undefined ? {} : { "retry-after": `${Math.ceil(retryAfterMs / 1000)}` };
  return new Failure(error, status, headers);
}

export async function snapshot(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { query, address, certificateSubject } = request;
  const taken = await view.snapshots.take(certificateSubject ?? address);
  audited(view, request, "snapshot", taken);
  if (taken instanceof SnapshotRefusal) return refused(taken);
  const headers = { last_zxid: formatZxid(taken.position.zxid), snapshot_size: String(taken.sizeBytes) };
  if (isStreaming(query)) return new Snapshot(headers, taken);
  // The state file was advanced to here, and lies in the data directory.
  await taken[Symbol.asyncDispose]();
  return new Snapshot(headers, undefined);
}

/** As Java parses it: everything except "true" is false. */
function isStreaming(query: URLSearchParams): boolean {
  const text = query.get("streaming");
  return text === null || text.toLowerCase() === "true";
}

export async function restore(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { query, address, certificateSubject, contentType, body } = request;
  const who = certificateSubject ?? address;
  const restored = await view.snapshots.restore(who, contentType, body, query.get("sessions") ?? "drop");
  audited(view, request, "restore", restored);
  return restored instanceof SnapshotRefusal ? refused(restored) : { last_zxid: restored };
}

/**
 * Begins a restore of a state of the past from the backup, or only a plan of it. Its status says
 * how it ends.
 */
export function restoreState(view: AdminView, request: CommandRequest): Outcome {
  const { runningRestore } = view;
  const { zab, isLeading } = view.driver.replica;
  if (!isLeading) {
    return new Failure(`the leader restores, and this server does not lead${leaderText(zab.leader)}`, 409);
  }
  const moment = momentOf(request.query);
  if (typeof moment === "string") return new Failure(moment, 400);
  const obstacle = view.workUnderWay() ?? runningRestore.obstacle();
  if (obstacle !== undefined) return new Failure(obstacle, 409);
  const isPlan = request.query.get("plan") === "true";
  const keepsSessions = request.query.get("keepSessions") === "true";
  runningRestore.begin({ moment, isPlan, keepsSessions }, (isRestored) =>
    audited(view, request, "restore", isRestored ? true : undefined),
  );
  return restoreFields(runningRestore.status);
}

const NO_BACKUP = "this server has no backup: zooid.backup.target is not set";

export function backupNow(view: AdminView, request: CommandRequest): Outcome {
  const begun = beginBackup(view);
  audited(view, request, "backup", begun);
  return begun ?? new Failure(NO_BACKUP, 409);
}

export function backupStatus(view: AdminView): Outcome {
  return backupFields(view) ?? new Failure(NO_BACKUP, 409);
}

export async function purgeHistory(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { query, address, certificateSubject } = request;
  const asked = purgeRequestOf(query);
  if (asked instanceof BadParameter) return new Failure(asked.error, 400);
  if (query.get("dryRun") === "true") return outlineOr(await view.purges.plan(asked));
  const begun = await view.purges.begin(asked, certificateSubject ?? address);
  audited(view, request, "purgeHistory", begun instanceof PurgeRefusal ? undefined : begun);
  return outlineOr(begun);
}

function outlineOr(found: PurgeOutline | PurgeRefusal): Outcome {
  return found instanceof PurgeRefusal ? new Failure(found.reason, 409) : outlineFields(found);
}
