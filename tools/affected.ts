/**
 * Checks, builds and tests what a change reaches: everything that differs from the base, committed
 * or not.
 *
 *     npm run affected [-- --base main]
 *
 * Nx knows which package stands on which, and keeps results: what was tested with the same sources
 * is not tested again. Documents belong to the tests in `tools`, which read them, and a package's
 * README to those that run its examples.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type AffectedPlan, planOf } from "./affected-plan.ts";

const BASES = ["origin/main", "main", "HEAD"];

const { values: options } = parseArgs({ options: { base: { type: "string" } } });
const files = changedFiles(options.base ?? forkPoint());
const plan = planOf(files);
console.log(files.length === 0 ? "nothing has changed" : `${files.length} changed: ${files.slice(0, 8).join(", ")}`);
process.exitCode = carryOut(plan);

function carryOut({ linted, seeds, hasReadme }: AffectedPlan): number {
  // A file that the change deletes still belongs to a project, but has no format.
  const present = linted.filter((file) => existsSync(file));
  const nx = ["nx", "affected", "--parallel", "2", "--outputStyle", "static-failures-only"];
  const commands = [
    present.length > 0 ? ["biome", "check", "--error-on-warnings", "--no-errors-on-unmatched", ...present] : [],
    seeds.length > 0 ? [...nx, "-t", "build", "test", `--files=${seeds.join(",")}`] : [],
    hasReadme ? ["nx", "run", "tools:readmes", "--outputStyle", "static-failures-only"] : [],
  ];
  for (const [command, ...argv] of commands) {
    if (command === undefined) continue;
    const env = { ...process.env, NX_DAEMON: "false", NX_NO_CLOUD: "true" };
    const { status } = spawnSync("npx", ["--no-install", command, ...argv], { stdio: "inherit", env });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

/** Where this branch left the main one. On the main branch itself that is its last commit. */
function forkPoint(): string {
  for (const base of BASES) {
    const commit = git("merge-base", base, "HEAD");
    if (commit !== undefined) return commit;
  }
  return "HEAD";
}

function changedFiles(base: string): readonly string[] {
  const changed = git("diff", "--name-only", "--no-renames", base, "--");
  if (changed === undefined) {
    console.error(`--base is a commit, a branch or a tag of this repository, not ${base}`);
    process.exit(2);
  }
  const added = git("ls-files", "--others", "--exclude-standard") ?? "";
  return [...new Set(`${changed}\n${added}`.split("\n").filter((file) => file !== ""))].sort();
}

/** The output of git; undefined where it fails. */
function git(...argv: string[]): string | undefined {
  const { status, stdout } = spawnSync("git", argv, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
