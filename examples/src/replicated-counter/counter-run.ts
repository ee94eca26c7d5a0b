import { MajorityQuorum, type QuorumVerifier, type ServerId, serverId } from "@zooid/model";
import { type DiskImage, Network, Prng, Scheduler } from "@zooid/simulator";
import { CounterServer, type CounterWorld } from "./counter-server.ts";

const SIDS: readonly ServerId[] = [1, 2, 3].map(serverId);
const FAULTS_MS = 20_000;
const CALM_MS = 20_000;
const ELECTION_MS = 300;
const EVERY_MS = 10;

/** The outcome of a run. */
export interface CounterReport {
  readonly acknowledged: number;
  readonly crashes: number;
  readonly partitions: number;
  /** The value of every counter at the end. */
  readonly total: number;
}

/**
 * Three counters under crashes and partitions, then calm. The seed determines the run.
 *
 * @throws Error when an acknowledged increment is lost, or the counters are not the same
 */
export class CounterRun {
  readonly #random: Prng;
  readonly #scheduler: Scheduler;
  readonly #network: Network;
  readonly #servers = new Map<ServerId, CounterServer>();
  readonly #disks = new Map<ServerId, DiskImage>();
  readonly #world: CounterWorld;
  readonly #acknowledged = new Set<number>();
  #lives = 0;
  #increments = 0;
  #crashes = 0;
  #partitions = 0;

  /** @param verifier default: the majority of the three */
  constructor(seed: number, verifier: QuorumVerifier = new MajorityQuorum(SIDS)) {
    this.#random = new Prng(seed);
    this.#scheduler = new Scheduler(this.#random.fork("ties"));
    const delays = { delayMsMin: 1, delayMsMax: 20 };
    this.#network = new Network(this.#scheduler, this.#random.fork("network"), delays);
    const looks = (): void => this.#scheduler.after(ELECTION_MS, () => this.#elect());
    this.#world = { scheduler: this.#scheduler, network: this.#network, verifier, looks };
  }

  run(): CounterReport {
    for (const sid of SIDS) this.#start(sid);
    this.#increment();
    this.#break();
    while (this.#scheduler.runNext(FAULTS_MS + CALM_MS)) {
      // On to the next event.
    }
    return this.#check();
  }

  #start(sid: ServerId): void {
    const random = this.#random.fork(`server-${sid}-${++this.#lives}`);
    this.#servers.set(sid, new CounterServer(sid, this.#disks.get(sid), random, this.#world));
  }

  /**
   * A simple election, which is only a hint: it decides how soon a server leads, not what is
   * delivered.
   */
  #elect(): void {
    const servers = [...this.#servers.values()].filter(({ isUp }) => isUp);
    if (servers.length < 2) return;
    const best = servers.toSorted((a, b) => compare(b.history, a.history))[0];
    const leader = servers.find(({ isLeading }) => isLeading) ?? best;
    if (leader === undefined) return;
    if (leader.isLooking) leader.lead();
    for (const server of servers) if (server !== leader && server.isLooking) server.follow(leader.sid);
  }

  /** A client that sends each increment to the leader. */
  #increment(): void {
    this.#scheduler.after(EVERY_MS, () => {
      const leader = [...this.#servers.values()].find(({ isUp, isLeading }) => isUp && isLeading);
      const number = ++this.#increments;
      leader?.increment(number, () => this.#acknowledged.add(number));
      if (this.#scheduler.nowMs < FAULTS_MS + CALM_MS / 2) this.#increment();
    });
  }

  /** From time to time a server crashes, or is isolated from the others, for a while. */
  #break(): void {
    this.#scheduler.after(this.#random.below(1000), () => {
      if (this.#scheduler.nowMs >= FAULTS_MS) return;
      const sid = this.#random.pick(SIDS);
      if (this.#random.chance(0.5)) this.#crash(sid, this.#random.below(2000));
      else this.#cut(sid, this.#random.below(3000));
      this.#break();
    });
  }

  #crash(sid: ServerId, forMs: number): void {
    const server = this.#servers.get(sid);
    if (server?.isUp !== true) return;
    this.#disks.set(sid, server.crash());
    this.#crashes++;
    this.#scheduler.after(forMs, () => this.#start(sid));
  }

  #cut(sid: ServerId, forMs: number): void {
    const others = SIDS.filter((other) => other !== sid);
    this.#partitions++;
    for (const other of others) for (const [a, b] of bothWays(sid, other)) this.#network.block(a, b);
    this.#scheduler.after(forMs, () => {
      for (const other of others) for (const [a, b] of bothWays(sid, other)) this.#network.unblock(a, b);
    });
  }

  #check(): CounterReport {
    const counters = [...this.#servers.values()].map(({ sid, applied }) => ({ sid, applied }));
    const [first] = counters;
    if (first === undefined) throw new Error("there are no servers");
    for (const { sid, applied } of counters) {
      const lost = [...this.#acknowledged].filter((number) => !applied.includes(number));
      if (lost.length > 0) throw new Error(`server ${sid} has lost acknowledged increments: ${lost.join(", ")}`);
      if (applied.join() !== first.applied.join()) throw new Error(`servers ${first.sid} and ${sid} differ`);
    }
    const { size: acknowledged } = this.#acknowledged;
    return { acknowledged, crashes: this.#crashes, partitions: this.#partitions, total: first.applied.length };
  }
}

function bothWays(a: ServerId, b: ServerId): readonly (readonly [ServerId, ServerId])[] {
  return [
    [a, b],
    [b, a],
  ];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}
