import type { ServerId } from "@zooid/model";
import { ClientActions } from "../clients/actions.ts";
import { ClientConnections } from "../clients/connections.ts";
import { Errands } from "../clients/errands.ts";
import { ClientReplies } from "../clients/replies.ts";
import { SimClient } from "../clients/sim-client.ts";
import { Tenant, tenantAddress, tenantShareCount } from "../clients/tenant.ts";
import { Cluster } from "../cluster/cluster.ts";
import { Network } from "../cluster/network.ts";
import { Prng, ZeroRandom } from "../cluster/prng.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import type { SimServer } from "../cluster/server.ts";
import { WatchBound } from "../invariants/bounds.ts";
import { Checker } from "../invariants/client-answers.ts";
import { FeatureLevelInvariants } from "../invariants/feature-levels.ts";
import { Invariants } from "../invariants/invariants.ts";
import { Reaping } from "../invariants/reaping.ts";
import { SessionInvariants } from "../invariants/sessions.ts";
import { Shares } from "../invariants/shares.ts";
import { Stamps } from "../invariants/stamps.ts";
import { asViolation, type Violation } from "../invariants/violation.ts";
import { Windows } from "../invariants/windows.ts";
import { History } from "../model/history.ts";
import { ConfigurationFiles } from "./configuration-files.ts";
import { CoverageCounts } from "./coverage.ts";
import { Observations } from "./observations.ts";
import { type Plan, serverOptionsOf, verifierOf } from "./plan.ts";
import { RestoredStates } from "./restored-states.ts";
import { Trace } from "./trace.ts";
import type { Transfers } from "./transfers.ts";
import { Versions } from "./versions.ts";

/** The observations that a driver adds to those of a run. */
export interface RunHooks {
  /** After each step of a server that is up, and after the checks. */
  stepped?(server: SimServer): void;
  crashed?(sid: ServerId): void;
  /** A server failed. @returns whether this was planned */
  failed?(server: SimServer, error: unknown): boolean;
  /**
   * Another process, or a check, learned something of a server: a client's request or its answer,
   * or a commit.
   */
  visible?(sid: ServerId): void;
}

/** The counts of a run for its report. */
export interface RunCounts {
  steps: number;
  faults: number;
  crashes: number;
  expiries: number;
  logSteps: number;
}

/**
 * The parts of one checked run: a cluster, its clients, the model that they are compared with, and
 * everything that is checked.
 */
export class Run {
  readonly plan: Plan;
  /** Every random stream is forked from it by name. */
  readonly root: Prng;
  /** Decides what no stream of its own decides: when a server comes back, for instance. */
  readonly random: Prng;
  readonly cluster: Cluster;
  readonly files: ConfigurationFiles;
  readonly versions: Versions;
  readonly trace: Trace;
  readonly coverage: CoverageCounts = new CoverageCounts();
  readonly history: History;
  readonly checker: Checker;
  readonly invariants: Invariants;
  readonly sessionChecks: SessionInvariants = new SessionInvariants();
  readonly reaping: Reaping = new Reaping();
  readonly stamps: Stamps = new Stamps();
  /** Undefined where there are no hostile tenants. */
  readonly shares: Shares | undefined;
  readonly watchBound: WatchBound;
  /** Undefined where all servers are of one version. */
  readonly levels: FeatureLevelInvariants | undefined;
  /** Undefined where windows have their usual size. */
  readonly windows: Windows | undefined;
  readonly clients: readonly SimClient[];
  readonly connections: ClientConnections;
  readonly replies: ClientReplies;
  readonly actions: ClientActions;
  readonly errands: Errands;
  readonly restores: RestoredStates = new RestoredStates(this);
  /** Since the last fault ended; undefined before. */
  transfers: Transfers | undefined;
  readonly counts: RunCounts = { steps: 0, faults: 0, crashes: 0, expiries: 0, logSteps: 0 };
  hooks: RunHooks = {};
  violation: Violation | undefined;

