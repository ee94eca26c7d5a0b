/**
 * Three servers become five, three, one and three again, without a standalone fallback: by zkCli on
 * an ensemble of Apache ZooKeeper, by zkCli and by `zooid-cli reconfig` on ours, with equal output;
 * and by `zooid-cli member` alone, which prints what each new server is started with, while a
 * client writes. Exit status 1 with what differs, or with what was lost.
 *
 *     npm run tool -- reconfig-sequence [--print]
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { connect } from "@zooid/client";
import { CliSession } from "../cli/cli-session.ts";
import { normaliseCliLine } from "../cli/cli-transcript.ts";
import { QUIET_LOG } from "../cli/zkcli-command-line.ts";
import { fetchApacheJars } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { ROOT } from "../servers/endpoint.ts";
import { toolOptions } from "../tool-options.ts";
import { ReconfigEnsemble, SUPER } from "./reconfig-ensemble.ts";
import { SteadyWriter } from "./steady-writer.ts";

const ZOOID_CLI = join(ROOT, "node_modules/.bin/zooid-cli");
const SETTINGS = ["standaloneEnabled=false"];
const WAIT_MS = 120_000;
const SESSION_TIMEOUT_MS = 20_000;
/** zooid-cli greets on a terminal alone: in a pipe it prints answers. */
const GREETING = /^Connecting to |^Welcome to ZooKeeper!$/;

const options = toolOptions({ print: false });
using temporary = mkdtempDisposableSync(join(tmpdir(), "reconfig-sequence-"));
const folder = temporary.path;
const jars = fetchApacheJars();
writeFileSync(join(folder, "logback.xml"), QUIET_LOG);
const ZKCLI = [
  ...["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", `${folder}${delimiter}${jars}/*`],
  "org.apache.zookeeper.ZooKeeperMain",
];

const theirs = await playedBy("zkCli", ZKCLI, "apache");
if (options.print) console.log(theirs.join("\n"));
for (const [name, program] of [["zkCli", ZKCLI] as const, ["zooid-cli", [ZOOID_CLI]] as const]) {
  const difference = printDiff(theirs, await playedBy(name, program, "zooid"));
  if (difference === "") console.log(`same    ${theirs.length} lines of zkCli on Apache ZooKeeper, ${name} on Zooid`);
  else {
    console.log(`differ  (- zkCli on Apache ZooKeeper, + ${name} on Zooid):\n${difference}`);
    process.exitCode = 1;
  }
}
await byMember();

/** Commands of zkCli; server 3 leads all the time, so that each run prints the same. */
async function playedBy(
  name: string,
  program: readonly string[],
  kind: "apache" | "zooid",
): Promise<readonly string[]> {
  const own = join(folder, `${name}-${kind}`);
  mkdirSync(own);
  const ofApache = kind === "apache" ? { jars } : {};
  await using ensemble = await ReconfigEnsemble.create({ kind, folder: own, settings: SETTINGS, ...ofApache });
  const lines: string[] = [];
  const voters = [1, 2, 3].map((sid) => ensemble.line(sid));
  // The higher id of the first two leads.
  for (const sid of [2, 3, 1]) {
    await ensemble.launch(sid, voters);
    if (sid !== 2) await ensemble.mode(sid);
  }
  const session = new CliSession([...program, "-server", ensemble.address(3)]);
  const run = async (command: string): Promise<void> => {
    const { stdout, stderr } = await session.run(command);
    lines.push(`> ${command}`, ...stdout, ...stderr.map((line) => `err ${line}`));
  };
  const joinServers = async (sids: readonly number[], listed: readonly number[]): Promise<void> => {
    for (const sid of sids) {
      await ensemble.launch(
        sid,
        [...listed, sid].map((each) => ensemble.line(each)),
      );
      await ensemble.mode(sid);
    }
  };
  const show = async (sids: readonly number[]): Promise<void> => {
    const modes: string[] = [];
    for (const sid of sids) modes.push(`${sid} ${await ensemble.mode(sid)}`);
    lines.push(modes.join(", "));
    await run(`create /with-${sids.join("-")}`);
    await run("config");
  };
  try {
    await run(`addauth digest ${SUPER}`);
    await show([1, 2, 3]);
    await joinServers([4, 5], [1, 2, 3]);
    await run(`reconfig -add ${ensemble.line(4)}`);
    await run(`reconfig -add ${ensemble.line(5).replace("server.", "")}`);
    await show([1, 2, 3, 4, 5]);
    await run("reconfig -remove 1,2");
    await show([3, 4, 5]);
    await run("reconfig -remove 4,5");
    await show([3]);
    for (const sid of [1, 2, 4, 5]) await ensemble.server(sid).stop();
    await run("create /alone");
    await joinServers([6, 7], [3]);
    await run(`reconfig -add ${ensemble.line(6)},${ensemble.line(7)}`);
    await show([3, 6, 7]);
    await run("ls /");
    await session.end();
  } finally {
    session.kill();
  }
  const words = ensemble.comparable(lines).map(normaliseCliLine);
  return inOrder(words.filter((line) => line !== undefined).filter((line) => !GREETING.test(line)));
}

