import {
  HierarchicalQuorum,
  MajorityQuorum,
  type QuorumVerifier,
  type ServerId,
  serverId,
  type WeightedVoter,
} from "@zooid/model";
import { DEFAULT_LIMITS, drawLimits, type Limits } from "../cluster/limits.ts";
import { Prng } from "../cluster/prng.ts";

/** What can break. Each has a stream of chance of its own: to leave one out does not reshuffle the others. */
export const FAULTS = [
  "crash",
  "crash-loop",
  "crash-all",
  "crash-at-flip",
  "pause",
  "reset",
  "partition",
  "one-way",
  "bridge",
  "ring",
  "swizzle",
  "half-open",
  "clog",
  "slow-disk",
  "sync-failure",
  "full-disk",
  "wipe",
  "fold",
  "clock-step",
  "hand-over",
  "cut-clients",
  "stale-leader",
  "crash-at-slice",
] as const;

export type Fault = (typeof FAULTS)[number];

/** Faults by their names, with commas between them. */
export function faultNames(text: string): readonly Fault[] {
  return text.split(",").map((name) => {
    const fault = FAULTS.find((each) => each === name);
    if (fault === undefined) throw new RangeError(`there is no fault "${name}", there are ${FAULTS.join(", ")}`);
    return fault;
  });
}

/** How often each happens when a seed has drawn it: the mean time between two of them, in virtual milliseconds. */
const MEAN_MS: Readonly<Record<Fault, number>> = {
  crash: 3000,
  "crash-loop": 8000,
  "crash-all": 9000,
  "crash-at-flip": 3000,
  pause: 4000,
  reset: 1500,
  partition: 5000,
  "one-way": 4000,
  bridge: 7000,
  ring: 7000,
  swizzle: 8000,
  "half-open": 4000,
  clog: 3000,
  "slow-disk": 4000,
  "sync-failure": 6000,
  "full-disk": 7000,
  wipe: 6000,
  fold: 1200,
  "clock-step": 3000,
  "hand-over": 4000,
  "cut-clients": 3000,
  "stale-leader": 7000,
  "crash-at-slice": 3000,
};

/**
 * A share of it is more than what an ordinary client adds in a run, and a quarter of it is more than what tenants have in flight, which a leader
 * does not count.
 */
const HELD_BYTES_MIN = 500_000;

/** Whether sessions begin as ones that their server alone knows, and whether such a one is replicated when it needs an ephemeral. */
export type SessionMode = "replicated" | "local" | "upgrading";

/** The mode of that name. */
export function sessionMode(name: string): SessionMode {
  if (name === "replicated" || name === "local" || name === "upgrading") return name;
  throw new RangeError(`there are no sessions "${name}", there are replicated, local and upgrading ones`);
}

/** Everything that a seed decides before anything runs. */
export interface Plan {
  readonly seed: number;
  readonly voters: readonly ServerId[];
  readonly observers: readonly ServerId[];
  /** Groups and weights, for a hierarchical quorum. */
  readonly groups: readonly WeightedVoter[] | undefined;
  /** One server that is the ensemble, without an election. */
  readonly isStandalone: boolean;
  readonly electionAlg: 0 | 3;
  readonly clients: number;
  /** Whether clients create containers and TTL nodes too. */
  readonly hasNodeKinds: boolean;
  readonly sessions: SessionMode;
  /** Clients that ask for as much as they can. */
  readonly tenants: number;
  /** What servers do in one piece and refuse beyond. */
  readonly limits: Limits;
  /** Whether a turn may end while a transaction is applied in part, and while more is due to be applied. */
  readonly hasShortTurns: boolean;
  readonly thinkMs: number;
  /** Whether chance decides over what is due at once, over what arrives together and when a turn ends. */
  readonly isShuffled: boolean;
  readonly delayMsMin: number;
  readonly delayMsMax: number;
  readonly syncMsMin: number;
  readonly syncMsMax: number;
  readonly counterMax: number | undefined;
  readonly windowBytes: number | undefined;
  readonly runBytes: number | undefined;
  /** Mean time between two of a kind. */
  readonly faults: ReadonlyMap<Fault, number>;
  readonly faultsFromMs: number;
  readonly faultsUntilMs: number;
  /** Crash at this step of a log (each hand-over to a disk and each sync counts), once. */
  readonly crashAtLogStep: number | undefined;
}

/** What is left out of a plan, to find the smallest that still fails; or chosen, for a test. */
export interface PlanChanges {
  readonly without?: readonly Fault[];
  /** No other faults than these. */
  readonly only?: readonly Fault[];
  readonly voters?: number;
  readonly observers?: number;
  readonly clients?: number;
  readonly faultsUntilMs?: number;
  readonly crashAtLogStep?: number;
  readonly isStandalone?: boolean;
  readonly hasNodeKinds?: boolean;
  readonly hasSmallLimits?: boolean;
  readonly sessions?: SessionMode;
  readonly tenants?: number;
}

