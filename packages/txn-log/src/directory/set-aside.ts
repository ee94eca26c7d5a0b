import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncPath } from "../disk/sync-path.ts";
import { FORMAT_MARK_FILE, isLogFile } from "../segments/segment-name.ts";
import type { StoreError } from "../store/store-error.ts";
import { makeDirectory } from "./make-directory.ts";

/**
 * Moves damaged files out of the way of a start, into `damaged/<time>/` of their directory, where
 * they stay until an operator removes them.
 *
 * ```
 * state damaged, the log goes back to its beginning ─▶ the state files; the state is rebuilt from the log
 * else                                              ─▶ the state files, then the segments from the oldest to the newest
 * ```
 *
 * In this order, because a crash may end it anywhere: the newest segment names all others, so a
 * start that finds some of them missing finds damage again. After the last one, the folder itself
 * is the evidence that a log was here (`inspect-directory.ts`): a start without log and witness
 * would otherwise take the server for one that has promised nothing. The witness stays in its
 * place.
 */
export const DAMAGED_FOLDER = "damaged";
const FOLDER_MODE = 0o700;
const STATE_FILE = /^state-\d+\.db/;

export interface SetAside {
  readonly directory: string;
  readonly logDirectory: string;
  readonly damage: StoreError;
  /**
   * Whether entries of the log begin with the first one ever, each of them readable as far as a
   * start knows.
   */
  readonly isLogComplete: boolean;
  readonly nowMs: number;
}

/** @returns the folders that the files lie in now */
export function setAside({ directory, logDirectory, damage, isLogComplete, nowMs }: SetAside): readonly string[] {
  const time = folderNameOf(nowMs);
  const isStateAlone = isLogComplete && damage.detail.code === "DAMAGED" && isStateFile(damage.detail.file);
  const folders = [moveInto(directory, time, readdirSync(directory).filter(isStateFile))];
  if (!isStateAlone)
    folders.push(moveInto(logDirectory, time, readdirSync(logDirectory).filter(isLogFile).sort(byAge)));
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

/** Moves the state files of a directory alone. */
export function setStateAside(directory: string, nowMs: number): void {
  moveInto(directory, folderNameOf(nowMs), readdirSync(directory).filter(isStateFile));
}

function folderNameOf(nowMs: number): string {
  return new Date(nowMs).toISOString().replaceAll(":", "-");
}

/** Whether damaged files were ever moved away here. */
export function hasSetAside(directory: string): boolean {
  return existsSync(join(directory, DAMAGED_FOLDER));
}

function isStateFile(file: string): boolean {
  return STATE_FILE.test(basename(file));
}

/**
 * The mark goes before the segments, oldest first; of one segment the main file goes first, since a
 * start removes a WAL that is alone.
 */
function byAge(a: string, b: string): number {
  const rank = (name: string): number => (name.startsWith(FORMAT_MARK_FILE) ? 0 : 1);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function moveInto(directory: string, time: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const folder = join(directory, DAMAGED_FOLDER, time);
  for (const made of makeDirectory(folder, FOLDER_MODE)) syncPath(dirname(made));
  for (const name of names) {
    renameSync(join(directory, name), join(folder, name));
    // Each step is on the disk before the next one, so that the order holds in a power cut, too.
    syncPath(folder);
    syncPath(directory);
  }
  return folder;
}
