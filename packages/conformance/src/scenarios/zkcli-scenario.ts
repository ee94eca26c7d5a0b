/**
 * Runs clients/zkcli/scenario.txt in two of Apache's command lines and prints their answers.
 *
 *     zkcli-scenario.ts JARS FOLDER_OF_THE_SCENARIO HOST:PORT PROXY_HOST:PORT
 *
 * zkCli prints events at any time, so they are taken out of the output and printed where the
 * scenario waits for them. A harmless command after each one marks the end of its output. Zxids,
 * session ids and times become `#`.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { QUIET_LOG, ZkCliCommandLine } from "../cli/zkcli-command-line.ts";

const [jars = "", scenarioFolder = "", direct = "", proxied = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "conformance-zkcli-"));
writeFileSync(join(folder, "logback.xml"), QUIET_LOG);
const classPath = `${folder}${delimiter}${jars}/*`;
const sessions = { a: new ZkCliCommandLine(classPath, proxied), b: new ZkCliCommandLine(classPath, direct) };
// Output before the first command is about the program itself.
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

function sessionOf(name: string | undefined): ZkCliCommandLine {
  return name === "a" ? sessions.a : sessions.b;
}

function print(lines: readonly string[]): void {
  const [first = "", ...others] = lines;
  // The identities below this title are unordered.
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
