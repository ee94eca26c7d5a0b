/**
 * Runs the scenario of each foreign client against Apache ZooKeeper and against zooid-server, and compares.
 *
 *     npm run foreign -- [--client NAME]... [--against apache|zooid|zooid-follower|zooid-observer]... [--update]
 *
 * What Apache answers is kept in transcripts/, so that a difference of ours shows without Java; `--update` rewrites
 * those files from Apache's run. Something missing on the machine skips what needs it, and fails it where CI is set.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  FOREIGN_CLIENTS,
  type ForeignClient,
  fetchApacheJars,
  isOnPath,
  SECURED_CLIENTS,
  type SecuredClient,
} from "./clients.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { diffLines, printDiff } from "./diff.ts";
import { type EndpointKind, startEndpoint } from "./endpoint.ts";
import { startSecuredServers } from "./secured-servers.ts";

const TRANSCRIPTS = resolve(import.meta.dirname, "../transcripts");
const SCENARIO_DEADLINE_MS = 400_000;
const ABORTED = "the scenario ended";

const { values: options } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    against: { type: "string", multiple: true },
    update: { type: "boolean", default: false },
  },
});
const clients = [...FOREIGN_CLIENTS, ...SECURED_CLIENTS].filter(({ name }) => options.client?.includes(name) ?? true);
const kinds = (["apache", "zooid", "zooid-follower", "zooid-observer"] as const).filter(
  (kind) => options.against?.includes(kind) ?? kind !== "zooid-observer",
);
const counts = { passed: 0, failed: 0, skipped: 0 };

for (const client of clients) await runClient(client);
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`,
);
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;

/** Runs a client's scenario against a server of this kind, and has what it printed. */
type Run = (kind: EndpointKind) => Promise<readonly string[]>;

async function runClient(client: ForeignClient | SecuredClient): Promise<void> {
  const missing = client.needs.filter((command) => !isOnPath(command));
  if (missing.length > 0) return lack(`${client.name} needs ${missing.join(" and ")}`);
  let run: Run;
  try {
    run = "prepare" in client ? prepare(client) : prepareSecured(client);
  } catch (error) {
    return lack(`${client.name} could not be made ready: ${describe(error)}`);
  }
  for (const kind of kinds) {
    if (kind === "apache" && !(isOnPath("java") && isOnPath("mvn")))
      lack(`${client.name} on apache needs java and mvn`);
    else if (kind === "apache" || kind === "zooid" || isForMembers(client)) await runAgainst(client.name, kind, run);
  }
}

/** A tool that CI must have is a failure there; on a desk it is a reason to skip. */
function lack(reason: string): void {
  const isRequired = process.env["CI"] === "true";
  counts[isRequired ? "failed" : "skipped"]++;
  console.log(`${isRequired ? "FAILED" : "skipped"}  ${reason}`);
}

function isForMembers(client: ForeignClient | SecuredClient): boolean {
  return "prepare" in client && client.isForOneServer !== true;
}

async function runAgainst(name: string, kind: EndpointKind, run: Run): Promise<void> {
  const goldenFile = join(TRANSCRIPTS, `${name}.txt`);
  const title = `${name} on ${kind}`;
  try {
    const lines = await run(kind);
    if (kind === "apache" && options.update && !lines.some((line) => line.startsWith(ABORTED)))
      writeFileSync(goldenFile, `${lines.join("\n")}\n`);
    const golden = existsSync(goldenFile) ? readFileSync(goldenFile, "utf8").trimEnd().split("\n") : [];
    const difference = printDiff(diffLines(golden, lines));
    if (difference === "") {
      counts.passed++;
      console.log(`passed  ${title}: ${lines.length} lines as recorded`);
      return;
    }
    counts.failed++;
    console.log(`FAILED  ${title} differs from what is recorded (- recorded, + now):\n${difference}`);
  } catch (error) {
    counts.failed++;
    console.log(`FAILED  ${title}: ${describe(error)}`);
  }
}

function prepare(client: ForeignClient): Run {
  const command = client.prepare();
  return async (kind) => {
    await using endpoint = await startEndpoint(kind, jarsOf(kind), client.settings);
    await using proxy = await startCuttingProxy(endpoint.port);
    return await outputOf(
      command({
        direct: `127.0.0.1:${endpoint.port}`,
        proxied: `127.0.0.1:${proxy.port}`,
        admin: `127.0.0.1:${endpoint.adminPort}`,
      }),
    );
  };
}

function prepareSecured(client: SecuredClient): Run {
  const command = client.prepareSecured();
  return async (kind) => {
    await using servers = await startSecuredServers(kind, jarsOf(kind));
    return await outputOf(command(servers.places));
  };
}

function jarsOf(kind: EndpointKind): string | undefined {
  return kind === "apache" ? fetchApacheJars() : undefined;
}

async function outputOf([program = "", ...args]: readonly string[]): Promise<readonly string[]> {
  const scenario = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let complaints = "";
  scenario.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  scenario.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const timer = setTimeout(() => scenario.kill("SIGKILL"), SCENARIO_DEADLINE_MS);
  const { promise: ended, resolve: end, reject } = Promise.withResolvers<string>();
  scenario.on("error", reject);
  scenario.on("close", (code, signal) => end(code === 0 ? "" : `${ABORTED} with ${signal ?? code}`));
  const ending = await ended.finally(() => clearTimeout(timer));
  const lines = output.trimEnd().split("\n");
  return ending === "" ? lines : [...lines, ending, ...complaints.trimEnd().split("\n").slice(-8)];
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n${describe(error.cause)}`;
}
