import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { MUTATIONS } from "./mutations.ts";

/** Errors of code that names what is not there. A rule that is broken ends in another error. */
export const BROKEN_CODE: RegExp = /\b(ReferenceError|SyntaxError|TypeError): /;

/**
 * Tries every mutation, each in a process of its own, and prints the table of the README. Returns
 * the exit status.
 */
export async function runMutations(seeds: number): Promise<number> {
  console.log("| rule | taken out | caught by | at the seed |");
  console.log("| --- | --- | --- | --- |");
  let missed = 0;
  for (const { name, rule } of MUTATIONS) {
    const found = tryMutation(name, seeds);
    if (found === undefined) missed++;
    console.log(`| ${rule} | ${name} | ${found?.rule ?? "nothing"} | ${found?.seed ?? `none of ${seeds}`} |`);
  }
  return missed > 0 ? 1 : 0;
}

/**
 * The ensembles in which rules on changes of the configuration are tried, and a mutation that is
 * rare elsewhere.
 */
const WHERE: ReadonlyMap<string, readonly string[]> = new Map([
  ["members", ["--reconfig", "yes", "--files", "no"]],
  ["files", ["--files", "yes"]],
  ["restores", ["--restores"]],
  ["closed", ["--closed"]],
  ["levels", ["--levels"]],
  ["observer-forgotten", ["--levels", "--observers", "2"]],
  // It takes voters with the raise beside a quorum without it.
  [
    "newer-history-of-an-unknown-level-counted",
    ["--levels", "--voters", "7", "--only", "version,finalize,crash,partition", "--reconfig", "no", "--files", "no"],
  ],
  // Of servers that are not configured.
  ["entry-of-an-unknown-level", ["--levels", "--reconfig", "yes"]],
  ["disks", ["--reconfig", "yes", "--files", "no", "--only", "old-disk,crash,crash-loop,partition,wipe"]],
  // It takes two voters that a quorum does without.
  ["promise-elsewhere-is-ignored", ["--voters", "5", "--reconfig", "no", "--files", "no", "--tenants", "0"]],
]);

/**
 * The first seed that notices a mutation, and what it says. Rules on changes of the configuration
 * are tried in ensembles that change.
 */
export function tryMutation(
  name: string,
  seeds: number,
  from = 1,
): { readonly seed: number; readonly rule: string } | undefined {
  const args = ["--conditions=@zooid/source", join(import.meta.dirname, "..", "main.ts"), "--mutate", name];
  const rule = MUTATIONS.find((mutation) => mutation.name === name)?.rule ?? "";
  args.push("--quick", "--seeds", String(seeds), "--from", String(from), ...(WHERE.get(name) ?? WHERE.get(rule) ?? []));
  const run = spawnSync(process.execPath, args, { encoding: "utf8" });
  const match = /^seed (\d+): ([^:\s]+):.*/m.exec(run.stdout);
  if (match === null && run.status !== 0) throw new Error(`${name}: ${run.stderr}`);
  if (match === null) return undefined;
  const [text, seed, broken = ""] = match;
  // Invalid code says nothing about the rule that it removes.
  if (BROKEN_CODE.test(text)) throw new Error(`${name} is no valid code any more: ${text}`);
  return { seed: Number(seed), rule: broken };
}
