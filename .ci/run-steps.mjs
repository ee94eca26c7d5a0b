// @ts-check
/**
 * Runs the steps of `steps.json`, one after the other. It stops at the first that fails; at night it goes on, and names all that failed.
 * Plain JavaScript: it starts before anything is installed, on Node.js 20 or newer.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} run A command for bash, in the repository's root.
 * @property {string} proves What holds when it passes.
 * @property {boolean} [full] Of the tier "full".
 * @property {boolean} [nightly] Of the tier "nightly".
 * @property {boolean} [behind] Computes in a time of its own: runs at low priority behind the steps that follow.
 * @property {boolean} [alone] Depends on real time: waits for what runs behind.
 * @property {string} [group] Steps in a row with the same group mostly wait, and run at the same time.
 * @property {boolean} [needed] Later steps need what it makes: no run goes on where it fails.
 * @property {number} seconds How long it takes on two cores, for `--list`.
 */

/** @typedef {{ status: number, seconds: number }} End How a step ended, and after how long. */

/** What each tier runs beyond the one before it, by how often it runs: for a change, for a release, each night. */
const TIERS = /** @type {const} */ (["ci", "full", "nightly"]);

/** @typedef {typeof TIERS[number]} Tier */

/** @type {Readonly<Record<Tier, string>>} */
const COMMANDS = { ci: ".ci/run", full: ".ci/run --full", nightly: ".ci/nightly" };

const USAGE = `Runs what must hold before a change is taken; with --full, before a release; .ci/nightly, each night.

    .ci/run [--list] [--only NAME[,NAME]] [--from NAME] [--full]
    .ci/nightly [--list] [--only NAME[,NAME]] [--from NAME]

  --list         show the steps, and run none
  --only NAMES   run these steps alone, in their order
  --from NAME    begin with this step
  --full         run the long steps too; .ci/last-full.json keeps when that last passed

.ci/nightly runs the steps of .ci/run --full, and the longest ones.`;

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const startMs = Date.now();

/**
 * @typedef {object} Options
 * @property {boolean} help
 * @property {boolean} list
 * @property {Tier} tier
 * @property {string} [only]
 * @property {string} [from]
 * @property {string} steps
 * @property {string} record
 */

class UsageError extends Error {}

async function main() {
  const options = parse();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  /** @type {readonly Step[]} */
  const all = JSON.parse(readFileSync(options.steps, "utf8"));
  const chosen = choose(all, options);
  if (options.list) {
    list(chosen);
    return 0;
  }
  console.log(lastFull(options.record));
  const isWhole = options.tier !== "ci" && options.only === undefined && options.from === undefined;
  const runner = new Runner();
  process.once("SIGINT", () => runner.leave("SIGINT"));
  process.once("SIGTERM", () => runner.leave("SIGTERM"));
  const failed = await runner.run(chosen, options.tier === "nightly");
  runner.summary();
  if (failed.length > 0) {
    console.log(`\n${failed.join(", ")} failed; ${advice(failed, chosen, options.tier)}`);
    return 1;
  }
  if (isWhole) record(options.record, options.tier);
  console.log(lastFull(options.record));
  console.log(`\n=== everything holds (${elapsed()} s)`);
  return 0;
}

/**
 * What to run again after failures.
 *
 * @param {readonly string[]} failed
 * @param {readonly Step[]} steps
 * @param {Tier} tier
 */
function advice(failed, steps, tier) {
  const hasRunAll = tier === "nightly" && !steps.some((step) => step.needed === true && failed.includes(step.name));
  if (hasRunAll) return `all others passed; run them again with ${COMMANDS[tier]} --only ${failed.join(",")}`;
  return `go on there with ${COMMANDS[tier]} --from ${failed[0]}`;
}