/** Apache's server lists servers in the order of a hash table, ours by their ids. */
function inOrder(lines: readonly string[]): readonly string[] {
  const isServer = (line: string | undefined): boolean => line?.startsWith("server.") === true;
  const ordered: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at + 1;
    if (isServer(lines[at])) while (isServer(lines[end])) end++;
    ordered.push(...lines.slice(at, end).sort());
    at = end;
  }
  return ordered;
}

/**
 * An operator who has `zooid-cli member` alone: each new server is started with the lines that it
 * prints.
 */
async function byMember(): Promise<void> {
  const own = join(folder, "member");
  mkdirSync(own);
  await using ensemble = await ReconfigEnsemble.create({ kind: "zooid", folder: own, settings: SETTINGS });
  const first = [1, 2, 3].map((sid) => ensemble.line(sid));
  for (const sid of [1, 2, 3]) await ensemble.launch(sid, first);
  const addresses = [1, 2, 3, 4, 5, 6, 7].map((sid) => ensemble.address(sid)).join(",");
  const member = async (...words: readonly string[]): Promise<Answer> => await memberOf(addresses, words);
  const client = await connect(addresses, { sessionTimeoutMs: SESSION_TIMEOUT_MS, startTimeoutMs: WAIT_MS });
  const { sessionId } = client;
  const writer = new SteadyWriter(client);
  let members: number[] = [1, 2, 3];
  const add = async (sid: number): Promise<void> => {
    const place = ensemble.line(sid).replace("server.", "");
    const refused = await member("add", place);
    if (refused.status !== 1 || refused.json.error?.code !== "NOT_SYNCED")
      throw new Error(`add ${sid}: ${refused.text}`);
    const printed = refused.json.error.hint.split("\n").filter((line) => line.startsWith("server."));
    await ensemble.launch(sid, printed);
    await done(member("add", place, "--wait", "--timeout", `${WAIT_MS}`));
    members = [...members, sid];
  };
  const remove = async (sid: number): Promise<void> => {
    await done(member("remove", `${sid}`, "--wait", "--timeout", `${WAIT_MS}`));
    await ensemble.server(sid).stop();
    members = members.filter((other) => other !== sid);
  };
  const check = async (): Promise<number> => {
    const { healthy, leader, members: listed = [] } = (await done(member("list"))).json;
    const found = listed.map(({ id }) => id);
    if (healthy !== true || found.join() !== members.join()) throw new Error(`members ${members}, found ${found}`);
    console.log(
      `member  ${members.length} servers: ${members.join(", ")}; ${leader} leads; ${writer.paths.length} writes`,
    );
    return Number(leader);
  };
  try {
    await check();
    for (const sid of [4, 5]) await add(sid);
    for (const size of [3, 1]) {
      // The leader is the first to leave.
      await remove(await check());
      while (members.length > size) await remove(members[0] ?? 0);
    }
    await check();
    for (const sid of [6, 7]) await add(sid);
    await check();
    await writer.stop();
    const found = new Set((await client.children("/", { sync: true })).names);
    const lost = writer.paths.filter((path) => !found.has(path.slice(1)));
    if (lost.length > 0) throw new Error(`lost ${lost.join(", ")}`);
    if (client.sessionId !== sessionId) throw new Error("the session was lost");
    console.log(`member  ${writer.paths.length} writes kept, one session, ${writer.longestMs} ms without a write`);
  } finally {
    await writer.stop();
    await client.close();
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: {
    readonly error?: { readonly code: string; readonly hint: string };
    readonly healthy?: boolean;
    readonly leader?: number;
    readonly members?: readonly { readonly id: number }[];
  };
}

async function memberOf(addresses: string, words: readonly string[]): Promise<Answer> {
  const env = { ...process.env, ZOOID_ADMIN_AUTH: `digest ${SUPER}` };
  const args = ["-server", addresses, "--json", "member", ...words];
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const child = execFile(ZOOID_CLI, args, { env, encoding: "utf8" }, (_, stdout, stderr) => {
    const text = `${stdout}${stderr}`;
    const [line = "{}"] = stdout.split("\n");
    resolve({ status: child.exitCode ?? -1, text, json: line === "" ? {} : (JSON.parse(line) as Answer["json"]) });
  });
  return await promise;
}

async function done(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.status !== 0) throw new Error(`member ended with ${answer.status}: ${answer.text}`);
  return answer;
}
