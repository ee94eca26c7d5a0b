import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, type ClientOptions, connect } from "@zooid/client";
import { PATIENT } from "@zooid/embedded-server/testing/patient";
import { lastSettings } from "@zooid/model/testing/last-settings";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach } from "vitest";

// Servers as an operator starts them: each a process with a zoo.cfg of its own, on loopback.

const BIN = fileURLToPath(new URL("../../bin/zooid-server.cjs", import.meta.url));
const DEADLINE_MS = 50_000;
const POLL_MS = 20;
/**
 * Ports that the system chose a moment ago stay free for longer where no other process looks for
 * any. Linux has many such addresses.
 */
const LEVELS = ["debug", "info", "warn", "error"] as const;

export const HOST: string =
  process.platform === "linux" ? `127.77.${(process.pid >> 8) & 0xff}.${Math.max(1, process.pid & 0xff)}` : "127.0.0.1";
export const NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";

let directory = "";
const running: MemberProcess[] = [];
const clients: Client[] = [];

/** Gives each test a directory of its own, and ends what it leaves. Returns where that is. */
export function eachInDirectory(): () => string {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "zooid-ensemble-"));
  });
  afterEach(async () => {
    const closing = clients.splice(0).map((client) => client.close());
    for (const member of running.splice(0)) await member.end("SIGKILL");
    await Promise.allSettled(closing);
    rmSync(directory, { recursive: true, force: true });
  });
  return () => directory;
}

export class MemberProcess {
  readonly sid: number;
  readonly port: number;
  readonly quorumPort: number;
  readonly electionPort: number;
  output = "";
  errors = "";
  readonly dataDir: string;
  readonly #file: string;
  #child: ChildProcess | undefined;