/** @returns {Options} */
function parse() {
  const options = /** @type {const} */ ({
    help: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    only: { type: "string" },
    from: { type: "string" },
    // Of .ci/nightly.
    nightly: { type: "boolean", default: false },
    // Of tests: other steps, and another place for what --full leaves.
    steps: { type: "string", default: join(here, "steps.json") },
    record: { type: "string", default: join(here, "last-full.json") },
  });
  try {
    const { full, nightly, ...values } = parseArgs({ options }).values;
    return { ...values, tier: nightly ? "nightly" : full ? "full" : "ci" };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

/**
 * @param {readonly Step[]} all
 * @param {Options} options
 * @returns {readonly Step[]}
 */
function choose(all, { tier, list, only, from }) {
  const find = (/** @type {string} */ name) => {
    const step = all.find((each) => each.name === name);
    if (step !== undefined) return step;
    throw new UsageError(`there is no step "${name}"; the nearest is "${nearest(name, all)}" (--list shows all)`);
  };
  if (only !== undefined && from !== undefined) throw new UsageError("--only and --from exclude each other");
  if (only !== undefined) {
    const named = new Set(only.split(",").map((name) => find(name.trim())));
    return all.filter((step) => named.has(step));
  }
  const steps = all.filter((step) => list || isPartOf(tier, step));
  if (from === undefined) return steps;
  const first = find(from);
  if (!steps.includes(first))
    throw new UsageError(`"${from}" runs with ${COMMANDS[tierOf(first)]} only, or by --only ${from}`);
  return steps.slice(steps.indexOf(first));
}

/**
 * @param {Step} step
 * @returns {Tier}
 */
function tierOf({ full, nightly }) {
  return nightly === true ? "nightly" : full === true ? "full" : "ci";
}

/**
 * @param {Tier} tier
 * @param {Step} step
 */
function isPartOf(tier, step) {
  return TIERS.indexOf(tierOf(step)) <= TIERS.indexOf(tier);
}

/** @param {readonly Step[]} steps */
function list(steps) {
  const width = Math.max(...steps.map(({ name }) => name.length));
  for (const step of steps) {
    const { name, seconds, proves } = step;
    const length = seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
    console.log(`${name.padEnd(width)}  ${tierOf(step).padEnd(7)}  ${length.padStart(6)}  ${proves}`);
  }
  const minutes = (/** @type {Tier} */ tier) =>
    Math.round(secondsOf(steps.filter((step) => isPartOf(tier, step))) / 60);
  console.log(`\nabout: ${TIERS.map((tier) => `${COMMANDS[tier]} ${minutes(tier)} min`).join(", ")}`);
}

/**
 * How long steps take: a group as long as its longest step, and nothing for what runs behind.
 *
 * @param {readonly Step[]} steps
 */
function secondsOf(steps) {
  let sum = 0;
  /** @type {Map<string, number>} */
  const groups = new Map();
  for (const { seconds, group, behind } of steps) {
    if (behind === true) continue;
    if (group === undefined) sum += seconds;
    else groups.set(group, Math.max(groups.get(group) ?? 0, seconds));
  }
  return [...groups.values()].reduce((all, seconds) => all + seconds, sum);
}

class Runner {
  /** @type {{ step: Step, log: string, child: import("node:child_process").ChildProcess, ended: Promise<End> }[]} */
  #behind = [];
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #current;
  /** @type {[name: string, seconds: number, outcome: string][]} */
  #done = [];
  /** @type {string[]} */
  #failed = [];
  #logs = mkdtempSync(join(tmpdir(), "ci-"));

  /**
   * @param {readonly Step[]} steps
   * @param {boolean} goesOn whether later steps run after one that failed
   * @returns {Promise<readonly string[]>} the steps that failed
   */
  async run(steps, goesOn) {
    try {
      for (const [i, step] of steps.entries()) {
        const before = steps[i - 1]?.group;
        const isOfGroup = step.group !== undefined && step.group === before;
        if (!isOfGroup && (step.alone === true || before !== undefined)) {
          await this.#join(goesOn);
          if (this.#failed.length > 0 && !goesOn) return this.#failed;
        }
        const isBesideNext = step.group !== undefined && step.group === steps[i + 1]?.group;
        if (isOfGroup || isBesideNext || (step.behind === true && steps.length > 1)) {
          this.#begin(step);
          continue;
        }
        console.log(`\n=== ${step.name}: ${step.run} (${elapsed()} s)`);
        const child = spawn("bash", ["-c", step.run], { cwd: root, stdio: "inherit", env: environment() });
        this.#current = child;
        const end = await endOf(child);
        this.#note(step, end);
        if (end.status !== 0 && (!goesOn || step.needed === true)) return this.#failed;
      }
      await this.#join(goesOn);
      return this.#failed;
    } finally {
      this.#kill();
      rmSync(this.#logs, { recursive: true, force: true });
    }
  }

  summary() {
    console.log(`\n=== durations (${elapsed()} s)`);
    for (const [name, seconds, outcome] of this.#done)
      console.log(`${String(seconds).padStart(5)} s  ${name}${outcome}`);
  }

  /** @param {NodeJS.Signals} signal */
  leave(signal) {
    this.#kill();
    this.#current?.kill(signal);
    process.exit(130);
  }

  /** @param {Step} step */
  #begin(step) {
    const place = step.behind === true ? "behind the others" : `beside others of the group ${step.group}`;
    console.log(`\n=== ${step.name} begins ${place}: ${step.run} (${elapsed()} s)`);
    const log = join(this.#logs, step.name);
    const file = openSync(log, "w");
    // A group of its own, so that it ends as a whole.
    const child = spawn("nice", ["-n", step.behind === true ? "19" : "0", "bash", "-c", step.run], {
      cwd: root,
      detached: true,
      stdio: ["ignore", file, file],
      env: environment(),
    });
    this.#behind.push({ step, log, child, ended: endOf(child) });
  }

  /**
   * Waits for what runs beside others, and prints its output.
   *
   * @param {boolean} goesOn after one that failed
   */
  async #join(goesOn) {
    for (const { step, log, ended } of this.#behind) {
      console.log(`\n=== ${step.name}, which ran beside others (${elapsed()} s)`);
      const end = await ended;
      process.stdout.write(readFileSync(log));
      this.#note(step, end);
      if (end.status !== 0 && !goesOn) return;
    }
    this.#behind = [];
  }

  /**
   * @param {Step} step
   * @param {End} end
   */
  #note({ name, behind, group }, { status, seconds }) {
    const place = behind === true ? " (behind)" : group === undefined ? "" : ` (${group})`;
    if (status !== 0) this.#failed.push(name);
    const outcome = status === 0 ? "" : `: failed with status ${status}`;
    this.#done.push([name, seconds, `${place}${outcome}`]);
  }

  #kill() {
    for (const { child } of this.#behind) {
      try {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
      } catch {
        // It is over.
      }
    }
  }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<End>}
 */
function endOf(child) {
  const beganMs = Date.now();
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) =>
      resolve({ status: status ?? 1, seconds: Math.round((Date.now() - beganMs) / 1000) }),
    );
  });
}