  /** @param lines receives the transcript; undefined: there is none */
  constructor(plan: Plan, lines: string[] | undefined) {
    this.plan = plan;
    this.root = new Prng(plan.seed);
    this.random = this.root.fork("world");
    const shuffle = (name: string): Prng => (plan.isShuffled ? this.root.fork(name) : new ZeroRandom());
    const scheduler = new Scheduler(shuffle("ties"));
    const verifier = verifierOf(plan);
    this.shares = plan.tenants > 0 ? new Shares(plan.limits.heldBytesMax, tenantShareCount(plan.tenants)) : undefined;
    this.watchBound = new WatchBound(plan.limits);
    this.windows = plan.windowBytes === undefined ? undefined : new Windows(plan.windowBytes);
    this.trace = new Trace(scheduler, lines);
    this.history = new History(plan.limits);
    this.history.hasLevels = plan.levels.size > 0;
    this.checker = new Checker(this.history);
    this.invariants = new Invariants(
      verifier,
      this.coverage,
      (zxid) => this.restores.committed(zxid),
      plan.members?.clients,
    );
    this.files = new ConfigurationFiles(plan);
    this.versions = new Versions(plan);
    this.levels = !this.versions.areUsed
      ? undefined
      : new FeatureLevelInvariants({
          coverage: this.coverage,
          isCommitted: (zxid) => this.invariants.isCommitted(zxid),
          hasKnown: (sid, level) => this.versions.hasKnown(sid, level),
          levelOfData: (sid) => {
            const level = this.invariants.isWiped(sid) ? 0 : this.cluster.levelOf(sid);
            return level === 0 ? undefined : level;
          },
        });
    this.cluster = new Cluster({
      voters: plan.voters,
      observers: [...plan.observers, ...plan.joiners],
      verifier,
      scheduler,
      network: new Network(scheduler, shuffle("network"), plan),
      disk: plan,
      randomOf: (sid, life) => this.root.fork(`server-${sid}-${life}`),
      serverOptions: (sid) => serverOptionsOf(plan, sid, this.files.of(sid), this.versions.of(sid)),
      watcher: new Observations(this),
    });
    this.clients = clientsOf(plan, this.root);
    this.connections = new ClientConnections(this);
    this.replies = new ClientReplies(this);
    this.actions = new ClientActions(this);
    this.errands = new Errands(this);
    if (plan.groups !== undefined) this.coverage.reached("hierarchical quorum");
    if (plan.electionAlg === 0) this.coverage.reached("basic election");
    if (plan.isStandalone) this.coverage.reached("ensemble of one");
  }

  get nowMs(): number {
    return this.cluster.nowMs;
  }

  after(delayMs: number, run: () => void): void {
    this.cluster.after(delayMs, run);
  }

  /** Runs one event, unless it is due later. @returns whether there was one */
  step(untilMs: number): boolean {
    const isDue = this.cluster.scheduler.runNext(untilMs);
    if (isDue) this.counts.steps++;
    return isDue;
  }

  /** Runs a driver's part of the run; whatever it throws is the run's violation. */
  guard(drive: () => void): void {
    try {
      drive();
    } catch (error) {
      this.violation ??= asViolation(error);
    }
    if (this.violation !== undefined) this.trace.say("world", `VIOLATION ${this.violation.message}`);
  }
}

function clientsOf(plan: Plan, root: Prng): readonly SimClient[] {
  const { hasAcls, isContended, syncShare } = plan.manners;
  const workload = {
    hasNodeKinds: plan.hasNodeKinds,
    hasLongTxns: plan.hasShortTurns,
    hasAcls,
    isContended,
    syncShare,
  };
  const ordinary = Array.from({ length: plan.clients }, (_, i) => {
    const address = `127.0.0.${i + 1}`;
    const identity = plan.manners.hasAcls ? { identity: `user-${i % 2}:secret` } : {};
    return new SimClient(`c${i + 1}`, root.fork(`client-${i}`), { ...workload, address, ...identity });
  });
  const tenants = Array.from({ length: plan.tenants }, (_, i) => {
    const random = root.fork(`tenant-${i}`);
    const tenant = new Tenant(random.fork("attacks"), plan.limits);
    return new SimClient(`t${i + 1}`, random, { address: tenantAddress(i, plan.tenants), tenant });
  });
  return [...ordinary, ...tenants];
}
