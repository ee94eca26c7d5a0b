import { dirname } from "node:path";
import { type Member, parseMembers } from "@zooid/model";
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
export function historyOwner(archive: string, { manifest }: Pick<RestorePlan, "manifest">): HistoryOwner {
  const directory = dirname(archive);
  // The first base may be older than the ensemble.
  const ensembleId = lastEnsembleIn(archive) || manifest.ensembleId;
  const changed = changedMembers(archive);
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

function lastEnsembleIn(archive: string): string {
  const last = listArchive(logFolderOf(archive)).at(-1);
  if (last === undefined) return "";
  using file = new ArchiveFile(last.file);
  return file.footer.ensembleId;
}

function changedMembers(archive: string): readonly Member[] {
  const reader = new HistoryReader(archive, new TxnReader());
  const newest = reader.range()?.end;
  if (newest === undefined) return [];
  const answer = reader.nodeAt(CONFIG, newest);
  if (answer.kind !== "node" || answer.node.data === null || answer.node.data.length === 0) return [];
  return parseMembers(Buffer.from(answer.node.data).toString()).servers;
}