/** What Java and Python take a byte for must not depend on the machine. */
function environment() {
  return { ...process.env, CI: "true", LC_ALL: "C.UTF-8" };
}

function elapsed() {
  return Math.round((Date.now() - startMs) / 1000);
}

/**
 * @param {string} file
 * @param {Tier} tier
 */
function record(file, tier) {
  if (git("status", "--porcelain") !== "") {
    console.log("\nThe work tree has changes, so that this run is not recorded.");
    return;
  }
  const date = new Date().toISOString().slice(0, 10);
  const kept = { commit: git("rev-parse", "HEAD"), date, seconds: elapsed(), command: COMMANDS[tier] };
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
  console.log("\n.ci/last-full.json is new; a release commits it.");
}

/** @param {string} file */
function lastFull(file) {
  if (!existsSync(file)) return "--full has not passed yet";
  const { commit, date, seconds, command } = JSON.parse(readFileSync(file, "utf8"));
  const behind = git("rev-list", "--count", `${commit}..HEAD`);
  const ago = behind === "" ? "which this clone does not hold" : `${behind} commits ago`;
  return `--full last passed on ${date}, at commit ${commit.slice(0, 12)} (${ago}), in ${Math.round(seconds / 60)} min of ${command}`;
}

/** @param {readonly string[]} argv */
function git(...argv) {
  const { status, stdout } = spawnSync("git", argv, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "";
}

/**
 * One that begins so, else one that takes the fewest changes of letters.
 *
 * @param {string} name
 * @param {readonly Step[]} steps
 */
function nearest(name, steps) {
  const names = steps.map((step) => step.name);
  const [best] = [...names].sort((a, b) => editDistance(name, a) - editDistance(name, b));
  return names.find((each) => each.startsWith(name)) ?? best;
}

/**
 * @param {string} a
 * @param {string} b
 */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [left = 0, above = 0, corner = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, corner + (letter === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

process.exitCode = await main().catch((/** @type {unknown} */ error) => {
  if (!(error instanceof UsageError)) throw error;
  const name = process.argv.includes("--nightly") ? COMMANDS.nightly : COMMANDS.ci;
  console.error(`${name}: ${error.message}`);
  return 2;
});
