/**
 * Starts ensembles of Zooid or of Apache ZooKeeper on loopback for measurements, and reports the
 * resources of their processes.
 */

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { fourLetterWord, LOGBACK, ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { logTailOf } from "@zooid/conformance/internal/servers/logged-process";
import { lastSettings } from "@zooid/model/testing/last-settings";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { memoryMib } from "../figures/process-memory.ts";

export type Kind = "apache" | "zooid";
export type Role = "standalone" | "leader" | "follower" | "observer";

export interface EnsembleOptions {
  readonly kind: Kind;
  readonly voters: number;
  readonly observers?: number;
  /**
   * Observers reach the leader by followers (`observerMasterPort`). Each server has an address of
   * its own then.
   */
  readonly hasMasters?: boolean;
  /** Holds a folder for each server; goes with the ensemble. */
  readonly folder: string;
  /** Further lines of every zoo.cfg. */
  readonly settings?: readonly string[];
  /** The command that runs a server of ours instead of `zooid-server`, in a shell's words. */
  readonly command?: string;
  /** Put each server in a cgroup of its own, so that its CPU can be bounded. */
  readonly isBounded?: boolean;
}

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 20_000;
const POLL_MS = 50;
const APACHE_HEAP = "512m";
const CGROUP = "/sys/fs/cgroup/cpu";
/**
 * A short period makes a bounded server slow rather than one that stands still most of the time.
 */
const CGROUP_PERIOD_US = 10_000;
const run = promisify(execFile);

/** Some servers under one client service. Disposing of it ends them and removes what they wrote. */
export class PerfEnsemble implements AsyncDisposable {
  readonly kind: Kind;
  readonly servers: readonly PerfServer[];
  readonly #folder: string;

  private constructor({ kind, folder }: EnsembleOptions, servers: readonly PerfServer[]) {
    this.kind = kind;
    this.servers = servers;
    this.#folder = folder;
  }

  /** Resolves when all of them serve. */
  static async start(options: EnsembleOptions): Promise<PerfEnsemble> {
    const { kind, voters, observers = 0, folder, isBounded = false, hasMasters = false } = options;
    const sids = Array.from({ length: voters + observers }, (_, i) => i + 1);
    const [masterPort = 0, ...ports] = await freePorts(1 + 3 * sids.length);
    const masters = hasMasters ? [`observerMasterPort=${masterPort}`] : [];
    const lines = sids.map((sid, i) => {
      const role = sid > voters ? ":observer" : "";
      return `server.${sid}=127.0.0.${hasMasters ? sid : 1}:${ports[3 * i + 1]}:${ports[3 * i + 2]}${role}`;
    });
    const servers = sids.map((sid, i) => {
      const own = join(folder, `s${sid}`);
      const clientPort = ports[3 * i] ?? 0;
      const settings = [...(sids.length === 1 ? [] : [...lines, ...masters]), ...(options.settings ?? [])];
      const isObserver = sid > voters;
      writeServer({ ...options, own, sid, clientPort, settings, isObserver });
      return new PerfServer({ sid, clientPort, folder: own, isObserver, isBounded });
    });
    const ensemble = new PerfEnsemble(options, servers);
    try {
      await Promise.all(servers.map((server) => server.start()));
      await ensemble.untilServing();
    } catch (error) {
      await ensemble[Symbol.asyncDispose]();
      throw new Error(`${kind}: an ensemble of ${sids.length} did not come to serve`, { cause: error });
    }
    return ensemble;
  }

  get hosts(): string {
    return hostsOf(this.servers);
  }

  get voters(): readonly PerfServer[] {
    return this.servers.filter(({ isObserver }) => !isObserver);
  }

  async leader(): Promise<PerfServer> {
    for (const server of this.servers) {
      const role = await server.role();
      if (role === "leader" || role === "standalone") return server;
    }
    throw new Error("there is no leader");
  }

  async untilServing(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX;
    for (const server of this.servers) {
      while ((await server.role()) === undefined) {
        if (Date.now() > deadline)
          throw new Error(`server ${server.sid} does not serve; its log ends with:\n${server.logTail()}`);
        await delay(POLL_MS);
      }
    }
  }

  /** Asks all to stop and waits until they have. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    for (const server of this.servers) await server.removeCgroup();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function hostsOf(servers: readonly PerfServer[]): string {
  return servers.map(({ clientPort }) => `127.0.0.1:${clientPort}`).join(",");
}

/** CPU that one thread has had since it began. */
export interface ThreadCpu {
  readonly tid: number;
  readonly name: string;
  readonly seconds: number;
}

/** One server, whose process changes when it is killed and started again. */
export class PerfServer {
  readonly sid: number;
  readonly clientPort: number;
  readonly isObserver: boolean;
  readonly folder: string;
  readonly #cgroup: string | undefined;

  constructor(options: {
    readonly sid: number;
    readonly clientPort: number;
    readonly folder: string;
    readonly isObserver: boolean;
    readonly isBounded: boolean;
  }) {
    const { sid, clientPort, folder, isObserver, isBounded } = options;
    this.sid = sid;
    this.clientPort = clientPort;
    this.folder = folder;
    this.isObserver = isObserver;
    this.#cgroup = isBounded ? cgroupOf(sid, clientPort) : undefined;
  }

  get pid(): number {
    return Number(readFileSync(join(this.folder, "pid"), "utf8"));
  }

  /** A shell command that starts it in the background, on whatever data it has. */
  get startCommand(): string {
    return `sh '${join(this.folder, "start.sh")}'`;
  }

  /** A shell command that ends it without a word. */
  get killCommand(): string {
    return `kill -9 "$(cat '${join(this.folder, "pid")}')"`;
  }

  async start(): Promise<void> {
    if (this.#cgroup !== undefined) mkdirSync(this.#cgroup, { recursive: true });
    await run("/bin/sh", [join(this.folder, "start.sh")]);
    if (this.#cgroup !== undefined) writeFileSync(join(this.#cgroup, "cgroup.procs"), String(this.pid));
  }

  async stop(): Promise<void> {
    const deadline = Date.now() + STOP_MS_MAX;
    if (this.isRunning) process.kill(this.pid, "SIGTERM");
    for (; this.isRunning; await delay(POLL_MS)) {
      if (Date.now() > deadline) process.kill(this.pid, "SIGKILL");
    }
  }

  /** Whether the process that was started is still that one: numbers of processes come again. */
  get isRunning(): boolean {
    try {
      return readFileSync(`/proc/${this.pid}/cmdline`, "utf8").includes(join(this.folder, "zoo.cfg"));
    } catch {
      return false;
    }
  }

  async role(): Promise<Role | undefined> {
    const mode = /^Mode: (\w+)/m.exec(await fourLetterWord(this.clientPort, "srvr"))?.[1];
    return mode === "standalone" || mode === "leader" || mode === "follower" || mode === "observer" ? mode : undefined;
  }

  /** The counter of the last zxid: how many transactions there were in this epoch. */
  async transactions(): Promise<number> {
    const zxid = /^Zxid: 0x([0-9a-f]+)/m.exec(await fourLetterWord(this.clientPort, "srvr"))?.[1];
    return Number(BigInt.asUintN(32, BigInt(`0x${zxid ?? "0"}`)));
  }

  /** CPU of all threads that there are, in seconds. */
  get cpuSeconds(): number {
    return this.threads().reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** CPU of the process's first thread, where ours does everything but the log. */
  get mainSeconds(): number {
    return this.threads().find(({ tid }) => tid === this.pid)?.seconds ?? 0;
  }

  threads(): readonly ThreadCpu[] {
    const { pid } = this;
    return readdirSync(`/proc/${pid}/task`).map((tid) => {
      const task = `/proc/${pid}/task/${tid}`;
      const [ns = "0"] = readFileSync(`${task}/schedstat`, "utf8").split(" ");
      return { tid: Number(tid), name: readFileSync(`${task}/comm`, "utf8").trim(), seconds: Number(ns) / 1e9 };
    });
  }

  get residentMib(): number {
    return memoryMib(this.pid);
  }

  /** Bounds its CPU to a share of one core; undefined lifts the bound. */
  bound(share: number | undefined): void {
    if (this.#cgroup === undefined) throw new Error("this server was not started to be bounded");
    writeFileSync(join(this.#cgroup, "cpu.cfs_period_us"), String(CGROUP_PERIOD_US));
    writeFileSync(
      join(this.#cgroup, "cpu.cfs_quota_us"),
      String(share === undefined ? -1 : Math.round(share * CGROUP_PERIOD_US)),
    );
  }

  /** After the process has ended; the system may take a moment to notice. */
  async removeCgroup(): Promise<void> {
    if (this.#cgroup === undefined) return;
    const deadline = Date.now() + STOP_MS_MAX;
    for (;;) {
      try {
        rmdirSync(this.#cgroup);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await delay(POLL_MS);
    }
  }

  logTail(): string {
    return logTailOf(this.folder);
  }
}

function cgroupOf(sid: number, port: number): string {
  return join(CGROUP, `zooid-perf-${process.pid}-${sid}-${port}`);
}

interface ServerFiles extends EnsembleOptions {
  readonly own: string;
  readonly sid: number;
  readonly clientPort: number;
  readonly settings: readonly string[];
  readonly isObserver: boolean;
}

function writeServer({ kind, own, sid, clientPort, settings, isObserver, command }: ServerFiles): void {
  const data = join(own, "data");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "myid"), `${sid}\n`);
  const config = [
    ...["tickTime=2000", "initLimit=10", "syncLimit=5", `dataDir=${data}`],
    ...[`clientPort=${clientPort}`, "clientPortAddress=127.0.0.1", "maxClientCnxns=0"],
    ...["4lw.commands.whitelist=*", "admin.enableServer=false", ...settings],
    ...(isObserver ? ["peerType=observer"] : []),
  ];
  writeFileSync(join(own, "zoo.cfg"), lastSettings(config));
  writeFileSync(join(own, "logback.xml"), LOGBACK);
  const zooid = command ?? join(ROOT, "node_modules/.bin/zooid-server");
  const java = `java -Xmx${APACHE_HEAP} -cp '${own}${delimiter}${kind === "apache" ? fetchApacheJars() : ""}/*' org.apache.zookeeper.server.quorum.QuorumPeerMain`;
  writeFileSync(
    join(own, "start.sh"),
    [
      `cd '${own}' || exit 1`,
      `PATH='${join(ROOT, "node_modules/.bin")}':$PATH`,
      `setsid ${kind === "apache" ? java : zooid} '${join(own, "zoo.cfg")}' </dev/null >>server.log 2>&1 &`,
      "echo $! >pid",
      "",
    ].join("\n"),
  );
}
