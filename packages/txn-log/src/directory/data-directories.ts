import { realpathSync, rmdirSync } from "node:fs";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import { StoreError } from "../store/store-error.ts";
import { accessFault, sentenceOf } from "./access-fault.ts";
import { nearest, storedFault } from "./directory-fault.ts";
import { DirectoryLock } from "./directory-lock.ts";
import { refuseForeign } from "./inspect-directory.ts";
import { makeDirectory } from "./make-directory.ts";
import { refuseUnfinished } from "./unfinished.ts";

const DIRECTORY_MODE = 0o700;

/**
 * The directories of one server, made and locked: that of the state, and that of the log where it
 * is another. Each has a lock of its own, so that no two servers share one of them and differ in
 * the other.
 */
export class DataDirectories implements Disposable {
  readonly #locks: DirectoryLock[] = [];
  /** Made here. */
  readonly #made: string[] = [];

  /** @param accepted `unfinished`: for the command that makes the directories */
  constructor(directory: string, logDirectory: string, accepted: "finished" | "unfinished" = "finished") {
    for (const each of [directory, logDirectory]) refuseUnusable(each);
    for (const each of [directory, logDirectory]) refuseForeign(each);
    try {
      for (const each of [directory, logDirectory]) this.#make(each);
      const directories = new Set([realpathSync(directory), realpathSync(logDirectory)]);
      for (const each of directories) this.#locks.push(new DirectoryLock(each));
      if (accepted === "finished") for (const each of directories) refuseUnfinished(each);
    } catch (cause) {
      this.abandon();
      throw cause;
    }
  }

  /** Frees the directories and leaves no trace in what never was ours. */
  abandon(): void {
    for (const lock of this.#locks) lock.abandon();
    for (const made of this.#made.reverse()) removeIfEmpty(made);
  }

  [Symbol.dispose](): void {
    for (const lock of this.#locks) lock[Symbol.dispose]();
  }

  #make(directory: string): void {
    try {
      for (const made of makeDirectory(directory, DIRECTORY_MODE)) {
        this.#made.push(made);
        syncDirectoryOf(made);
      }
    } catch (cause) {
      const place = nearest(directory);
      const denied = accessFault(place, "read and write");
      const remedy = `make ${directory} for the user of this process`;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const text = denied === undefined ? reason : `${reason}; ${remedy}, which may not write to ${place}`;
      throw new StoreError({ code: "UNREADABLE", file: directory, reason: text }, { cause });
    }
  }
}

function refuseUnusable(directory: string): void {
  const fault = storedFault(directory);
  if (fault !== undefined) throw new StoreError({ code: "UNREADABLE", file: directory, reason: sentenceOf(fault) });
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Something lies in it that is worth keeping.
  }
}
