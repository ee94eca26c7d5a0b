/**
 * The lines typed by the user, kept between runs, newest last; below the user's state directory.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isSecret } from "./secrets.ts";

export const HISTORY_LINES_MAX = 1000;

/** `$XDG_STATE_HOME/zooid/cli-history`, or that below `~/.local/state`. */
export function historyFilePath(env: Readonly<Record<string, string | undefined>>): string {
  const state = env["XDG_STATE_HOME"];
  // The specification requires relative paths to be ignored.
  const base = state?.startsWith("/") === true ? state : join(homedir(), ".local", "state");
  return join(base, "zooid", "cli-history");
}

/** Empty if there is no readable file. */
export function loadHistory(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .slice(-HISTORY_LINES_MAX);
  } catch {
    return [];
  }
}

/**
 * Lines may be secret, so only the owner may read the file; lines with credentials are left out.
 */
export function saveHistory(file: string, lines: readonly string[]): void {
  const kept = lines.filter((line) => !isSecret(line)).slice(-HISTORY_LINES_MAX);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  } catch {
    // A shell works without a history.
  }
}
