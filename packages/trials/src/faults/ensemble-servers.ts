/**
 * Starts the servers of an ensemble as processes, each from a zoo.cfg, and does to them what faults
 * do.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fourLetterWord, spawnServer, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { LoggedProcess, logOf, logTailOf } from "@zooid/conformance/internal/servers/logged-process";
import { lastSettings } from "@zooid/model/testing/last-settings";
import { freePorts } from "@zooid/wire/testing/free-ports";

/**
 * Ports that the system chose a moment ago stay free for longer where no other process looks for
 * any. Linux has many such addresses: each server has one of its own.
 */
function loopback(index: number): string {
  if (process.platform !== "linux") return "127.0.0.1";
  return `127.${78 + index}.${(process.pid >> 8) & 0xff}.${Math.max(1, process.pid & 0xff)}`;
}
const PORTS_EACH = 4;
const WORD_TIMEOUT_MS = 1000;

export interface EnsembleOptions {
  /** Holds a folder for each server. */
  readonly folder: string;
  readonly serverCount: number;
  /**
   * Number of servers, the last ones, that observe and reach their leader by followers. Default 0.
   */
  readonly observerCount?: number;
  readonly tickMs: number;
  readonly initLimit?: number;
  /** In ticks. */
  readonly syncLimit: number;
  /** Added to every zoo.cfg. */
  readonly settings?: readonly string[];
  /** Added to the environment of every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where each server is; default loopback, with ports of the system's choice. */
  readonly places?: readonly Place[];
  /** The folder of Apache ZooKeeper's jars, for an ensemble of it. */
  readonly apacheJars?: string;
  /** Whether the zoo.cfg of a server lists another one. Default: each lists all. */
  readonly isListed?: (sid: number, by: number) => boolean;
}

/** Where a server runs. */
export interface Place {
  /** For clients. */
  readonly clientHost: string;
  readonly clientPort: number;
  /** For the other servers. */
  readonly peerHost: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  /** Another that is free: an ensemble with observers needs one. */
  readonly sparePort?: number;
  /** The words before the server's command, to run it somewhere else. */
  readonly prefix: readonly string[];
}

export type Role = "leader" | "follower" | "observer" | "read-only" | "none";

export class Ensemble implements AsyncDisposable {
  readonly servers: readonly EnsembleServer[];
  readonly options: EnsembleOptions;

  private constructor(options: EnsembleOptions, places: readonly Place[]) {
    this.options = options;
    this.servers = places.map((place, index) => new EnsembleServer(index + 1, place, options));
    for (const server of this.servers) server.configure(options, places);
  }

  /** Writes what the servers start from; none is running yet. */
  static async create(options: EnsembleOptions): Promise<Ensemble> {
    return new Ensemble(options, options.places ?? (await loopbackPlaces(options.serverCount)));
  }

  /** Starts them all and waits for a leader with every follower level. */
  async start(deadlineMs: number): Promise<void> {
    for (const server of this.servers) server.launch();
    await this.untilLevel(deadlineMs);
  }

  /** The server that says it leads, among those given. */
  async leader(among: readonly EnsembleServer[] = this.servers): Promise<EnsembleServer | undefined> {
    const roles = await Promise.all(among.map((server) => server.role()));
    return among.find((_, index) => roles[index] === "leader");
  }

  async untilLeader(among: readonly EnsembleServer[], deadlineMs: number): Promise<EnsembleServer> {
    return await until(
      "a leader",
      deadlineMs,
      () => this.leader(among),
      () => this.describe(),
    );
  }

  /** Waits until one of those given leads and each other one follows it, level. */
  async untilLevel(deadlineMs: number, among: readonly EnsembleServer[] = this.servers): Promise<EnsembleServer> {
    const isLevel = async (): Promise<EnsembleServer | undefined> => {
      const roles = await Promise.all(among.map((server) => server.role()));
      // A leader that was cut off may still think that it leads, and that all are level.
      const leaders = among.filter((_, index) => roles[index] === "leader");
      const [leader] = leaders;
      if (leader === undefined || leaders.length > 1) return undefined;
      if (roles.some((role) => role === "none" || role === "read-only")) return undefined;
      const values = await leader.monitor();
      const level = Number(values.get("zk_synced_followers")) + Number(values.get("zk_synced_observers"));
      return level === among.length - 1 ? leader : undefined;
    };
    return await until("every server to be level", deadlineMs, isLevel, () => this.describe());
  }

  describe(): string {
    return this.servers.map((server) => `server ${server.sid}: ${server.state}\n${server.logTail()}`).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }
}

export class EnsembleServer {
  readonly sid: number;
  /** A tool that moves the server says where it is. */
  place: Place;
  readonly folder: string;
  readonly dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #apacheJars: string | undefined;
  #process: LoggedProcess | undefined;
  #isPaused = false;

  constructor(sid: number, place: Place, { folder, env = {}, apacheJars }: EnsembleOptions) {
    this.sid = sid;
    this.place = place;
    this.folder = join(folder, `s${sid}`);
    this.dataDir = join(this.folder, "data");
    this.#env = env;
    this.#apacheJars = apacheJars;
  }

  get host(): string {
    return this.place.clientHost;
  }

  get port(): number {
    return this.place.clientPort;
  }

