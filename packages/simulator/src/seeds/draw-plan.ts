import { type Members, parseMembers, type ServerId, serverId, type WeightedVoter } from "@zooid/model";
import { tenantShareCount } from "../clients/tenant.ts";
import { DEFAULT_LIMITS, type Limits } from "../cluster/limits.ts";
import { Prng } from "../cluster/prng.ts";
import { DRAWN_APART, FAULTS, type Fault, MEAN_MS } from "../faults/fault-names.ts";
import type { Plan, SessionMode } from "../runs/plan.ts";
import { LEVEL_MAX } from "../runs/versions.ts";
import { drawLimits } from "./draw-limits.ts";
import { drawManners, PLAIN_MANNERS } from "./draw-manners.ts";

/**
 * A share of it is more than an ordinary client adds in a run, and a quarter of it is more than
 * tenants have in flight, which a leader does not count.
 */
const HELD_BYTES_MIN = 500_000;

/** Drawn only where the configuration changes. */
const CHANGES: ReadonlySet<Fault> = new Set(["reconfig", "crash-at-change"]);

const IS_DRAWN_APART: ReadonlySet<Fault> = new Set(DRAWN_APART);

/** Only some runs lose disks. */
const DISK_LOSSES: ReadonlySet<Fault> = new Set([
  ...(["wipe", "damaged-log", "wipe-beside-stale-leader", "disks-not-mounted"] as const),
]);

/** The session mode with this name. */
export function sessionMode(name: string): SessionMode {
  if (name === "replicated" || name === "local" || name === "upgrading") return name;
  throw new RangeError(`unknown session mode "${name}": expected replicated, local or upgrading`);
}

/** The parts of a plan that are left out, to shrink a failure, or chosen in place of the seed's. */
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
  /** Whether the ensemble's configuration changes. */
  readonly isChangeable?: boolean;
  /** Whether operators change the members in files. */
  readonly hasFiles?: boolean;
  /**
   * Whether operators restore states of the past: only where this is asked for, so that other seeds
   * keep their meaning.
   */
  readonly hasRestores?: boolean;
  /** Whether the ensemble is founded without clients, and opened to them: as `hasRestores`. */
  readonly hasClosedClients?: boolean;
  /** Whether servers change their versions, and the feature level is raised: as `hasRestores`. */
  readonly hasLevels?: boolean;
  /** Clients do nothing out of the ordinary. */
  readonly hasPlainManners?: boolean;
}

