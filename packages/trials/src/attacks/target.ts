import { readFileSync } from "node:fs";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Ensemble, type EnsembleServer } from "../faults/ensemble-servers.ts";
import { memoryMib } from "../figures/process-memory.ts";

const START_DEADLINE_MS = 60_000;
/** Attackers come as fast as they can: what one address may do is not what is tried. */
const SETTINGS = ["maxClientCnxns=0"];

/** What is attacked: one server, or an ensemble of three. */
export interface Target extends AsyncDisposable {
  /** Where the attack's own files stand. */
  readonly folder: string;
  /** The client port that the attack goes to. */
  readonly port: number;
  /** The client ports of all servers. */
  readonly ports: readonly number[];
  /** The processes, in the order of the ports. */
  readonly pids: readonly number[];
  /** What each process has logged since its first start, in the order of the ports. */
  logs(): readonly string[];
  /** The members; none of a server alone. */
  readonly members: readonly EnsembleServer[];
  /** Most memory that any of its processes has had since it started, in MiB. */
  peakMiB(): number;
  /** Each process that ended unasked, with the end of its log. */
  ended(): readonly string[];
  /** Ends all of it and starts it on the same data. @returns the time until it serves, in ms */
  restart(): Promise<number>;
}

export interface TargetOptions {
  /** Further lines of each zoo.cfg. */
  readonly settings?: readonly string[];
  /** Added to the environment of each process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The member of an ensemble that the attack goes to. Default a follower. */
  readonly at?: "leader" | "follower";
}

export async function startTarget(
  kind: "standalone" | "ensemble",
  folder: string,
  options: TargetOptions = {},
): Promise<Target> {
  return kind === "standalone" ? await startAlone(folder, options) : await startEnsemble(folder, options);
}

async function startAlone(folder: string, { settings = [], env = {} }: TargetOptions): Promise<Target> {
  const server = new ServerProcess({ kind: "zooid", folder, env, settings: [...SETTINGS, ...settings] });
  await server.start();
  return {
    folder,
    get port() {
      return server.port;
    },
    get ports() {
      return [server.port];
    },
    get pids() {
      return [server.pid];
    },
    logs: () => [server.log()],
    members: [],
    peakMiB: () => memoryMib(server.pid, "VmHWM"),
    ended: () => (isAlive(server.pid) ? [] : [server.logTail()]),
    async restart() {
      await server.kill();
      const startMs = performance.now();
      await server.start();
      return performance.now() - startMs;
    },
    [Symbol.asyncDispose]: () => server.kill(),
  };
}

async function startEnsemble(
  folder: string,
  { settings = [], env = {}, at = "follower" }: TargetOptions,
): Promise<Target> {
  const ports = await freePorts(9);
  const ensemble = await Ensemble.create({
    ...{ folder, env, serverCount: 3, tickMs: 2000, syncLimit: 5, settings: [...SETTINGS, ...settings] },
    places: [0, 3, 6].map((at) => {
      const [clientPort = 0, quorumPort = 0, electionPort = 0] = ports.slice(at);
      const host = "127.0.0.1";
      return { clientHost: host, clientPort, peerHost: host, quorumPort, electionPort, prefix: [] };
    }),
  });
  await ensemble.start(START_DEADLINE_MS);
  const leader = await ensemble.leader();
  const attacked = ensemble.servers.find((server) => (server === leader) === (at === "leader")) as EnsembleServer;
  return {
    folder,
    port: attacked.port,
    ports: ensemble.servers.map((server) => server.port),
    get pids() {
      return ensemble.servers.map((server) => server.pid);
    },
    logs: () => ensemble.servers.map((server) => server.log()),
    members: ensemble.servers,
    peakMiB: () => Math.max(...ensemble.servers.map(({ pid }) => memoryMib(pid, "VmHWM"))),
    ended: () =>
      ensemble.servers
        .filter((server) => !server.isRunning)
        .map((server) => `server ${server.sid}: ${server.state}\n${server.logTail()}`),
    async restart() {
      await Promise.all(ensemble.servers.map((server) => server.end("SIGKILL")));
      const startMs = performance.now();
      await ensemble.start(START_DEADLINE_MS);
      return performance.now() - startMs;
    },
    [Symbol.asyncDispose]: () => ensemble[Symbol.asyncDispose](),
  };
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
