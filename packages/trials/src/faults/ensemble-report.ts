/** The lines that the tools for ensembles print and keep. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EnsembleLoad } from "./ensemble-load.ts";
import type { Ensemble } from "./ensemble-servers.ts";

const FAULTS_SHOWN = 12;

/** Prints what is wrong, and how the servers stand. */
export function printFaults(faults: readonly string[], ensemble: Ensemble): void {
  for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(`  ${fault}`);
  if (faults.length > FAULTS_SHOWN) console.log(`  and ${faults.length - FAULTS_SHOWN} more`);
  console.log(ensemble.describe());
}

/** Prints what is wrong, and keeps the round's history beside the servers' data and logs. */
export function keepFaults(
  folder: string,
  seen: { readonly faults: readonly string[]; readonly load: EnsembleLoad; readonly ensemble: Ensemble },
): void {
  const { faults, load, ensemble } = seen;
  printFaults(faults, ensemble);
  const { writes, reads } = load.recorder;
  const text = JSON.stringify({ faults, writes, reads }, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  writeFileSync(join(folder, "history.json"), text);
  console.log(`history, data and logs are kept in ${folder}`);
}
