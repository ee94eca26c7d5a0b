import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { formatZxid, type Zxid } from "@zooid/model/storage";
import { DAMAGED_FOLDER, hasSetAside } from "../directory/set-aside.ts";
import type { SqliteTxnLog } from "../log/sqlite-txn-log.ts";
import type { ReaderLeases } from "../segments/reader-leases.ts";
import { isSegmentBefore } from "../segments/segment-name.ts";
import type { SnapshotTransfers } from "../snapshots/snapshot-transfers.ts";
import type { SqliteStateStore } from "../state/sqlite-state-store.ts";
import { StoreError } from "../store/store-error.ts";
import type { Archive } from "./archive.ts";
import type { HistoryPurge, HistoryPurgeOptions } from "./history-purge-options.ts";
import { planPurge } from "./purge-plan.ts";

export interface HistoryPurgeParts {
  readonly archive: Archive;
  readonly log: SqliteTxnLog;
  readonly state: SqliteStateStore;
  readonly transfers: SnapshotTransfers;
  readonly directory: string;
  readonly logDirectory: string;
  readonly leases: ReaderLeases;
}

const POLL_MS = 50;
const WAIT_MS = 60_000;
const SENDING = "a state is sent to a member, or copied";

/** Ends a purge with what is in its way. */
class Obstacle extends Error {
  override readonly name = "Obstacle";
}

/**
 * Removes all transactions up to a zxid, and each value that they wrote, unless the tree has it
 * still, from every file of a store that is open.
 *
 * ```
 * log        a segment begins with a WAL of zeros; what was before it is in the archive and in the state file ...
 * archive    ... a base is taken
 * log        segments before that one are removed and not used again
 * archive    older bases and the files up to the zxid go
 * state      the file is written again from the tree: its free pages and the rest of its pages had older rows
 * ```
 *
 * Each step looks for what is left to be done, so a purge that is cut short is asked for again.
 */
export async function purgeHistory(parts: HistoryPurgeParts, options: HistoryPurgeOptions): Promise<HistoryPurge> {
  try {
    return await new HistoryPurging(parts, options).run();
  } catch (cause) {
    if (!(cause instanceof Obstacle)) throw cause;
    return { kind: "obstacle", reason: cause.message };
  }
}

/** Why a purge would end before its first step; undefined if nothing prevents it. */
export function purgeObstacle({ directory, logDirectory, log }: HistoryPurgeParts, through: Zxid): string | undefined {
  const { tail } = log.durable;
  if (through > tail.zxid) return `the last transaction of this server is ${formatZxid(tail.zxid)}`;
  const damaged = [...new Set([directory, logDirectory])].find(hasSetAside);
  if (damaged === undefined) return undefined;
  return `${join(damaged, DAMAGED_FOLDER)} has files that were set aside, with older values: remove it first`;
}

class HistoryPurging {
  readonly #parts: HistoryPurgeParts;
  readonly #options: HistoryPurgeOptions;

  constructor(parts: HistoryPurgeParts, options: HistoryPurgeOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async run(): Promise<HistoryPurge> {
    const { archive } = this.#parts;
    const { through } = this.#options;
    const reason = purgeObstacle(this.#parts, through);
    if (reason !== undefined) throw new Obstacle(reason);
    await this.#copyAll(this.#parts.log.durable.tail.zxid);
    const [end, sequence] = await this.#renew();
    await this.#copyAll(end);
    await this.#takeBase();
    await this.#discard(end, sequence);
    // Otherwise the entries that the log still has would be copied again.
    const plan = planPurge(archive.folder, through);
    archive.remove(plan);
    await this.#rewriteState();
    const { base } = archive.status;
    if (base === undefined) throw new Obstacle("the history has no copy of the whole state");
    return { kind: "purged", fileCount: plan.files.length, baseCount: plan.bases.length, base };
  }

  /** @returns the log's end behind which the new segment begins, or a later one, and its number */
  async #renew(): Promise<[Zxid, number]> {
    const { leases, log } = this.#parts;
    await new Promise<void>((resolve) => log.renew(resolve));
    this.#assertOpen();
    return [log.durable.tail.zxid, leases.newest];
  }

  /** Everything up to a zxid is committed, and is in the archive and in the state file. */
  async #copyAll(end: Zxid): Promise<void> {
    const { archive, state, transfers } = this.#parts;
    await this.#until(async () => {
      this.#options.mark();
      await within(POLL_MS, state.flush());
      archive.markApplied(state.applied);
      await within(POLL_MS, archive.flush());
      const { unable } = archive.status;
      if (unable.files !== undefined) return `the history cannot be written: ${unable.files}`;
      if (state.applied.applied.zxid < end) {
        const place = `the state file is not at ${formatZxid(end)} yet`;
        return transfers.isSending ? `${place}: ${SENDING}` : `${place}, or that is not committed`;
      }
      return (archive.status.end ?? -1) >= end ? undefined : `${formatZxid(end)} is in no file of the history yet`;
    });
  }

  async #takeBase(): Promise<void> {
    try {
      await this.#parts.archive.takeBase();
    } catch (cause) {
      this.#assertOpen();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Obstacle(`no copy of the whole state can be taken: ${reason}`);
    }
  }

  /** The log gives up all segments before one, and their files are removed. */
  async #discard(end: Zxid, sequence: number): Promise<void> {
    const { log, logDirectory } = this.#parts;
    await this.#until(async () => {
      log.allowPurge(this.#parts.state.applied.applied.zxid);
      await new Promise<void>((resolve) => log.discard(end, resolve));
      const { floor, commitHint } = log.durable;
      const [left] = readdirSync(logDirectory).filter((name) => isSegmentBefore(name, sequence));
      if (left === undefined) return undefined;
      if (floor.zxid >= end) return `a reader has the segment ${left} open, such as the check of the files`;
      // It is written with the next transaction, or with the next segment.
      if (commitHint < end) await this.#renew();
      return `the log is kept behind ${formatZxid(floor.zxid)}: ${SENDING}`;
    });
  }

  async #rewriteState(): Promise<void> {
    const { transfers } = this.#parts;
    try {
      await transfers.rebuild(this.#options.tree);
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      this.#assertOpen();
      throw new Obstacle(`the state file cannot be written again: ${cause.message}`);
    }
  }

  /** Retries until an attempt names no obstacle, or the time is over. */
  async #until(attempt: () => Promise<string | undefined>): Promise<void> {
    const endMs = performance.now() + (this.#options.waitMs ?? WAIT_MS);
    for (;;) {
      this.#assertOpen();
      const reason = await attempt();
      if (reason === undefined) return;
      if (performance.now() >= endMs) throw new Obstacle(reason);
      await delay(POLL_MS);
    }
  }

  #assertOpen(): void {
    if (this.#options.isEnded()) throw new Obstacle("the server stops");
  }
}

/** Waits for an answer, and not much longer. */
async function within(ms: number, answer: Promise<unknown>): Promise<void> {
  await Promise.race([answer.catch(() => {}), delay(ms)]);
}
