/**
 * Runs the hooks of the chart in deploy/helm unchanged: as pods of a StatefulSet come and go,
 * `members.sh` adds and removes their votes.
 *
 *     npm run tool -- chart-members [--keep]
 *
 * In a network namespace of its own, with an address for each pod, an ensemble of one grows to
 * three and to five with an observer, and shrinks to three, while a client writes. The script is
 * killed half way and run again; it runs while no server serves, without its password, and with
 * wrong words. Each step ends with the members that the chart asks for, and no answered write is
 * lost.
 * Needs Linux and root.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { AnsweredCounter } from "./answered-counter.ts";
import { hostOf, lineOf, Pod } from "./pods.ts";

const INSIDE = "ZOOID_CHART_MEMBERS_INSIDE";
const SCRIPT = join(ROOT, "deploy/helm/zooid/files/members.sh");
const CLI = `node ${join(ROOT, "apps/cli/bin/zooid-cli.cjs")}`;
const SERVER = join(ROOT, "apps/server/bin/zooid-server.cjs");
const PODS = 6;
const WAIT_MS = 30_000;

const options = toolOptions({ keep: false });

if (process.env[INSIDE] === undefined) {
  const command = `ip link set lo up && exec node ${[...process.execArgv, ...process.argv.slice(1)].map((word) => `'${word}'`).join(" ")}`;
  const { status } = spawnSync("unshare", ["--net", "sh", "-c", command], {
    env: { ...process.env, [INSIDE]: "1" },
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}

const folder = mkdtempSync(join(tmpdir(), "chart-members-"));
const secretFile = join(folder, "secret");
const passwordFile = join(folder, "password");
execFileSync("node", [SERVER, "init-secret", secretFile]);
writeFileSync(passwordFile, "of-a-trial\n");
const pods = Array.from(
  { length: PODS },
  (_, ordinal) => new Pod(ordinal, { folder, founders: 1, secretFile, passwordFile }),
);
const servers = pods.map(({ ordinal }) => `${hostOf(ordinal)}:2181`).join(",");
const faults: string[] = [];

try {
  await main();
} catch (error) {
  faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await Promise.all(pods.map((pod) => pod.stop()));
}
for (const fault of faults) console.log(fault);
if (options.keep || faults.length > 0) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(faults.length === 0 ? "the pods became the members that the chart asks for" : "FAILED");
process.exit(faults.length === 0 ? 0 : 1);

interface Run {
  readonly status: number | null;
  readonly text: string;
  readonly ms: number;
}

interface Asked {
  readonly verb: string;
  readonly voters: number;
  readonly observers?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Kills the script once it has printed this number of lines. */
  readonly killedAfter?: number;
}

