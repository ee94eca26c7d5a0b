/**
 * Runs a tool by its name, with the options that come behind it.
 *
 *     npm run tool
 *     npm run tool -- kill-loop --rounds 15
 *     npm run tool -- kill-loop --help
 *
 * Without a name it lists them; `--help` prints what the head of the tool's file says.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { distance } from "fastest-levenshtein";
import { TOOL_GROUPS, type Tool } from "./tool-table.ts";

const ROOT = join(import.meta.dirname, "..");

const tools = TOOL_GROUPS.flatMap((group) => group.tools);
const [name, ...options] = process.argv.slice(2);
const tool = tools.find((each) => each.name === name);

if (tool !== undefined && options.includes("--help")) console.log(help(tool));
else if (tool !== undefined) process.exitCode = await run(tool, options);
else if (name === undefined || name === "--help") console.log(list());
else {
  console.error(`npm run tool: there is no "${name}"; the nearest is "${nearest(name)}" (npm run tool lists all)`);
  process.exitCode = 2;
}

function run({ file, builds }: Tool, argv: readonly string[]): Promise<number> {
  if (builds.length > 0) {
    const { status } = spawnSync("npx", ["tsc", "-b", ...builds], { stdio: "inherit" });
    if (status !== 0) return Promise.resolve(status ?? 1);
  }
  const flags = ["--conditions=@zooid/source", "--import", join(import.meta.dirname, "refuse-options.ts")];
  const child = spawn(process.execPath, [...flags, file, ...argv], { stdio: "inherit" });
  // The terminal interrupts the whole group; anything else that asks this process to end means the
  // tool.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? 1));
  });
}

/** The first comment of a tool's file. */
function help({ name, file, does }: Tool): string {
  const text = /\/\*\*\n(.*?) \*\//s.exec(readFileSync(join(ROOT, file), "utf8"))?.[1];
  return text === undefined ? `${name}: ${does}` : text.replace(/^ \* ?/gm, "").trimEnd();
}

function list(): string {
  const width = Math.max(...tools.map((each) => each.name.length));
  const lines = TOOL_GROUPS.map(({ title, tools: some }) =>
    [title, ...some.map((each) => `  ${each.name.padEnd(width)}  ${each.does}`)].join("\n"),
  );
  return `npm run tool -- NAME [options]\n\n${lines.join("\n\n")}`;
}

/** One that begins so, else one that takes the fewest changes of letters. */
function nearest(text: string): string {
  const names = tools.map((each) => each.name);
  const [best] = names.toSorted((a, b) => distance(text, a) - distance(text, b));
  return names.find((each) => each.startsWith(text)) ?? best ?? "";
}
