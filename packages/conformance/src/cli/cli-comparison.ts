/**
 * Runs clients/zkcli/commands.txt in Apache's zkCli and in zooid-cli, each on a fresh server, and
 * compares the output on both streams, and the exit statuses. Exit status 1, with the differing
 * lines, if our run differs from every run of zkCli.
 *
 *     npm run tool -- cli-comparison [--against apache|zooid]... [--print]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fetchApacheJars } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { type EndpointKind, ROOT, startEndpoint } from "../servers/endpoint.ts";
import { eachOf, toolOptions } from "../tool-options.ts";
import { CliSession } from "./cli-session.ts";
import { normaliseCliLine } from "./cli-transcript.ts";

const SCENARIO = resolve(import.meta.dirname, "../../clients/zkcli/commands.txt");
/**
 * On a busy machine zkCli sometimes splits a line or prints an event twice; ours is run once, and
 * must equal one of its runs.
 */
const ZKCLI_RUNS_MAX = 3;
const QUIET = '<configuration><root level="OFF"/></configuration>';

const options = toolOptions({ against: eachOf(["apache", "zooid"]), print: false });
const jars = fetchApacheJars();
const folder = mkdtempSync(join(tmpdir(), "cli-comparison-"));
writeFileSync(join(folder, "logback.xml"), QUIET);

const ZKCLI = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", `${folder}${delimiter}${jars}/*`];
const COMMAND_LINES = {
  zkCli: [...ZKCLI, "org.apache.zookeeper.ZooKeeperMain"],
  "zooid-cli": [join(ROOT, "node_modules/.bin/zooid-cli"), "--verbose"],
} as const;

for (const kind of options.against) {
  const ours = await transcript(kind, COMMAND_LINES["zooid-cli"]);
  let difference = "";
  for (let run = 1; run <= ZKCLI_RUNS_MAX; run++) {
    const theirs = await transcript(kind, COMMAND_LINES.zkCli);
    if (options.print) console.log(theirs.join("\n"));
    difference = printDiff(theirs, ours);
    if (difference === "") {
      console.log(`same    ${theirs.length} lines of zkCli and zooid-cli on ${kind}`);
      break;
    }
    console.log(`differ  on ${kind} from run ${run} of zkCli (- zkCli, + zooid-cli):\n${difference}`);
  }
  if (difference !== "") process.exitCode = 1;
}
rmSync(folder, { recursive: true });

async function transcript(kind: EndpointKind, program: readonly string[]): Promise<readonly string[]> {
  await using endpoint = await startEndpoint(kind, kind === "apache" ? jars : undefined);
  const address = `127.0.0.1:${endpoint.port}`;
  const session = new CliSession([...program, "-server", address]);
  const lines: string[] = [];
  try {
    for (const line of readFileSync(SCENARIO, "utf8").split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      lines.push(line);
      lines.push(...(await play(line.replaceAll("HOST:PORT", address), { session, program, address })));
    }
    // The status is zkCli's of the last command, and ours of the first that failed.
    const { events } = await session.end();
    lines.push(...say("event", events));
  } catch (error) {
    // The earlier lines still show where the two differ.
    lines.push(`gave up: ${error instanceof Error ? error.message : error}`);
  } finally {
    session.kill();
  }
  return lines;
}

interface Stage {
  readonly session: CliSession;
  readonly program: readonly string[];
  readonly address: string;
}

async function play(line: string, { session, program, address }: Stage): Promise<readonly string[]> {
  const events = /^events (\d+)$/.exec(line);
  if (events !== null) return say("event", await session.events(Number(events[1])));
  const alone = /^\$ ?(.*)$/.exec(line);
  if (alone !== null) return await runAlone([...program, "-server", address], alone[1] ?? "");
  const { stdout, stderr } = await session.run(line.replace(/^> /, ""));
  return [...say("out", stdout), ...say("err", stderr)];
}

/**
 * A process for one command, which the system's shell splits into words. It may or may not print
 * its connection events in time.
 */
async function runAlone(program: readonly string[], words: string): Promise<readonly string[]> {
  const env = { ...process.env, TZ: "UTC", LC_ALL: "C.UTF-8" };
  const child = spawn("sh", ["-c", `exec "$@" ${words}`, "sh", ...program], { stdio: ["ignore", "pipe", "pipe"], env });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  // Connection events may come before, behind or between the lines of the answer, with empty lines
  // around them.
  const lines = linesOf(stdout).filter((line) => !/^(|WATCHER::|WatchedEvent .*)$/.test(line));
  return [...say("out", lines), ...say("err", linesOf(stderr)), `  status ${status}`];
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function say(stream: "out" | "err" | "event", lines: readonly string[]): readonly string[] {
  return lines
    .map(normaliseCliLine)
    .filter((line) => line !== undefined)
    .map((line) => `  ${stream.padEnd(5)} ${line}`);
}
