import type { BackupPurge } from "@zooid/backup";
import { counted, formatZxid, timeFaultText, type Zxid } from "@zooid/model";
import type { HistoryPurge } from "@zooid/txn-log/sqlite";
import type { LogFields } from "../operators/log-fields.ts";
import type { Storage } from "./storage.ts";

/** The running server, as a purge needs it. */
export interface HistoryPurgesHost {
  storage(): Storage;
  /** Marks what is applied as a checkpoint. */
  checkpoint(): void;
  /** Why no purge may begin beside other work on the same files; undefined: it may. */
  workUnderWay(): string | undefined;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

/** A transaction, or the last one before the first that is stamped later than a time. */
export type PurgePoint = { readonly zxid: Zxid } | { readonly timeMs: number };

export interface PurgeRequest {
  readonly point: PurgePoint;
  /** Whether the backup loses the same. */
  readonly withBackup: boolean;
}

/** The part of the history that a purge would remove. */
export interface PurgeOutline {
  readonly through: Zxid;
  readonly fileCount: number;
  readonly baseCount: number;
  readonly bytes: number;
  /** Objects of the backup; undefined where it keeps all. */
  readonly backupCount?: number;
}

/** The last purge, or the one that is under way. */
export interface PurgeStatus {
  readonly state: "none" | "running" | "done" | "failed";
  readonly through?: Zxid;
  /** Files and whole states that were removed, of the history and of the backup. */
  readonly fileCount?: number;
  readonly baseCount?: number;
  readonly backupCount?: number;
  /** The whole state with which the history begins. */
  readonly base?: Zxid;
  readonly fault?: string;
}

/** Why a purge did not begin. */
export class PurgeRefusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Removes the history up to a transaction for good, from this server's files and from the backup
 * that it continues. All other work continues meanwhile; a status says how it ended.
 */
export class HistoryPurges {
  readonly #host: HistoryPurgesHost;
  #status: PurgeStatus = { state: "none" };

  constructor(host: HistoryPurgesHost) {
    this.#host = host;
  }

  get status(): PurgeStatus {
    return this.#status;
  }

  /** The part that a purge would remove now; nothing is changed. */
  async plan(request: PurgeRequest): Promise<PurgeOutline | PurgeRefusal> {
    const host = this.#host;
    const busy = host.workUnderWay();
    if (busy !== undefined) return new PurgeRefusal(busy);
    const backupReason = request.withBackup ? this.#backupReason() : undefined;
    if (backupReason !== undefined) return new PurgeRefusal(backupReason);
    try {
      const through = await this.#zxidOf(request.point);
      const plan = host.storage().planPurge(through);
      if (typeof plan === "string") return new PurgeRefusal(plan);
      const bytes = plan.files.reduce((sum, file) => sum + file.bytes, 0);
      const outline = { through, fileCount: plan.files.length, baseCount: plan.bases.length, bytes };
      return request.withBackup ? { ...outline, backupCount: await this.#planBackup(through) } : outline;
    } catch (error) {
      return new PurgeRefusal(textOf(error));
    }
  }

  /** Begins a purge; {@link status} says when it has ended. */
  async begin(request: PurgeRequest, requester: string): Promise<PurgeOutline | PurgeRefusal> {
    const outline = await this.plan(request);
    if (outline instanceof PurgeRefusal) return outline;
    // Others may have begun while this one was planned.
    const busy = this.#host.workUnderWay();
    if (busy !== undefined) return new PurgeRefusal(busy);
    const { through } = outline;
    this.#status = { state: "running", through };
    this.#host.warn(
      `the history up to ${formatZxid(through)} is removed for good${request.withBackup ? ", also from the backup" : ""}: an operator at ${requester} asked for it`,
      { event: "history-purging" },
    );
    void this.#run(through, request.withBackup);
    return outline;
  }

  async #run(through: Zxid, withBackup: boolean): Promise<void> {
    try {
      const { backup } = this.#host.storage();
      using _paused = await backup?.pauseReplays();
      // What only this server's history has would be a gap of the backup.
      if (backup !== undefined) {
        await this.#flush();
        await backup.upload();
      }
      const purged = await this.#host.storage().purgeHistory(through, () => this.#host.checkpoint());
      if (purged.kind === "obstacle") return this.#fail(through, purged.reason);
      const backupCount = withBackup ? await this.#purgeBackup(through) : undefined;
      this.#done(through, purged, backupCount);
    } catch (error) {
      this.#fail(through, textOf(error));
    }
  }

  async #planBackup(through: Zxid): Promise<number> {
    const { backup, log } = this.#host.storage();
    return countOf(await backup?.planPurge(through, log.durable.tail.zxid));
  }

  async #purgeBackup(through: Zxid): Promise<number> {
    return countOf(await this.#host.storage().backup?.purge(through));
  }

  /** Why this server cannot remove anything from the backup now. */
  #backupReason(): string | undefined {
    const { backup } = this.#host.storage();
    if (backup === undefined) return "this server has no backup: zooid.backup.target is not set";
    const { fault, holder, isHolder } = backup.status;
    if (fault !== undefined) return `the backup cannot be continued: ${fault}`;
    if (isHolder === undefined)
      return "this server has not asked the backup yet which one continues it: ask again in some seconds";
    return isHolder ? undefined : `${holder ?? "another server"} continues the backup: ask that one`;
  }

  async #zxidOf(point: PurgePoint): Promise<Zxid> {
    if ("zxid" in point) return point.zxid;
    await this.#flush();
    const { history, log } = this.#host.storage();
    const place = await history?.placeOf(point.timeMs);
    switch (place?.kind) {
      case undefined:
      case "none":
        return log.durable.floor.zxid;
      case "twice":
        throw new Error(timeFaultText(place));
      // The transactions of the gap are gone already.
      case "gap":
        return place.after;
      case "zxid":
      case "before":
      case "behind":
        return place.zxid;
    }
  }

  async #flush(): Promise<void> {
    this.#host.checkpoint();
    await this.#host.storage().flushHistory();
  }

  #done(through: Zxid, purged: HistoryPurge & { readonly kind: "purged" }, backupCount: number | undefined): void {
    const { kind: _, ...counts } = purged;
    this.#status = { state: "done", through, ...counts, ...(backupCount === undefined ? {} : { backupCount }) };
    const ofBackup = backupCount === undefined ? "" : ` and ${counted(backupCount, "object")} of the backup`;
    this.#host.info(
      `the history up to ${formatZxid(through)} is removed for good: ${counted(counts.fileCount, "file")}, ` +
        `${counted(counts.baseCount, "whole state")}${ofBackup}, and all segments of the log before; the state file was written again`,
      { event: "history-purged" },
    );
  }

  #fail(through: Zxid, fault: string): void {
    this.#status = { state: "failed", through, fault };
    this.#host.warn(`the history up to ${formatZxid(through)} is not removed completely: ${fault}; ask for it again`, {
      event: "history-not-purged",
    });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @throws Error with why nothing of the backup is removed */
function countOf(purge: BackupPurge | undefined): number {
  if (purge?.kind === "purged") return purge.removedCount;
  const holder = purge?.kind === "others" ? purge.holder : undefined;
  throw new Error(
    holder === undefined
      ? "the backup has no whole state behind that transaction"
      : `${holder} continues the backup now: ask that one for what is in the backup`,
  );
}
