import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pack/public-packages.ts";

const CACHE = join(ROOT, ".cache");

/**
 * A program that a tool needs, installed once in the cache.
 *
 * @param name its folder, with its version
 * @param program its path in that folder
 */
export function cachedProgram(name: string, program: string, install: (folder: string) => void): string {
  const folder = join(CACHE, name);
  if (existsSync(join(folder, program))) return join(folder, program);
  mkdirSync(CACHE, { recursive: true });
  // Complete once it has its name: two tools may install at once.
  const made = mkdtempSync(`${folder}-`);
  install(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another tool was first.
    if (!existsSync(join(folder, program))) throw error;
    rmSync(made, { recursive: true });
  }
  return join(folder, program);
}

/** A program of PyPI, in an environment of its own. */
export function pythonProgram(name: string, version: string): string {
  const folder = join(CACHE, `${name}-${version}`);
  const program = join(folder, "bin", name);
  if (existsSync(program)) return program;
  // An environment has its own path in it and cannot be moved.
  execFileSync("python3", ["-m", "venv", folder], { stdio: ["ignore", "ignore", "inherit"] });
  const pip = ["-m", "pip", "install", "--quiet", `${name}==${version}`];
  execFileSync(join(folder, "bin/python"), pip, { stdio: ["ignore", "ignore", "inherit"] });
  return program;
}
