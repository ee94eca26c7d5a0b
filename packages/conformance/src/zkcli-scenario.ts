/**
 * Plays clients/zkcli/scenario.txt into two of Apache's command lines and prints what they answer.
 *
 *     zkcli-scenario.ts JARS FOLDER_OF_THE_SCENARIO HOST:PORT PROXY_HOST:PORT
 *
 * zkCli prints events whenever they arrive, so they are taken out of the output and printed where the scenario waits
 * for them. A harmless command after each one marks the end of its output. Zxids, session ids and times become `#`.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

const WAIT_MS = 30_000;
const MARKER = "version";
/** What the marker prints; a session that was closed refuses even that. */
const MARKER_OUTPUT = /^(ZooKeeper CLI version|Not connected$)/;
const QUIET = '<configuration><root level="OFF"/></configuration>';

class CommandLine {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: string[] = [];
  readonly #events: string[] = [];
  #wake: () => void = () => undefined;

  constructor(classPath: string, address: string) {
    // One pipe for both streams, so that their lines keep their order.
    const script = 'exec java -Xmx128m -cp "$0" org.apache.zookeeper.ZooKeeperMain -timeout 20000 -server "$1" 2>&1';
    this.#process = spawn("sh", ["-c", script, classPath, address], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#take(line));
  }

  #take(line: string): void {
    if (line.startsWith("WatchedEvent")) this.#events.push(line);
    else if (line !== "" && line !== "WATCHER::") this.#output.push(line);
    this.#wake();
  }

  /** Runs one command and returns what it printed. */
  async run(command: string): Promise<readonly string[]> {
    this.#process.stdin.write(`${command}\n${MARKER}\n`);
    await this.#until(() => this.#output.some((line) => MARKER_OUTPUT.test(line)), `the end of "${command}"`);
    const end = this.#output.findIndex((line) => MARKER_OUTPUT.test(line));
    return this.#output.splice(0, end + 1).slice(0, -1);
  }

  /** The next events. Their order is the server's, except that one transaction's may swap. */
  async events(count: number): Promise<readonly string[]> {
    await this.#until(() => this.#events.length >= count, `${count} events`);
    return this.#events.splice(0, count).sort();
  }

  async #until(isReached: () => boolean, what: string): Promise<void> {
    const timer = setTimeout(() => {
      console.log(`(nothing more came while waiting for ${what})`, this.#output, this.#events);
      process.exit(1);
    }, WAIT_MS);
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(timer);
  }

  async quit(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin.end("quit\n");
    await ended;
  }
}

const [jars = "", scenarioFolder = "", direct = "", proxied = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "conformance-zkcli-"));
writeFileSync(join(folder, "logback.xml"), QUIET);
const classPath = `${folder}${delimiter}${jars}/*`;
const sessions = { a: new CommandLine(classPath, proxied), b: new CommandLine(classPath, direct) };
// What a command line says before its first command is about itself.
for (const session of Object.values(sessions)) await session.run("");

for (const line of readFileSync(join(scenarioFolder, "scenario.txt"), "utf8").split("\n")) await play(line);
for (const session of Object.values(sessions)) await session.quit();
rmSync(folder, { recursive: true });

async function play(line: string): Promise<void> {
  const command = /^([ab])> (.*)$/.exec(line);
  const events = /^events ([ab]) (\d+)$/.exec(line);
  const word = /^proxy (\S+)$/.exec(line);
  if (line === "" || line.startsWith("#")) return;
  console.log(line);
  if (command !== null) print(await sessionOf(command[1]).run(command[2] ?? ""));
  else if (events !== null) print(await sessionOf(events[1]).events(Number(events[2])));
  else if (word !== null) await say(word[1] ?? "");
  else throw new Error(`a line of the scenario makes no sense: ${line}`);
}

function sessionOf(name: string | undefined): CommandLine {
  return name === "a" ? sessions.a : sessions.b;
}

function print(lines: readonly string[]): void {
  const [first = "", ...others] = lines;
  // The identities below this title come in no promised order.
  const ordered = first.startsWith("Auth scheme:") ? [first, ...others.sort()] : lines;
  for (const line of ordered) console.log(`  ${normalise(line)}`);
}

function normalise(line: string): string {
  return line
    .replace(/^\[.*\]$/, (list) => `[${list.slice(1, -1).split(", ").sort().join(", ")}]`)
    .replace(/^([cm]time) = .*$/, (_, name: string) => `${name} = ${/ 1970$/.test(line) ? "never" : "#"}`)
    .replace(/0x[0-9a-f]*[1-9a-f][0-9a-f]*/g, "0x#")
    .replace(/zxid: -?\d+/, (zxid) => (zxid === "zxid: -1" ? zxid : "zxid: #"));
}

async function say(word: string): Promise<void> {
  const [host = "", port = ""] = proxied.split(":");
  const control = connect(Number(port), host);
  control.write(word);
  control.resume();
  await once(control, "close");
}