/** Runs the script as its job does. */
async function members({ verb, voters, observers = 0, env = {}, killedAfter }: Asked): Promise<Run> {
  const startMs = performance.now();
  const child = spawn("sh", [SCRIPT, verb], {
    env: {
      PATH: process.env["PATH"],
      SERVERS: servers,
      PATTERN: lineOf("{ordinal}"),
      VOTERS: String(voters),
      OBSERVERS: String(observers),
      PASSWORD_FILE: passwordFile,
      ZOOID_CLI: CLI,
      PAUSE_SECONDS: "1",
      TIMEOUT_MS: String(WAIT_MS),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let text = "";
  const hear = (piece: Buffer): void => {
    text += piece.toString();
    const isEnough = killedAfter !== undefined && text.split("\n").length > killedAfter;
    if (isEnough && child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const status = await new Promise<number | null>((resolve) => void child.once("close", (code) => resolve(code)));
  return { status, text, ms: performance.now() - startMs };
}

function expectRun(what: string, run: Run, status: number, part = ""): void {
  console.log(`${what}: status ${run.status} after ${(run.ms / 1000).toFixed(1)} s`);
  if (run.status !== status || !run.text.includes(part))
    faults.push(`${what}: expected status ${status} and "${part}", found ${run.status} and\n${run.text}`);
}

/** Ids of voters and observers in force. */
async function inForce(client: Client): Promise<string> {
  const { data } = await client.get("/zookeeper/config");
  const roles = [
    ...Buffer.from(data ?? [])
      .toString()
      .matchAll(/^server\.(\d+)=.*:(participant|observer);/gm),
  ];
  const of = (role: string): string =>
    roles
      .filter((match) => match[2] === role)
      .map((match) => match[1])
      .sort()
      .join(" ");
  return `${of("participant")} / ${of("observer")}`;
}

async function expectMembers(client: Client, expected: string): Promise<void> {
  const found = await inForce(client);
  console.log(`members: ${found}`);
  if (found !== expected) faults.push(`expected the members ${expected}, found ${found}`);
}

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  expectRun("a wrong word", await members({ verb: "widen", voters: 1 }), 2, "takes grow or shrink");
  const noPassword = await members({ verb: "grow", voters: 1, env: { PASSWORD_FILE: join(folder, "none") } });
  expectRun("no password", noPassword, 2, "cannot be read");
  const noVoters = await members({ verb: "grow", voters: 0 });
  expectRun("no voters", noVoters, 2, "VOTERS is a number from 1 on");
  const absent = { ATTEMPTS: "2" };
  expectRun("no server", await members({ verb: "grow", voters: 1, env: absent }), 1, "only while a quorum serves");
  const left = await members({ verb: "shrink", voters: 1, env: { ...absent, IF_ABSENT: "leave" } });
  expectRun("no server, and left", left, 0, "left as they are");

  pods[0]?.start();
  await using client = await connect(servers, { sessionTimeoutMs: 20_000, startTimeoutMs: WAIT_MS });
  const writes = new AnsweredCounter(client);
  const writing = writes.run();
  expectRun("an ensemble of one", await members({ verb: "grow", voters: 1 }), 0);
  await expectMembers(client, "1 / ");
  const wrong = join(folder, "wrong");
  writeFileSync(wrong, "guessed\n");
  for (const pod of pods.slice(1, 3)) pod.start();
  const denied = await members({ verb: "grow", voters: 3, env: { PASSWORD_FILE: wrong } });
  expectRun("a wrong password", { ...denied, status: denied.status === 0 ? 0 : 1 }, 1);
  await expectMembers(client, "1 / ");

  const cut = await members({ verb: "grow", voters: 3, killedAfter: 1 });
  console.log(`killed half way: ${cut.text.trim()}`);
  expectRun("1 to 3, again", await members({ verb: "grow", voters: 3 }), 0);
  await expectMembers(client, "1 2 3 / ");
  expectRun("nothing to do", await members({ verb: "grow", voters: 3 }), 0);

  for (const pod of pods.slice(3)) pod.start();
  expectRun("3 to 5 and an observer", await members({ verb: "grow", voters: 5, observers: 1 }), 0);
  await expectMembers(client, "1 2 3 4 5 / 6");
  expectRun("a vote less", await members({ verb: "shrink", voters: 3, observers: 3 }), 0);
  await expectMembers(client, "1 2 3 / 4 5 6");
  expectRun("the votes again", await members({ verb: "grow", voters: 5, observers: 1 }), 0);
  await expectMembers(client, "1 2 3 4 5 / 6");

  expectRun("5 to 3", await members({ verb: "shrink", voters: 3 }), 0);
  await expectMembers(client, "1 2 3 / ");
  await Promise.all(pods.slice(3).map((pod) => pod.stop()));
  // The same pods come back, with the disks that they had.
  for (const pod of pods.slice(3, 5)) pod.start();
  expectRun("3 to 5, with the disks of before", await members({ verb: "grow", voters: 5 }), 0);
  await expectMembers(client, "1 2 3 4 5 / ");
  writes.stop();
  await writing;
  const { data } = await client.get("/counter");
  console.log(`${writes.answered} answered writes, longest gap ${writes.gapMs.toFixed(0)} ms`);
  if (Number(Buffer.from(data ?? []).toString()) < writes.answered)
    faults.push(`the last of ${writes.answered} answered writes is missing`);
}
