import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";

/**
 * Compiles a library for LD_PRELOAD by cc. Another run may compile and load the same one meanwhile,
 * so the file appears whole or is replaced.
 *
 * @returns its path
 */
export function compiledShim(name: string, source: string, ...flags: readonly string[]): string {
  const folder = join(ROOT, ".cache");
  const shim = join(folder, `${name}.so`);
  const fresh = `${shim}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  execFileSync("cc", ["-O2", "-Wall", "-shared", "-fPIC", "-o", fresh, source, ...flags], { stdio: "inherit" });
  renameSync(fresh, shim);
  return shim;
}