  /** `HOST:PORT`, for clients. */
  get address(): string {
    return `${this.host}:${this.port}`;
  }

  /** Its `server.N=…`, with the address for clients. */
  get line(): string {
    const { peerHost, quorumPort, electionPort } = this.place;
    return `server.${this.sid}=${peerHost}:${quorumPort}:${electionPort};${this.address}`;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning ?? false;
  }

  /** How it stands, for messages. */
  get state(): string {
    if (this.isRunning && this.#isPaused) return "paused";
    return this.#process?.state ?? "never started";
  }

  /** The running process. */
  get pid(): number {
    return this.#started().pid;
  }

  configure(options: EnsembleOptions, places: readonly Place[]): void {
    const { observerCount = 0, isListed = () => true } = options;
    // Each has an address of its own; one port that is free at the first is free at the others.
    const masterPort = places[0]?.sparePort;
    this.makeDataDir();
    const lines = [
      ...[`tickTime=${options.tickMs}`, `initLimit=${options.initLimit ?? 10}`, `syncLimit=${options.syncLimit}`],
      `dataDir=${this.dataDir}`,
      ...["maxClientCnxns=0", "4lw.commands.whitelist=*", "admin.enableServer=false"],
      ...places.flatMap((at, index) => {
        if (!isListed(index + 1, this.sid)) return [];
        const role = index < places.length - observerCount ? "" : ":observer";
        const peer = `${at.peerHost}:${at.quorumPort}:${at.electionPort}${role}`;
        return [`server.${index + 1}=${peer};${at.clientHost}:${at.clientPort}`];
      }),
      ...(observerCount > 0 ? [`observerMasterPort=${masterPort}`] : []),
      ...(options.settings ?? []),
    ];
    writeFileSync(join(this.folder, "zoo.cfg"), lastSettings(lines));
  }

  /** An empty disk, but for the number of the server. */
  makeDataDir(): void {
    mkdirSync(this.dataDir, { recursive: true });
    this.writeMyid();
  }

  writeMyid(): void {
    writeFileSync(join(this.dataDir, "myid"), `${this.sid}\n`);
  }

  /** @param program another build of the server */
  launch(program: string = ZOOID_SERVER): void {
    const configFile = join(this.folder, "zoo.cfg");
    const at = { folder: this.folder, env: this.#env };
    this.#process =
      this.#apacheJars === undefined
        ? new LoggedProcess([...this.place.prefix, program, configFile], at)
        : spawnServer("apache", { ...at, configFile, jars: this.#apacheJars });
    this.#isPaused = false;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
    if (signal === "SIGSTOP") this.#isPaused = true;
    if (signal === "SIGCONT") this.#isPaused = false;
  }

  /** Its exit status, or the signal that ended it. */
  async ended(): Promise<number | string> {
    return await this.#started().ended();
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return;
    this.signal(signal);
    await this.ended();
  }

  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Ends it and starts it, without waiting until it serves. */
  async restart(signal: NodeJS.Signals = "SIGTERM", program?: string): Promise<void> {
    await this.end(signal);
    this.launch(program);
  }

  /** Waits until it has a role. */
  async untilServing(deadlineMs: number): Promise<Role> {
    const role = async (): Promise<Role | false> => {
      const seen = await this.role();
      return seen !== "none" && seen;
    };
    return await until(`server ${this.sid} to serve`, deadlineMs, role, () => this.logTail());
  }

  /** The role that it reports; "none" for a server that does not serve or does not answer. */
  async role(): Promise<Role> {
    if (!this.isRunning || this.#isPaused) return "none";
    const mode = /^Mode: (\S+)$/m.exec(await this.word("srvr"))?.[1];
    return mode === "leader" || mode === "follower" || mode === "observer" || mode === "read-only" ? mode : "none";
  }

  /** The answer of a four-letter word, or an empty string without one. */
  async word(word: string): Promise<string> {
    return await fourLetterWord(this.port, word, this.host, WORD_TIMEOUT_MS);
  }

  /** The answer to `mntr`. */
  async monitor(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.word("mntr")).split("\n");
    return new Map(lines.map((line) => line.split("\t")).map(([name = "", value = ""]) => [name, value]));
  }

  log(): string {
    return logOf(this.folder);
  }

  logTail(): string {
    return logTailOf(this.folder);
  }

  #started(): LoggedProcess {
    if (this.#process === undefined) throw new Error(`server ${this.sid} was not started`);
    return this.#process;
  }
}

/**
 * Asks again and again until there is an answer other than false.
 *
 * @throws after the deadline, with the explanation
 */
export async function until<T>(
  what: string,
  deadlineMs: number,
  ask: () => Promise<T | false | undefined> | T | false | undefined,
  explain: () => string = () => "",
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms for ${what}\n${explain()}`);
    await delay(15);
  }
}

async function loopbackPlaces(count: number): Promise<readonly Place[]> {
  const hosts = Array.from({ length: count }, (_, index) => loopback(index));
  const ports = await freePorts(count * PORTS_EACH);
  return hosts.map((host, index) => {
    const [clientPort = 0, quorumPort = 0, electionPort = 0, sparePort = 0] = ports.slice(index * PORTS_EACH);
    return { clientHost: host, clientPort, peerHost: host, quorumPort, electionPort, sparePort, prefix: [] };
  });
}
