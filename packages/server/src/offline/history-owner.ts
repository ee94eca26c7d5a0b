import { dirname } from "node:path";
import { type Member, parseMembers, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, HistoryReader, listArchive, logFolderOf, readStore } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import type { RestorePlan } from "./restore-plan.ts";
import { membersIn } from "./survivor.ts";

/** The ensemble whose history it is, as far as the files say. */
export interface HistoryOwner {
  /** Empty for a standalone server. */
  readonly ensembleId: string;
  /** Empty where the files do not list them. */
  readonly members: readonly Member[];
  /** Why the data directory that the archive is in cannot be read: its server runs, for one. */
  readonly inUse: StoreError | undefined;
}

const CONFIG = Buffer.from("/zookeeper/config");

/**
 * Reads the members from the data directory that the archive is in, if no server has it open, and
 * from the node of the last `reconfig` in the history.
 *
 * @param archive its folder, with `base` and `log`
 */
export function historyOwner(archive: string, plan: Pick<RestorePlan, "manifest" | "zxid">): HistoryOwner {
  const directory = dirname(archive);
  // The first base may be older than the ensemble.
  const ensembleId = lastEnsembleIn(archive) || plan.manifest.ensembleId;
  const changed = changedMembers(archive, plan.zxid);
  try {
    const { log } = readStore({ directory, logDirectory: directory });
    const kept = log === undefined ? undefined : membersIn(log)?.servers;
    const id = log?.identity.ensembleId ?? "";
    return { ensembleId: id === "" ? ensembleId : id, members: kept ?? changed, inUse: undefined };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ensembleId, members: changed, inUse: error.code === "LOCKED" ? error : undefined };
  }
}

/** The id in the newest file that can be read; empty where none has one. */
function lastEnsembleIn(archive: string): string {
  for (const { file } of listArchive(logFolderOf(archive)).toReversed()) {
    const found = unlessDamaged(() => {
      using opened = new ArchiveFile(file);
      return opened.footer.ensembleId;
    });
    if (found !== undefined) return found;
  }
  return "";
}

/** The newest members that can be read, or those at the moment that is restored. */
function changedMembers(archive: string, zxid: Zxid): readonly Member[] {
  const reader = new HistoryReader(archive, new TxnReader());
  const newest = reader.range()?.end;
  if (newest === undefined) return [];
  return unlessDamaged(() => membersAt(reader, newest)) ?? unlessDamaged(() => membersAt(reader, zxid)) ?? [];
}

function membersAt(reader: HistoryReader, zxid: Zxid): readonly Member[] {
  const answer = reader.nodeAt(CONFIG, zxid);
  if (answer.kind !== "node" || answer.node.data === null || answer.node.data.length === 0) return [];
  return parseMembers(Buffer.from(answer.node.data).toString()).servers;
}

/** Damage behind a moment is no reason not to restore it. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
