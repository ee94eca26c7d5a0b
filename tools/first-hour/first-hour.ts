/**
 * Follows the README and the guide as a stranger does: in a clean copy of the work tree, with an
 * empty home and the system's Node.js, block by block; and compares what commands print with the
 * output that stands below them. Prints each block with its time.
 *
 *     npm run tool -- first-hour
 *
 * The pages' ports are fixed, so it runs in a network, a mount and a process namespace of its own:
 * Linux, root, `ip`, `unshare`, `script`.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { whyNoNamespaces } from "@zooid/trials/internal/processes/own-namespaces";
import { ROOT } from "../pack/public-packages.ts";
import { hourScript } from "./hour-script.ts";
import { LEFT_OUT, PAGES, PREPARED } from "./left-out.ts";
import { missingLine, pageSteps, type Step, unexpectedEnd } from "./page-steps.ts";

/** The commands that need the network: they run before, outside of the namespaces. */
const SET_UP = "npm ci";
const TIMEOUT_MS = 240_000;

const reason = whyNoNamespaces(["ip", "script", "pgrep"]);
if (reason !== undefined) console.log(`skipped: ${reason}`);
else process.exitCode = await firstHour();

async function firstHour(): Promise<number> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "first-hour-"));
  const scratch = temporary.path;
  const copy = join(scratch, "zooid");
  copyWorkTree(copy);
  const environment = strangersEnvironment(join(scratch, "home"));
  let failed = 0;
  for (const [index, name] of PAGES.entries()) {
    const { steps, faults } = pageSteps(name, readFileSync(join(ROOT, name), "utf8"), LEFT_OUT);
    for (const fault of faults) console.error(fault);
    failed += faults.length;
    if (index === 0) failed += setUp(steps, copy, environment);
    if (failed === 0) failed += await follow(steps, { copy, scratch: join(scratch, String(index)), environment });
  }
  for (const { page, heading, reason: why } of LEFT_OUT) console.log(`not run: ${page}, "${heading}": ${why}`);
  return failed === 0 ? 0 : 1;
}

/** Everything that git would commit, with changes that are not committed yet. */
function copyWorkTree(copy: string): void {
  const { stdout } = spawnSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  );
  for (const file of stdout.split("\0").filter((each) => each !== "" && existsSync(join(ROOT, each)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Neither npm's variables nor the Node.js that this repository pins are a stranger's. */
function strangersEnvironment(home: string): Environment {
  mkdirSync(home);
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|ZOOID_|INIT_CWD$)/i.test(name));
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
  // Downloads are not what is tried here.
  const cache = spawnSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).stdout.trim();
  const own = { HOME: home, PATH: path.join(delimiter), NO_COLOR: "1", npm_config_cache: cache };
  return { ...Object.fromEntries(kept), ...own };
}

/** @returns how many commands failed */
function setUp(steps: readonly Step[], cwd: string, env: Environment): number {
  const first = steps.find((step) => step.kind === "commands");
  if (first?.commands !== SET_UP) {
    console.error(`${first?.place}: the first block begins with ${SET_UP}, found ${first?.commands}`);
    return 1;
  }
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync("bash", ["-c", SET_UP], { cwd, env, encoding: "utf8" });
  console.log(`${secondsSince(began)} s  ${first.place}  ${SET_UP}`);
  if (status === 0) return 0;
  console.error(`${first.place}: ${SET_UP} ended with status ${status}\n${stdout}${stderr}`);
  return 1;
}

interface Place {
  readonly copy: string;
  readonly scratch: string;
  readonly environment: Environment;
}

/** @returns how many blocks failed */
async function follow(steps: readonly Step[], { copy, scratch, environment }: Place): Promise<number> {
  const results = join(scratch, "results");
  mkdirSync(results, { recursive: true });
  const inside = steps.map((step) =>
    step.kind === "commands" && step.commands === SET_UP ? { ...step, commands: ":" } : step,
  );
  const file = join(scratch, "hour.sh");
  writeFileSync(file, hourScript({ steps: inside, results, prepared: PREPARED, scratch }));
  const namespaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const child = spawn("unshare", [...namespaces, "bash", file], {
    cwd: copy,
    env: environment,
    stdio: "ignore",
    timeout: TIMEOUT_MS,
  });
  const [status] = (await once(child, "close")) as [number | null];
  const failed = inside.filter((step, index) => !isAsWritten(step, join(results, String(index)))).length;
  if (status !== 0) console.error(`the shell that follows the page ended with ${status}`);
  for (const data of ["data", "ensemble"]) rmSync(join(copy, data), { recursive: true, force: true });
  return failed + (status === 0 ? 0 : 1);
}

/** Compares, and prints a line. */
function isAsWritten(step: Step, result: string): boolean {
  if (step.kind === "write") return true;
  // npm 10 moves a terminal's cursor before the first line of what it runs.
  const output = stripVTControlCharacters(textOf(`${result}.log`)).replaceAll("\r", "");
  const command = textOf(`${result}.failed`).trim();
  const missing = missingLine(step.output, output);
  const [line = ""] = [...step.commands.split("\n").filter((each) => each !== "" && each !== ":"), step.server];
  console.log(`${textOf(`${result}.seconds`).padStart(4)} s  ${step.place}  ${line}`);
  // A server prints more when it is ended.
  const end = step.server === undefined ? unexpectedEnd(step.output, output) : undefined;
  if (command === "" && missing === undefined && end === undefined) return true;
  if (command !== "") console.error(`${step.place}: this command failed: ${command}`);
  if (missing !== undefined) console.error(`${step.place}: the output lacks, at its place, the line: ${missing}`);
  if (end !== undefined)
    console.error(`${step.place}: the output ends with a line that the page does not have: ${end}`);
  console.error(`the output:\n${output}`);
  return false;
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1).padStart(4);
}
