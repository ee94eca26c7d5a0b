import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Inspection } from "../directory/inspect-directory.ts";
import { setStateAside } from "../directory/set-aside.ts";
import type { DurableLog } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import { createStateFile, inspectStateFile, stampEnsemble } from "./state-file.ts";

const STATE_FILE = /^(state-\d+\.db(?:\.new)?)(-journal)?$/;

/**
 * Before a state file is used: the one that the log names is there, with the log's id, and there is
 * no other.
 *
 * @returns the file
 */
export function readyStateFile(
  directory: string,
  { stateFile: name, identity }: DurableLog,
  { log, hasState, isStateOfBranch, shortened }: Inspection,
): string {
  const file = join(directory, name);
  // A state that cannot be read may be all that is left.
  const isLogLost = log === undefined && shortened !== undefined;
  if (isLogLost && !hasState && hasUnreadable(directory)) setStateAside(directory, Date.now());
  removeUnnamed(directory, name);
  if (!hasState) {
    rmSync(file, { force: true });
    createStateFile(file);
  }
  // Learners get the state with the id that it names.
  if (isStateOfBranch === true) stampEnsemble(file, identity.ensembleId);
  return file;
}

function hasUnreadable(directory: string): boolean {
  const names = readdirSync(directory).filter((name) => /^state-\d+\.db$/.test(name));
  return names.some((name) => isUnreadable(join(directory, name)));
}

function isUnreadable(file: string): boolean {
  try {
    inspectStateFile(file);
    return false;
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}

/** State files that no log names: a transfer that did not end, or one that was superseded. */
function removeUnnamed(directory: string, named: string): void {
  for (const name of readdirSync(directory)) {
    const file = STATE_FILE.exec(name)?.[1];
    if (file !== undefined && file !== named) rmSync(join(directory, name), { force: true });
  }
}
