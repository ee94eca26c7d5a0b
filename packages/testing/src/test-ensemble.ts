import type { Client, Transport } from "@zooid/client";
import { ArgumentError, found, type ServerId, serverId } from "@zooid/model";
import { Prng, Scheduler } from "@zooid/simulator";
import type { ClientLink } from "./client-link.ts";
import { VirtualDeadlineError } from "./deadline-error.ts";
import { EnsembleClients, type TestClientOptions } from "./ensemble-clients.ts";
import type { EnsembleEvent, ServerStatus } from "./events.ts";
import {
  checkFit,
  checkMs,
  checkWork,
  type DurationRange,
  FAULT,
  type FaultDuration,
  isRange,
  parseOptions,
  RUN,
  type RunOptions,
  rangeProblem,
  type TestEnsembleOptions,
} from "./options.ts";
import { Partitions } from "./partitions.ts";
import { type RandomFaultOptions, RandomFaults } from "./random-faults.ts";
import { SimulatedServers } from "./simulated-servers.ts";
import { checkFree, VirtualGlobals } from "./virtual-globals.ts";
import { VirtualTime } from "./virtual-time.ts";

/** How often a condition is looked at, in virtual milliseconds. */
const POLL_MS = 5;
const CLOSE_MS = 60_000;

/**
 * A ZooKeeper ensemble for tests: simulated servers and networks, the real client and recipes, in
 * this process and on virtual time. While it is open, this process's timers, clocks, `Math.random`
 * and `randomUUID` are virtual too.
 *
 * Virtual time passes only inside of {@link run}, and as fast as the processor allows: when
 * everything that could happen now has happened, the next event comes at once. So equal seeds give
 * equal runs.
 */