/** What a seed means. */
export function planOf(seed: number, changes: PlanChanges = {}): Plan {
  const chance = new Prng(seed).fork("plan");
  const drawnVoters = chance.pick([1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5, 6, 7]);
  const drawnObservers = chance.chance(0.3) ? 1 + chance.below(2) : 0;
  const voterCount = changes.voters ?? drawnVoters;
  const observerCount = changes.observers ?? drawnObservers;
  const voters = Array.from({ length: voterCount }, (_, i) => serverId(i + 1));
  const observers = Array.from({ length: observerCount }, (_, i) => serverId(voterCount + i + 1));
  const isHierarchical = chance.chance(0.2);
  const weights = Array.from({ length: 8 }, () => chance.below(8));
  const drawnStandalone = chance.chance(0.5);
  const isStandalone = voterCount === 1 && (changes.isStandalone ?? drawnStandalone);
  const electionAlg = chance.chance(0.15) ? 0 : 3;
  const clients = changes.clients ?? 2 + chance.below(4);
  const thinkMs = chance.pick([60, 120, 250]);
  const delay = chance.pick([
    [0.1, 1],
    [0.1, 5],
    [1, 20],
    [0.05, 60],
  ] as const);
  const sync = chance.pick([
    [0.05, 0.5],
    [0.2, 4],
    [1, 30],
    [0.1, 150],
  ] as const);
  const counterMax = chance.chance(0.2) ? 3 + chance.below(60) : undefined;
  // Entry by entry takes a history of some hundred too long where a sync takes its time.
  const isSlow = sync[1] > 10 || delay[1] > 10;
  const drawnWindow = chance.chance(0.3) ? 1 + chance.below(600) : undefined;
  const drawnRun = chance.chance(0.3) ? 1 + chance.below(300) : undefined;
  const windowBytes = isSlow && drawnWindow !== undefined ? 2000 + drawnWindow : drawnWindow;
  const runBytes = isSlow && drawnRun !== undefined ? 500 + drawnRun : drawnRun;
  const faultsFromMs = chance.chance(0.3) ? 0 : 1500;
  const faults = new Map<Fault, number>();
  const zeal = chance.pick([0.7, 1, 1, 2]);
  for (const fault of FAULTS) {
    const isDrawn = chance.chance(fault === "wipe" ? 0.25 : 0.4);
    const meanMs = (MEAN_MS[fault] * (0.4 + (chance.next() / 2 ** 32) * 1.6)) / zeal;
    if (!isDrawn || changes.without?.includes(fault) === true) continue;
    if (changes.only !== undefined && !changes.only.includes(fault)) continue;
    faults.set(fault, meanMs);
  }
  const limits = new Prng(seed).fork("limits");
  const drawnSmallLimits = limits.chance(0.6);
  const hasSmallLimits = changes.hasSmallLimits ?? drawnSmallLimits;
  const sessions = new Prng(seed).fork("sessions");
  const drawnSessions = sessions.chance(0.25) ? (sessions.chance(0.8) ? "upgrading" : "local") : "replicated";
  const tenancy = new Prng(seed).fork("tenants");
  const drawnTenants = tenancy.chance(0.2) ? 1 + tenancy.below(2) : 0;
  const tenants = changes.tenants ?? drawnTenants;
  const drawnLimits = hasSmallLimits ? drawLimits(limits) : DEFAULT_LIMITS;
  return {
    seed,
    voters,
    observers: isStandalone ? [] : observers,
    groups: isHierarchical && voterCount > 1 ? groupsOf(voters, weights) : undefined,
    isStandalone,
    electionAlg,
    clients,
    // A stream of its own: seeds mean what they meant before there were such nodes.
    hasNodeKinds: changes.hasNodeKinds ?? new Prng(seed).fork("kinds").chance(0.5),
    sessions: isStandalone ? "replicated" : (changes.sessions ?? drawnSessions),
    tenants,
    limits: tenants === 0 ? drawnLimits : withTenants(drawnLimits, HELD_BYTES_MIN + tenancy.below(300_000)),
    hasShortTurns: hasSmallLimits,
    thinkMs,
    isShuffled: true,
    delayMsMin: delay[0],
    delayMsMax: delay[1],
    syncMsMin: sync[0],
    syncMsMax: sync[1],
    counterMax,
    windowBytes,
    runBytes,
    faults,
    faultsFromMs,
    faultsUntilMs: changes.faultsUntilMs ?? 20_000,
    crashAtLogStep: changes.crashAtLogStep,
  };
}

export function verifierOf({ voters, groups }: Plan): QuorumVerifier {
  return groups === undefined ? new MajorityQuorum(voters) : new HierarchicalQuorum(groups);
}

/** Sessions of tenants have so many ephemerals that their ends would take too long one by one. */
function withTenants(limits: Limits, heldBytesMax: number): Limits {
  const { closeOpCountMax, closePathBytesMax } = limits;
  return { ...limits, heldBytesMax, closeOpCountMax: closeOpCountMax * 10, closePathBytesMax: closePathBytesMax * 60 };
}

/** Up to three groups; now and then a voter without weight, but never a group of none but such. */
function groupsOf(voters: readonly ServerId[], weights: readonly number[]): readonly WeightedVoter[] {
  const groupCount = voters.length >= 5 ? 3 : 1;
  return voters.map((sid, i) => ({
    sid,
    group: i % groupCount,
    weight: i < groupCount || (weights[i] ?? 1) > 0 ? 1 + ((weights[i] ?? 0) % 2) : 0,
  }));
}
