import { join } from "node:path";

/** Where a restore below a folder puts state and log. */
export function restoredDirectories(folder: string): { readonly dataDir: string; readonly logDir: string } {
  return { dataDir: join(folder, "made/state"), logDir: join(folder, "log") };
}

/** Where an export below a folder goes. */
export function exportedDirectory(folder: string): string {
  return join(folder, "apache");
}
