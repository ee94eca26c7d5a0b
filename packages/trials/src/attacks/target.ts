import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Ensemble, EnsembleServer } from "../faults/ensemble-servers.ts";
import { memoryMib } from "../figures/process-memory.ts";

const START_DEADLINE_MS = 60_000;
/** Attackers come as fast as they can: what one address may do is not what is tried. */
const SETTINGS = ["maxClientCnxns=0"];

/** The target of attacks: one server, or an ensemble of three. */
export class Target implements AsyncDisposable {
  /** Where the attack's own files stand. */
  readonly folder: string;
  readonly #servers: readonly (ServerProcess | EnsembleServer)[];
  readonly #attacked: ServerProcess | EnsembleServer;
  readonly #start: () => Promise<void>;

  constructor(
    folder: string,
    servers: readonly (ServerProcess | EnsembleServer)[],
    attacked: ServerProcess | EnsembleServer,
    start: () => Promise<void>,
  ) {
    this.folder = folder;
    this.#servers = servers;
    this.#attacked = attacked;
    this.#start = start;
  }

  /** The client port that the attack goes to. */
  get port(): number {
    return this.#attacked.port;
  }

  /** The client ports of all servers. */
  get ports(): readonly number[] {
    return this.#servers.map(({ port }) => port);
  }

  /** The processes, in the order of the ports. */
  get pids(): readonly number[] {
    return this.#servers.map(({ pid }) => pid);
  }

  /** The members; none of a server alone. */
  get members(): readonly EnsembleServer[] {
    return this.#servers.filter((server) => server instanceof EnsembleServer);
  }

  /** The logs of each process since its first start, in the order of the ports. */
  logs(): readonly string[] {
    return this.#servers.map((server) => server.log());
  }

  /** Most memory that any of its processes has had since it started, in MiB. */
  peakMiB(): number {
    return Math.max(...this.pids.map((pid) => memoryMib(pid, "VmHWM")));
  }

  /** Each process that ended unasked, with the end of its log. */
  ended(): readonly string[] {
    return this.#servers
      .filter(({ isRunning }) => !isRunning)
      .map((server) => `the server at port ${server.port} ${server.state}\n${server.logTail()}`);
  }

  /** Ends all of it and starts it on the same data. @returns the time until it serves, in ms */
  async restart(): Promise<number> {
    await this[Symbol.asyncDispose]();
    const startMs = performance.now();
    await this.#start();
    return performance.now() - startMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()));
  }
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
  return new Target(folder, [server], server, () => server.start());
}

async function startEnsemble(
  folder: string,
  { settings = [], env = {}, at = "follower" }: TargetOptions,
): Promise<Target> {
  const ports = await freePorts(9);
  const ensemble = await Ensemble.create({
    folder,
    env,
    serverCount: 3,
    tickMs: 2000,
    syncLimit: 5,
    settings: [...SETTINGS, ...settings],
    places: [0, 3, 6].map((at) => {
      const [clientPort = 0, quorumPort = 0, electionPort = 0] = ports.slice(at);
      const host = "127.0.0.1";
      return { clientHost: host, clientPort, peerHost: host, quorumPort, electionPort, prefix: [] };
    }),
  });
  await ensemble.start(START_DEADLINE_MS);
  const leader = await ensemble.leader();
  const attacked = ensemble.servers.find((server) => (server === leader) === (at === "leader")) as EnsembleServer;
  return new Target(folder, ensemble.servers, attacked, () => ensemble.start(START_DEADLINE_MS));
}