export class TestEnsemble implements AsyncDisposable {
  readonly seed: number;
  /** The events so far: servers' and clients' states, and faults. */
  readonly events: readonly EnsembleEvent[];
  readonly #deadlineMs: number;
  readonly #diskSync: DurationRange;
  readonly #random: Prng;
  readonly #root: Prng;
  readonly #time: VirtualTime;
  readonly #globals: VirtualGlobals;
  readonly #servers: SimulatedServers;
  readonly #clients: EnsembleClients;
  readonly #partitions: Partitions;
  readonly #record: (event: EnsembleEvent) => void;
  #defect: { readonly error: unknown } | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TestEnsembleOptions) {
    const config = parseOptions(options);
    checkFree();
    const { seed, startTimeMs } = config;
    const events: EnsembleEvent[] = [];
    this.seed = seed;
    this.events = events;
    this.#deadlineMs = config.deadlineMs;
    this.#diskSync = config.diskSync;
    this.#root = new Prng(seed);
    this.#random = this.#root.fork("world");
    this.#time = new VirtualTime(new Scheduler(this.#root.fork("ties")));
    this.#record = (event) => void events.push(event);
    this.#servers = new SimulatedServers({
      time: this.#time,
      config,
      root: this.#root,
      random: this.#random,
      watcher: {
        changed: (server, status) => this.#record({ atMs: this.nowMs, kind: "server", server, status }),
        failed: (error) => this.#fail(error),
      },
    });
    this.#clients = new EnsembleClients(this.#servers, () => this.nowMs, this.#record);
    this.#partitions = new Partitions(this.#servers, this.#clients);
    this.#globals = new VirtualGlobals(this.#time, { seed, startTimeMs, random: this.#root.fork("clients") });
  }

  /**
   * Starts an ensemble, and waits until it serves.
   *
   * @throws ArgumentError that lists every problem of the options; Error where another ensemble of
   *   this process is open, or fake timers are installed
   */
  static async start(options: TestEnsembleOptions = {}): Promise<TestEnsemble> {
    const ensemble = TestEnsemble.begin(options);
    try {
      await ensemble.settle();
      return ensemble;
    } catch (error) {
      await ensemble.close();
      throw error;
    }
  }

  /** Like {@link start}, without waiting: no virtual time has passed yet, and no server serves. */
  static begin(options: TestEnsembleOptions = {}): TestEnsemble {
    return new TestEnsemble(options);
  }

  /** Starts an ensemble, {@link run}s the work with it, and closes it. */
  static async run<T>(options: TestEnsembleOptions, work: (ensemble: TestEnsemble) => T | PromiseLike<T>): Promise<T> {
    checkWork("TestEnsemble.run", work);
    const ensemble = await TestEnsemble.start(options);
    try {
      return await ensemble.run(() => work(ensemble));
    } finally {
      await ensemble.close();
    }
  }

  // Time

  /**
   * Virtual milliseconds since the ensemble was begun; what `performance.now()` gives meanwhile.
   */
  get nowMs(): number {
    return this.#time.nowMs;
  }

  /**
   * Lets virtual time pass until the work is settled. Runs may stand in each other and side by
   * side.
   *
   * @throws what the work throws; {@link VirtualDeadlineError} after the deadline, which says what
   *   waits; what a server or a timer's callback throws meanwhile
   */
  async run<T>(work: () => T | PromiseLike<T>, options: RunOptions = {}): Promise<T> {
    checkWork("run", work);
    checkFit("run", options, RUN);
    if (this.#defect !== undefined) throw this.#defect.error;
    const { deadlineMs = this.#deadlineMs, name = "run" } = options;
    return this.#time.run(work, deadlineMs, () => this.#late(name, deadlineMs));
  }

  /** Lets virtual time pass. */
  async sleep(ms: number): Promise<void> {
    checkMs("sleep", "the time", ms);
    const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
    return this.run(pause, { deadlineMs: ms + 1, name: `sleep(${ms})` });
  }

  /**
   * Lets virtual time pass until a condition holds.
   *
   * @param condition looked at every few virtual milliseconds, once the answer before is there
   * @param given `name`: what is waited for, in the error at the deadline
   */
  async until(condition: () => boolean | PromiseLike<boolean>, given: RunOptions = {}): Promise<void> {
    checkWork("until", condition);
    checkFit("until", given, RUN);
    const { name: what = "the condition of until()", ...options } = given;
    const wait = async (): Promise<void> => {
      while (!(await condition())) await new Promise((resolve) => void setTimeout(resolve, POLL_MS));
    };
    return this.run(wait, { ...options, name: what });
  }

  /**
   * Waits until one server leads, every running server that it reaches serves and has applied what
   * the leader has, and servers that it does not reach have noticed; and until every client is
   * connected that was made by {@link connect} and is not closed or behind a fault of its own.
   */
  settle(): Promise<void> {
    return this.until(() => this.#servers.isSettled && this.#clients.isSettled, { name: "settle()" });
  }

  /**
   * Stops virtual time until work that needs the real world is settled: files, sockets, other
   * processes.
   */
  async real<T>(work: () => T | PromiseLike<T>): Promise<T> {
    checkWork("real", work);
    return this.#time.real(work);
  }

  // Clients

  /** Names every server; what follows the last one may be a chroot. */
  get connectString(): string {
    return this.#servers.connectString;
  }

  /** A client with a session. */
  connect(options: TestClientOptions = {}): Promise<Client> {
    return this.run(() => this.#clients.connect(options), { name: `connect(${options.name ?? ""})` });
  }

  /**
   * For code that makes its client itself:
   * `connect(ensemble.connectString, { transport: ensemble.transport("worker") })`.
   *
   * @param name for {@link link} and other faults; each client needs a transport of its own
   */
  transport(name: string): Transport {
    return this.#servers.transport(this.#clients.newLink(name));
  }

  /** The network between a client and the servers, to be cut, refused or frozen. */
  link(client: Client | string): ClientLink {
    return this.#clients.link(client);
  }

  /**
   * Ends a client's session at the servers, as its expiry does. The client learns of it when it
   * comes back, which it does at once unless its {@link link} is broken.
   */
  expireSession(client: Client | string): Promise<void> {
    const { name } = this.link(client);
    this.#fault(`the session of ${name} expires`);
    return this.run(() => this.#clients.expireSession(client), { name: `expireSession(${name})` });
  }

  // Servers

  /** The numbers of all servers: those that vote, then observers. */
  get servers(): readonly number[] {
    return this.#servers.cluster.sids;
  }

  /** The number of the server that leads; undefined while there is none. */
  get leader(): number | undefined {
    return this.#servers.leader;
  }

  status(server: number): ServerStatus {
    return this.#servers.status(this.#sid(server));
  }

  /**
   * Ends a server's process, as `kill -9` does. Writes that its disk has not finished are lost, or
   * some of them.
   */
  crash(server: number, duration: FaultDuration = {}): void {
    checkFit("crash", duration, FAULT);
    const { forMs } = duration;
    const sid = this.#sid(server);
    this.#fault(`server ${sid} crashes`);
    this.#servers.cluster.crash(sid);
    if (forMs !== undefined) this.#servers.cluster.startIn(sid, forMs);
  }

  /**
   * {@link crash}es the leader.
   *
   * @returns its number
   * @throws Error while no server leads
   */
  crashLeader(duration: FaultDuration = {}): number {
    const { leader } = this;
    if (leader === undefined) {
      throw new Error(
        `expected a leader to crash at ${this.nowMs.toFixed(1)} ms, found ${this.#servers.describe().join(", ")}`,
      );
    }
    this.crash(leader, duration);
    return leader;
  }

  /** Starts a server that is down, on its disk. */
  restart(server: number): void {
    const sid = this.#sid(server);
    if (this.#servers.cluster.server(sid) === undefined) this.#servers.cluster.start(sid);
  }

  /** Empties a server's disk; one that runs crashes. */
  wipe(server: number): void {
    const sid = this.#sid(server);
    this.#fault(`server ${sid} loses its disk`);
    this.#servers.cluster.wipe(sid);
  }

  /** Stops a server's process, as `SIGSTOP` does: what arrives meanwhile waits. */
  pause(server: number, duration: FaultDuration = {}): void {
    checkFit("pause", duration, FAULT);
    const { forMs } = duration;
    const sid = this.#sid(server);
    const running = this.#servers.cluster.server(sid);
    if (running === undefined) throw new Error(`expected server ${sid} to run, found it down`);
    if (running.isPaused) return;
    this.#fault(`server ${sid} is paused`);
    if (forMs === undefined) running.pause();
    else this.#servers.cluster.pause(sid, forMs);
    this.#servers.look(sid);
  }

  /** Ends {@link pause}. */
  resume(server: number): void {
    const sid = this.#sid(server);
    const running = this.#servers.cluster.server(sid);
    if (running?.isPaused === true) running.resume();
    this.#servers.look(sid);
  }

  /** Cuts a server off from all other servers; clients still reach it. */
  isolate(server: number, duration: FaultDuration = {}): void {
    checkFit("isolate", duration, FAULT);
    const { forMs } = duration;
    const sid = this.#sid(server);
    this.#fault(`server ${sid} is cut off from the other servers`);
    if (forMs !== undefined) return this.#servers.cluster.isolate(sid, forMs);
    this.#servers.block((a, b) => (a === sid) !== (b === sid));
  }

  /**
   * Divides the network into groups that do not reach each other. Servers that stand in no group
   * are a group of their own together. Clients that stand in a group reach only its servers; other
   * clients reach all.
   *
   * Packets between groups are held back, and arrive when the partition ends.
   */
  partition(groups: readonly (readonly (number | string | Client)[])[], duration: FaultDuration = {}): void {
    if (!Array.isArray(groups) || !groups.every(Array.isArray))
      throw new ArgumentError("partition", [`the groups are an array of arrays, found ${found(groups)}`]);
    checkFit("partition", duration, FAULT);
    const { forMs } = duration;
    for (const each of groups.flat()) if (typeof each === "number") this.#sid(each);
    this.#fault(`the network is divided: ${this.#partitions.describe(groups)}`);
    this.#partitions.divide(groups);
    if (forMs !== undefined) this.#time.after(forMs, () => this.#partitions.heal());
  }

  /** How long a server's disk takes to make writes durable, until {@link heal}. */
  slowDisk(server: number, sync: DurationRange): void {
    const sid = this.#sid(server);
    if (!isRange(sync)) throw new ArgumentError("slowDisk", [`the sync ${rangeProblem(sync)}`]);
    this.#fault(`the disk of server ${sid} takes ${sync.minMs} to ${sync.maxMs} ms for a sync`);
    this.#servers.cluster.setDisk(sid, { syncMsMin: sync.minMs, syncMsMax: sync.maxMs });
  }

  /** Adds latency to everything that two servers send each other, until {@link heal}. */
  slowLink(a: number, b: number, byMs: number): void {
    checkMs("slowLink", "byMs", byMs);
    const [from, to] = [this.#sid(a), this.#sid(b)];
    this.#fault(`messages between server ${from} and server ${to} take ${byMs} ms longer`);
    this.#servers.cluster.network.clog(from, to, byMs);
    this.#servers.cluster.network.clog(to, from, byMs);
  }

  /** Moves a server's wall clock, as an administrator or NTP does. */
  skewClock(server: number, byMs: number): void {
    checkMs("skewClock", "byMs", byMs);
    const sid = this.#sid(server);
    this.#fault(`the wall clock of server ${server} moves by ${byMs} ms`);
    this.#servers.cluster.skewWallClock(sid, byMs);
  }

  /**
   * Ends every fault: crashed servers start, paused ones continue, all links and disks are as at
   * the start.
   */
  heal(): void {
    this.#fault("all faults end");
    this.#partitions.heal();
    for (const link of this.#clients.links) {
      link.accept();
      link.thaw();
    }
    for (const sid of this.#servers.cluster.sids) {
      this.#servers.cluster.setDisk(sid, { syncMsMin: this.#diskSync.minMs, syncMsMax: this.#diskSync.maxMs });
      this.resume(sid);
      this.restart(sid);
    }
  }

  // By seed

  /** A whole number from 0 to `bound - 1`, by the seed. */
  below(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1)
      throw new ArgumentError("below", [`the bound is a whole number from 1 on, found ${found(bound)}`]);
    return this.#random.below(bound);
  }

  /** Begins faults at random, one after another and by the seed, until they are stopped. */
  randomFaults(options: RandomFaultOptions = {}): RandomFaults {
    return new RandomFaults(this, this.#clients.links, {
      random: this.#root.fork("faults"),
      after: (delayMs, run) => this.#time.after(delayMs, run),
      options,
    });
  }

  // End

  /**
   * Closes the clients that {@link connect} made, and stops the servers; timers and clocks are real
   * again. Closing twice is harmless.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      if (this.#defect === undefined)
        await this.run(() => this.#clients.close(), { deadlineMs: CLOSE_MS, name: "close()" });
      for (const sid of this.#servers.cluster.sids) this.#servers.cluster.crash(sid);
    } finally {
      this.#time.end();
      this.#globals.restore();
    }
  }

  #fail(error: unknown): void {
    this.#defect ??= { error };
    this.#time.fail(error);
  }

  #fault(fault: string): void {
    this.#record({ atMs: this.nowMs, kind: "fault", fault });
  }

  #late(waitsFor: string, deadlineMs: number): VirtualDeadlineError {
    const situation = [...this.#servers.describe(), ...this.#clients.describe()];
    return new VirtualDeadlineError({ waitsFor, deadlineMs, seed: this.seed, situation });
  }

  #sid(server: number): ServerId {
    if (this.servers.includes(server)) return serverId(server);
    throw new ArgumentError("server", [`expected a server from 1 to ${this.servers.length}, found ${found(server)}`]);
  }
}