  constructor(
    sid: number,
    { port, quorumPort, electionPort }: { port: number; quorumPort: number; electionPort: number },
    settings: readonly string[],
  ) {
    this.sid = sid;
    this.port = port;
    this.quorumPort = quorumPort;
    this.electionPort = electionPort;
    const dataDir = join(directory, `${sid}`);
    mkdirSync(dataDir);
    this.dataDir = dataDir;
    writeFileSync(join(dataDir, "myid"), `${sid}\n`);
    this.#file = join(directory, `zoo${sid}.cfg`);
    const own = [`dataDir=${dataDir}`, `clientPort=${port}`, `clientPortAddress=${HOST}`];
    const shared = ["tickTime=500", "initLimit=20", `syncLimit=${PATIENT.syncLimit}`, "4lw.commands.whitelist=*"];
    writeFileSync(this.#file, lastSettings([...shared, ...own, ...settings]));
  }

  /**
   * Writes a file that lists the ensemble's servers, and names it in zoo.cfg in place of the lines
   * there.
   */
  listServersIn(name: string, text: string): void {
    const file = join(directory, name);
    writeFileSync(file, `${text}\n`);
    const kept = readFileSync(this.#file, "utf8")
      .split("\n")
      .filter((line) => !/^(server\.|dynamicConfigFile=)/.test(line));
    writeFileSync(this.#file, [`dynamicConfigFile=${file}`, ...kept].join("\n"));
  }

  start(): void {
    const child = spawn(BIN, [this.#file], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => {
      this.output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.#child = child;
    running.push(this);
  }

  async ended(): Promise<number | string | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    return child.exitCode ?? child.signalCode;
  }

  async end(signal: NodeJS.Signals): Promise<number | string | null> {
    this.#child?.kill(signal);
    return await this.ended();
  }

  /** The answer of a four-letter word, or an empty string without one. */
  word(word: string): Promise<string> {
    return wordAt(this.port, word);
  }

  async mode(): Promise<string | undefined> {
    return /^Mode: (\S+)$/m.exec(await this.word("srvr"))?.[1];
  }

  /** The answer to `mntr`, without `zk_` before the names. */
  async monitor(): Promise<Readonly<Record<string, string | undefined>>> {
    const lines = (await this.word("mntr")).split("\n");
    return Object.fromEntries(lines.map((line) => line.replace(/^zk_/, "").split("\t")));
  }

  /** The texts of the lines that it wrote, from a level on. */
  said(level: (typeof LEVELS)[number] = "debug"): readonly string[] {
    const lines = this.output.trim().split("\n");
    const records = lines
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { level: (typeof LEVELS)[number]; msg: string });
    return records.filter((record) => LEVELS.indexOf(record.level) >= LEVELS.indexOf(level)).map(({ msg }) => msg);
  }
}

/** The answer of a four-letter word of the server at a port, or an empty string without one. */
export async function wordAt(port: number, word: string): Promise<string> {
  const socket = connectSocket({ port, host: HOST });
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => socket.destroy());
  socket.write(word);
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

export interface EnsembleOptions {
  readonly observers?: readonly number[];
  /** The smallest number of a server. Default 1. */
  readonly firstSid?: number;
  /** Observers reach their leader by followers, each server at an address of its own. */
  readonly hasMasters?: boolean;
  /** Added to every zoo.cfg. */
  readonly settings?: readonly string[];
  /** Added to that of one. */
  readonly own?: (sid: number) => readonly string[];
  /** Whether a server is in the list of another one at first. Default: all are. */
  readonly isListed?: (sid: number, by: number) => boolean;
}

/** Servers with all their files; none runs yet. */
export async function ensemble(count: number, options: EnsembleOptions = {}): Promise<readonly MemberProcess[]> {
  const { observers = [], firstSid = 1, hasMasters = false, settings = [], own = () => [] } = options;
  const { isListed = () => true } = options;
  const ports = await freePorts(count * 3 + 1);
  const masters = hasMasters ? [`observerMasterPort=${ports.at(-1)}`] : [];
  const sids = Array.from({ length: count }, (_, index) => index + firstSid);
  const portOf = (sid: number, which: number): number => ports[(sid - firstSid) * 3 + which] ?? 0;
  const lines = sids.map((sid) => {
    const role = observers.includes(sid) ? ":observer" : "";
    return `server.${sid}=${hasMasters ? `127.0.0.${sid}` : HOST}:${portOf(sid, 1)}:${portOf(sid, 2)}${role}`;
  });
  return sids.map((sid) => {
    const listed = lines.filter((_, i) => isListed(i + firstSid, sid));
    const settingsOf = [...listed, ...masters, ...settings, ...own(sid)];
    const places = { port: portOf(sid, 0), quorumPort: portOf(sid, 1), electionPort: portOf(sid, 2) };
    return new MemberProcess(sid, places, settingsOf);
  });
}

export async function started(count: number, options?: EnsembleOptions): Promise<readonly MemberProcess[]> {
  const members = await ensemble(count, options);
  for (const member of members) member.start();
  await level(members);
  return members;
}

/** Asks again and again until the answer is there. */
export async function until<T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) {
      throw new Error(
        `no ${what}:\n${running.map(({ sid, output, errors }) => `${sid}: ${output}${errors}`).join("\n")}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export async function leaderOf(members: readonly MemberProcess[]): Promise<MemberProcess> {
  return await until("leader", async () => {
    const modes = await Promise.all(members.map((member) => member.mode()));
    return members.find((_, index) => modes[index] === "leader");
  });
}

/** Waits until all of these serve, and the leader among them says that the others are level. */
export async function level(members: readonly MemberProcess[]): Promise<MemberProcess> {
  return await until("level ensemble", async () => {
    const modes = await Promise.all(members.map((member) => member.mode()));
    const leader = members.find((_, index) => modes[index] === "leader");
    if (leader === undefined || modes.includes(undefined)) return undefined;
    const { synced_followers: followers, synced_observers: observers } = await leader.monitor();
    return Number(followers) + Number(observers) === members.length - 1 ? leader : undefined;
  });
}

/** Waits until one leads and all others follow it with a vote. */
export async function voting(members: readonly MemberProcess[]): Promise<MemberProcess> {
  return await until("ensemble of voters", async () => {
    const leader = await level(members);
    const modes = await Promise.all(others(members, leader).map((member) => member.mode()));
    return modes.every((mode) => mode === "follower") ? leader : undefined;
  });
}

export async function clientOf(members: readonly MemberProcess[], options: ClientOptions = {}): Promise<Client> {
  const hosts = members.map(({ port }) => `${HOST}:${port}`).join(",");
  const client = await connect(hosts, { sessionTimeoutMs: 10_000, startTimeoutMs: DEADLINE_MS, ...options });
  clients.push(client);
  return client;
}

export function others(members: readonly MemberProcess[], one: MemberProcess): readonly MemberProcess[] {
  return members.filter((member) => member !== one);
}

export async function textOf(client: Client, path: string): Promise<string> {
  return String(Buffer.from((await client.get(path, { sync: true })).data ?? []));
}