/** Draws a plan from a seed. */
export function planOf(seed: number, changes: PlanChanges = {}): Plan {
  const random = new Prng(seed).fork("plan");
  const drawnVoters = random.pick([1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 5, 6, 7]);
  const drawnObservers = random.chance(0.3) ? 1 + random.below(2) : 0;
  const voterCount = changes.voters ?? drawnVoters;
  const observerCount = changes.observers ?? drawnObservers;
  const voters = Array.from({ length: voterCount }, (_, i) => serverId(i + 1));
  const observers = Array.from({ length: observerCount }, (_, i) => serverId(voterCount + i + 1));
  const isHierarchical = random.chance(0.2);
  const weights = Array.from({ length: 8 }, () => random.below(8));
  const drawnStandalone = random.chance(0.5);
  const isStandalone = voterCount === 1 && (changes.isStandalone ?? drawnStandalone);
  const electionAlg = random.chance(0.15) ? 0 : 3;
  const clients = changes.clients ?? 2 + random.below(4);
  const thinkMs = random.pick([60, 120, 250]);
  const delay = random.pick([
    [0.1, 1],
    [0.1, 5],
    [1, 20],
    [0.05, 60],
  ] as const);
  const sync = random.pick([
    [0.05, 0.5],
    [0.2, 4],
    [1, 30],
    [0.1, 150],
  ] as const);
  const counterMax = random.chance(0.2) ? 3 + random.below(60) : undefined;
  // On slow disks a history of some hundred entries would take too long entry by entry.
  const isSlow = sync[1] > 10 || delay[1] > 10;
  const drawnWindow = random.chance(0.3) ? 1 + random.below(600) : undefined;
  const drawnRun = random.chance(0.3) ? 1 + random.below(300) : undefined;
  const windowBytes = isSlow && drawnWindow !== undefined ? 2000 + drawnWindow : drawnWindow;
  const runBytes = isSlow && drawnRun !== undefined ? 500 + drawnRun : drawnRun;
  const faultsFromMs = random.chance(0.3) ? 0 : 1500;
  const faults = new Map<Fault, number>();
  const zeal = random.pick([0.7, 1, 1, 2]);
  for (const fault of FAULTS) {
    if (IS_DRAWN_APART.has(fault)) continue;
    const isDrawn = random.chance(DISK_LOSSES.has(fault) ? 0.25 : 0.4);
    const meanMs = (MEAN_MS[fault] * (0.4 + (random.next() / 2 ** 32) * 1.6)) / zeal;
    if (!isDrawn || changes.without?.includes(fault) === true) continue;
    if (changes.only !== undefined && !changes.only.includes(fault)) continue;
    faults.set(fault, meanMs);
  }
  const limits = new Prng(seed).fork("limits");
  const drawnSmallLimits = limits.chance(0.6);
  const hasSmallLimits = changes.hasSmallLimits ?? drawnSmallLimits;
  const sessions = new Prng(seed).fork("sessions");
  const drawnSessions = sessions.chance(0.25) ? (sessions.chance(0.8) ? "upgrading" : "local") : "replicated";
  const drawnManners = drawManners(new Prng(seed).fork("manners"));
  const batches = new Prng(seed).fork("batches");
  const tenancy = new Prng(seed).fork("tenants");
  const drawnTenants = tenancy.chance(0.2) ? 1 + tenancy.below(2) : 0;
  const crowds = new Prng(seed).fork("crowds");
  // A crowd where there would be no hostile tenant: seeds with one or two keep their meaning.
  const drawnCrowd = drawnTenants === 0 && crowds.chance(0.05) ? 6 + crowds.below(7) : drawnTenants;
  const hasRestores = changes.hasRestores === true;
  // The model takes the transactions of tenants over as they are, and has no past of them.
  const hasLevels = changes.hasLevels === true;
  const tenants = hasRestores || hasLevels ? 0 : (changes.tenants ?? drawnCrowd);
  const drawnLimits = hasSmallLimits ? drawLimits(limits) : DEFAULT_LIMITS;
  const groups = isHierarchical && voterCount > 1 ? groupsOf(voters, weights) : undefined;
  const changing = new Prng(seed).fork("members");
  const drawnChangeable = changing.chance(0.3);
  const joinerCount = changing.below(4);
  const isClosed = changes.hasClosedClients === true && !isStandalone && groups === undefined;
  const isChangeable = !isStandalone && groups === undefined && (changes.isChangeable ?? drawnChangeable);
  const hasWritableFiles = changing.chance(0.5);
  if (!isChangeable) for (const fault of CHANGES) faults.delete(fault);
  const filing = new Prng(seed).fork("files");
  const drawnFiles = filing.chance(isChangeable ? 0.3 : 0.4);
  const drawnEarlier = filing.chance(0.3);
  const fileMeanMs = MEAN_MS["edit-files"] * (0.4 + (filing.next() / 2 ** 32) * 1.6);
  // Nothing else than a configuration says that clients are closed.
  const needsFiles = isClosed && !isChangeable;
  const hasFiles = !isStandalone && groups === undefined && (needsFiles || (changes.hasFiles ?? drawnFiles));
  const joiners = Array.from({ length: joinerCount }, (_, i) => serverId(voterCount + observerCount + i + 1));
  const all = [...voters, ...observers, ...(isChangeable || hasFiles ? joiners : [])];
  const fileServers = hasFiles ? all.filter(() => !isChangeable || filing.chance(0.5)) : [];
  const isMeant = (fault: Fault): boolean =>
    changes.without?.includes(fault) !== true && (changes.only === undefined || changes.only.includes(fault));
  if (hasFiles && isMeant("edit-files")) faults.set("edit-files", fileMeanMs);
  const earlierServers =
    hasFiles && !isChangeable && drawnEarlier && !hasLevels && !isClosed && isMeant("upgrade")
      ? [...voters, ...observers]
      : [];
  if (earlierServers.length > 0) faults.set("upgrade", fileMeanMs);
  const oldDisks = new Prng(seed).fork("old disks");
  const drawnOldDisk = oldDisks.chance(0.3) || changes.only?.includes("old-disk") === true;
  // Nothing else than a configuration names the disks that count, and earlier versions read no
  // names.
  if (drawnOldDisk && (isChangeable || hasFiles) && earlierServers.length === 0 && isMeant("old-disk")) {
    faults.set("old-disk", MEAN_MS["old-disk"] * (0.4 + (oldDisks.next() / 2 ** 32) * 1.6));
  }
  if (hasRestores && isMeant("restore")) faults.set("restore", MEAN_MS.restore);
  for (const fault of ["open", "close"] as const) if (isClosed && isMeant(fault)) faults.set(fault, MEAN_MS[fault]);
  const versions = new Prng(seed).fork("versions");
  const firstLevel = 1 + versions.below(LEVEL_MAX);
  const levels = new Map(
    hasLevels ? all.map((sid) => [sid, versions.chance(0.85) ? firstLevel : Math.max(1, firstLevel - 1)]) : [],
  );
  for (const fault of ["version", "finalize"] as const) {
    if (hasLevels && isMeant(fault)) faults.set(fault, MEAN_MS[fault]);
  }
  return {
    seed,
    voters,
    observers: isStandalone ? [] : observers,
    members:
      isChangeable || hasFiles
        ? { ...membersWith(voters, observers), clients: isClosed ? "closed" : "open" }
        : undefined,
    fileServers,
    earlierServers,
    levels,
    hasWritableFiles,
    joiners: isChangeable || hasFiles ? joiners : [],
    groups,
    isStandalone,
    electionAlg,
    clients,
    // From a stream of its own: seeds keep the meaning that they had before these nodes existed.
    hasNodeKinds: hasLevels || (changes.hasNodeKinds ?? new Prng(seed).fork("kinds").chance(0.5)),
    sessions: isStandalone || hasRestores ? "replicated" : (changes.sessions ?? drawnSessions),
    tenants,
    limits: tenants === 0 ? drawnLimits : withTenants(drawnLimits, heldBytesMaxWith(tenants) + tenancy.below(300_000)),
    hasShortTurns: hasSmallLimits,
    manners: {
      ...(changes.hasPlainManners === true ? PLAIN_MANNERS : drawnManners),
      ...(hasLevels ? { hasAcls: true } : {}),
    },
    batchBytesMax: changes.hasPlainManners !== true && batches.chance(0.3) ? 1 + batches.below(2000) : undefined,
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

/** The lines of servers, of which only ids and roles mean anything here. */
export function memberLine(sid: ServerId, isObserver: boolean): string {
  return `server.${sid}=h${sid}:${2000 + sid}:${3000 + sid}:${isObserver ? "observer" : "participant"};${4000 + sid}`;
}

/** A configuration of files. */
export function membersWith(voters: readonly ServerId[], observers: readonly ServerId[]): Members {
  const lines = [...voters.map((sid) => memberLine(sid, false)), ...observers.map((sid) => memberLine(sid, true))];
  return parseMembers(lines.join("\n"));
}

/**
 * Others keep as many bytes of the last quarter, which is shared out, however many shares tenants
 * have, and however much is in flight.
 */
function heldBytesMaxWith(tenants: number): number {
  return HELD_BYTES_MIN * Math.max(1, tenants / 2) * (3 / (4 - tenantShareCount(tenants)));
}

/**
 * Ending the sessions of tenants one by one would take too long: each has thousands of ephemerals.
 */
function withTenants(limits: Limits, heldBytesMax: number): Limits {
  const { closeOpCountMax, closePathBytesMax } = limits;
  return { ...limits, heldBytesMax, closeOpCountMax: closeOpCountMax * 10, closePathBytesMax: closePathBytesMax * 60 };
}

/** Up to three groups; some voters have no weight, but each group has a voter with weight. */
function groupsOf(voters: readonly ServerId[], weights: readonly number[]): readonly WeightedVoter[] {
  const groupCount = voters.length >= 5 ? 3 : 1;
  return voters.map((sid, i) => ({
    sid,
    group: i % groupCount,
    weight: i < groupCount || (weights[i] ?? 8) > 2 ? 1 + ((weights[i] ?? 0) % 2) : 0,
  }));
}
