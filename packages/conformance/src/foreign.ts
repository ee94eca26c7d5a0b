/**
 * Runs the scenario of each foreign client against Apache ZooKeeper and against zooid-server, and
 * compares.
 *
 *     npm run tool -- foreign [--client NAME]... [--without NAME]... [--against apache|zooid|zooid-follower|zooid-observer]...
 *                        [--update] [--side-by-side 2]
 *
 * All clients are prepared first, one after the other; then some run side by side, each against one
 * server after the other. The results are printed in the order of the clients.
 *
 * Apache's answers are kept in transcripts/, so that our differences show without Java; `--update`
 * rewrites those files from Apache's run. A missing program skips the clients that need it, and
 * fails them where CI is set.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import {
  commandOf,
  FOREIGN_CLIENTS,
  type ForeignClient,
  fetchApacheJars,
  isOnPath,
  SECURED_CLIENTS,
  type SecuredClient,
} from "./clients.ts";
import { printDiff } from "./diff.ts";
import { startSecuredServers } from "./security/secured-servers.ts";
import { startCuttingProxy } from "./servers/cutting-proxy.ts";
import { type EndpointKind, startEndpoint } from "./servers/endpoint.ts";
import { eachOf, toolOptions, whole } from "./tool-options.ts";

const TRANSCRIPTS = resolve(import.meta.dirname, "../transcripts");
const SCENARIO_DEADLINE_MS = 400_000;
const ABORTED = "the scenario ended";

const ALL_CLIENTS = [...FOREIGN_CLIENTS, ...SECURED_CLIENTS];
const NAMES = ALL_CLIENTS.map(({ name }) => name);
const KINDS = ["apache", "zooid", "zooid-follower", "zooid-observer"] as const;
const options = toolOptions({
  client: eachOf(NAMES),
  without: eachOf(NAMES, []),
  against: eachOf(KINDS, KINDS.slice(0, 3)),
  update: false,
  sideBySide: whole(2, 1),
});
const clients = ALL_CLIENTS.filter(({ name }) => options.client.includes(name) && !options.without.includes(name));
const kinds = KINDS.filter((kind) => options.against.includes(kind));

/** Runs a client's scenario against a server of this kind, and returns its output. */
type Run = (kind: EndpointKind) => Promise<readonly string[]>;

interface Result {
  readonly verdict: "passed" | "failed" | "skipped";
  readonly text: string;
}

const WORDS = { passed: "passed ", failed: "FAILED ", skipped: "skipped" } as const;
let jars: string | undefined;
const counts = { passed: 0, failed: 0, skipped: 0 };

for await (const { verdict, text } of resultsInOrder()) {
  counts[verdict]++;
  console.log(`${WORDS[verdict]} ${text}`);
}
console.log(
  `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`,
);
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;

async function* resultsInOrder(): AsyncGenerator<Result> {
  // Building blocks this thread, which the proxies need: no scenario runs meanwhile.
  const tasks = clients.map(makeReady);
  const lists = tasks.map(() => Promise.withResolvers<readonly Result[]>());
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < tasks.length; i = next++) lists[i]?.resolve((await tasks[i]?.()) ?? []);
  };
  const lanes = Promise.all(Array.from({ length: options.sideBySide }, lane));
  for (const { promise } of lists) yield* await promise;
  await lanes;
}

/** Runs a client against all servers; it does not fail. */
function makeReady(client: ForeignClient | SecuredClient): () => Promise<readonly Result[]> {
  const lacking = (reason: string) => () => Promise.resolve([lack(reason)]);
  const missing = client.needs.filter((command) => !isOnPath(command));
  if (missing.length > 0) return lacking(`${client.name} needs ${missing.join(" and ")}`);
  let run: Run;
  try {
    run = "isSecured" in client ? prepareSecured(client) : prepare(client);
  } catch (error) {
    return lacking(`${client.name} could not be prepared: ${describe(error)}`);
  }
  return async () => {
    const results: Result[] = [];
    for (const kind of kinds) {
      if (kind === "apache" && !(isOnPath("java") && isOnPath("mvn")))
        results.push(lack(`${client.name} on apache needs java and mvn`));
      else if (kind === "apache" || kind === "zooid" || isForMembers(client))
        results.push(await runAgainst(client.name, kind, run));
    }
    return results;
  };
}

/** A missing tool is a failure in CI, and a reason to skip elsewhere. */
function lack(reason: string): Result {
  const isRequired = process.env["CI"] === "true";
  return { verdict: isRequired ? "failed" : "skipped", text: reason };
}

function isForMembers(client: ForeignClient | SecuredClient): boolean {
  return !("isSecured" in client) && client.isForOneServer !== true;
}

async function runAgainst(name: string, kind: EndpointKind, run: Run): Promise<Result> {
  const goldenFile = join(TRANSCRIPTS, `${name}.txt`);
  const startMs = performance.now();
  const title = `${name} on ${kind}`;
  try {
    const lines = await run(kind);
    if (kind === "apache" && options.update && !lines.some((line) => line.startsWith(ABORTED)))
      writeFileSync(goldenFile, `${lines.join("\n")}\n`);
    const golden = existsSync(goldenFile) ? readFileSync(goldenFile, "utf8").trimEnd().split("\n") : [];
    const difference = printDiff(golden, lines);
    if (difference !== "")
      return { verdict: "failed", text: `${title} differs from what is recorded (- recorded, + now):\n${difference}` };
    const seconds = Math.round((performance.now() - startMs) / 1000);
    return { verdict: "passed", text: `${title}: ${lines.length} lines as recorded, ${seconds} s` };
  } catch (error) {
    return { verdict: "failed", text: `${title}: ${describe(error)}` };
  }
}

function prepare(client: ForeignClient): Run {
  const begin = client.build();
  return async (kind) => {
    await using endpoint = await startEndpoint(kind, jarsOf(kind), client.settings);
    await using proxy = await startCuttingProxy(endpoint.port);
    const command = commandOf(client, begin, {
      direct: `127.0.0.1:${endpoint.port}`,
      proxied: `127.0.0.1:${proxy.port}`,
      admin: `127.0.0.1:${endpoint.adminPort}`,
    });
    return await outputOf(command);
  };
}

function prepareSecured(client: SecuredClient): Run {
  const command = client.build();
  return async (kind) => {
    await using servers = await startSecuredServers(kind, jarsOf(kind));
    const { plain, tls, strict, folder } = servers.places;
    return await outputOf([...command, plain, tls, strict, folder]);
  };
}

function jarsOf(kind: EndpointKind): string | undefined {
  if (kind !== "apache") return undefined;
  jars ??= fetchApacheJars();
  return jars;
}

async function outputOf([program = "", ...args]: readonly string[]): Promise<readonly string[]> {
  const scenario = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: SCENARIO_DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  const [output, complaints, [code, signal]] = await Promise.all([
    text(scenario.stdout),
    text(scenario.stderr),
    once(scenario, "close"),
  ]);
  const lines = output.trimEnd().split("\n");
  if (code === 0) return lines;
  return [...lines, `${ABORTED} with ${signal ?? code}`, ...complaints.trimEnd().split("\n").slice(-8)];
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n${describe(error.cause)}`;
}
