import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { ROOT } from "./pack/public-packages.ts";

/**
 * Installs what a tool's own package.json and lock file name, unless it is there already. It stays
 * outside the workspace, so that only those who run the tool install it, and so that its TypeScript
 * or its bundler are not ours.
 *
 * @param tool the folder of both files
 * @returns the folder with `node_modules`
 */
export async function cachedInstall(tool: string): Promise<string> {
  const cache = join(ROOT, ".cache", basename(tool));
  const lock = readFileSync(join(tool, "package-lock.json"), "utf8");
  const installedFor = join(cache, "node_modules/.installed-for.json");
  if (existsSync(installedFor) && readFileSync(installedFor, "utf8") === lock) return cache;
  mkdirSync(cache, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(tool, file), join(cache, file));
  await run("npm", ["ci", "--no-workspaces", "--no-audit", "--no-fund"], cache);
  copyFileSync(join(tool, "package-lock.json"), installedFor);
  return cache;
}
