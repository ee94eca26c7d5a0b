import {
  inspectHistory,
  planRestore,
  type RestoreOptions,
  type RestorePlan,
  restoreHistory,
} from "@zooid/embedded-server";
import type { Zxid } from "@zooid/model";

/**
 * Makes a data directory from what was planned. @param warn default: warnings are of no interest
 */
export async function restorePlan(
  plan: RestorePlan,
  dataDir: string,
  warn: RestoreOptions["warn"] = () => {},
): Promise<void> {
  const options = { command: "restore", directories: { dataDir }, member: undefined, keepsSessions: false };
  await restoreHistory(plan, { ...options, warn });
}

/** Makes a data directory from an archive, as of a transaction. */
export async function restoreArchive(archive: string, zxid: Zxid, dataDir: string): Promise<void> {
  await restorePlan(planRestore(archive, { zxid }), dataDir);
}

export interface InspectedArchive {
  /** A sentence for each damage. */
  readonly damages: readonly string[];
  /** A line for each range of transactions that is missing. */
  readonly gaps: readonly string[];
  /** The last line of the inspection. */
  readonly summary: string;
}

/** Reads all of an archive, in a data directory or alone. */
export function inspectArchive(place: string): InspectedArchive {
  const lines: string[] = [];
  const options = { hasEntries: false, isVerified: true, hasData: false };
  const damages = inspectHistory([place], options, (line) => lines.push(line)).map(({ message }) => message);
  const gaps = lines.filter((line) => line.includes(" lacks the transactions "));
  return { damages, gaps, summary: lines.at(-1) ?? "" };
}
