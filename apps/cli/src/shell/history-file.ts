/** The lines that people typed, kept from one run to the next, newest last; below the user's state directory. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export const HISTORY_LINES_MAX = 1000;

/** `$XDG_STATE_HOME/zooid/cli-history`, or that below `~/.local/state`. */
export function historyFilePath(env: Readonly<Record<string, string | undefined>>): string {
  const state = env["XDG_STATE_HOME"];
  // The specification has relative paths ignored.
  const base = state?.startsWith("/") === true ? state : join(homedir(), ".local", "state");
  return join(base, "zooid", "cli-history");
}

/** Nothing where there is no file, or none that can be read. */
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

/** What is typed here may be secret, so only its owner may read it; lines that show an identity are left out altogether. */
export function saveHistory(file: string, lines: readonly string[]): void {
  const kept = lines.filter((line) => !/^\s*addauth\b/.test(line)).slice(-HISTORY_LINES_MAX);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  } catch {
    // A shell without a memory is better than none.
  }
}
