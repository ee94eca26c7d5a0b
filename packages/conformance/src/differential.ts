/**
 * Holds the same random conversations with Apache ZooKeeper and with zooid-server, and compares every packet.
 *
 *     npm run differential -- [--seeds 20] [--first 1] [--steps 250]
 *
 * Each conversation starts on new servers, so a seed alone repeats it.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fetchApacheJars } from "./clients.ts";
import { diffLines, printDiff } from "./diff.ts";
import { type EndpointKind, startEndpoint } from "./endpoint.ts";

const DEADLINE_MS = 120_000;
const LINES_SHOWN = 40;

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    first: { type: "string", default: "1" },
    steps: { type: "string", default: "250" },
  },
});
const counts = { passed: 0, failed: 0 };

for (let index = 0; index < Number(options.seeds); index++) await compare(Number(options.first) + index);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (counts.failed > 0) process.exitCode = 1;

async function compare(seed: number): Promise<void> {
  try {
    const [apache, zooid] = [await converse("apache", seed), await converse("zooid", seed)];
    const difference = printDiff(diffLines(apache, zooid), 4).split("\n");
    if (difference.length > 1) throw new Error(`(- apache, + zooid)\n${difference.slice(0, LINES_SHOWN).join("\n")}`);
    counts.passed++;
  } catch (error) {
    counts.failed++;
    console.log(`seed ${seed} FAILED: ${error instanceof Error ? error.message : error}`);
  }
}

async function converse(kind: EndpointKind, seed: number): Promise<readonly string[]> {
  await using endpoint = await startEndpoint(kind, kind === "apache" ? fetchApacheJars() : undefined);
  const script = join(import.meta.dirname, "random-scenario.ts");
  const args = [script, `127.0.0.1:${endpoint.port}`, String(seed), options.steps];
  const conversation = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  conversation.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const timer = setTimeout(() => conversation.kill("SIGKILL"), DEADLINE_MS);
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  conversation.on("error", reject);
  conversation.on("close", (code) => resolve(code));
  const code = await ended.finally(() => clearTimeout(timer));
  return [...output.trimEnd().split("\n"), `ended with ${code}`];
}
