import {
  HierarchicalQuorum,
  type KnownLevels,
  MajorityQuorum,
  type Members,
  type QuorumVerifier,
  type ServerId,
  type WeightedVoter,
} from "@zooid/model";
import type { Limits } from "../cluster/limits.ts";
import type { ServerOptions } from "../cluster/server-options.ts";
import type { Fault } from "../faults/fault-names.ts";

/**
 * Whether sessions are replicated from the start or local to their server, and whether a local one
 * is upgraded for an ephemeral.
 */
export type SessionMode = "replicated" | "local" | "upgrading";

/** The acts of ordinary clients in a run besides ordinary requests. */
export interface Manners {
  /**
   * They have one of two identities, restrict who changes a node, and meet the restrictions of
   * others.
   */
  readonly hasAcls: boolean;
  /** They create and delete ephemerals at few paths, and close their sessions often. */
  readonly isContended: boolean;
  /** They often disconnect before an answer, and connect to another server at once. */
  readonly isRestless: boolean;
  /** When they connect again, they restore their watches with setWatches. */
  readonly restoresWatches: boolean;
  /** Percentage of requests that are further syncs. */
  readonly syncShare: number;
  /** Renewals in a thousand that have a wrong password. */
  readonly wrongPasswordShare: number;
  /** The session timeouts that they ask for. */
  readonly timeoutsMs: readonly number[];
}

/** Everything that a seed decides before anything runs. */
export interface Plan {
  readonly seed: number;
  readonly voters: readonly ServerId[];
  readonly observers: readonly ServerId[];
  /** The first configuration, where it changes during the run; else undefined. */
  readonly members: Members | undefined;
  /**
   * Servers whose operators edit the members in their files, and restart them; the others change
   * them by requests.
   */
  readonly fileServers: readonly ServerId[];
  /**
   * Servers that begin as ones of version 0.1.0, which count by their files, and are upgraded one
   * after another.
   */
  readonly earlierServers: readonly ServerId[];
  /**
   * The highest feature level that the first version of each server knows; empty where all servers
   * are of one version.
   */
  readonly levels: ReadonlyMap<ServerId, number>;
  /** Whether servers write a new configuration to their files, which outlast their disks. */
  readonly hasWritableFiles: boolean;
  /** Servers that are in no configuration at first. */
  readonly joiners: readonly ServerId[];
  /** Groups and weights, for a hierarchical quorum. */
  readonly groups: readonly WeightedVoter[] | undefined;
  /** One server without an election. */
  readonly isStandalone: boolean;
  readonly electionAlg: 0 | 3;
  readonly clients: number;
  /** Whether clients create containers and TTL nodes too. */
  readonly hasNodeKinds: boolean;
  readonly sessions: SessionMode;
  /** How many hostile tenants there are. */
  readonly tenants: number;
  /** The work of servers in one turn, and the limits above which they refuse requests. */
  readonly limits: Limits;
  /**
   * Whether a turn may end while a transaction is applied in part, and while more is due to be
   * applied.
   */
  readonly hasShortTurns: boolean;
  /** How ordinary clients behave. */
  readonly manners: Manners;
  /** Bytes from which a leader's batch is full; undefined: never. */
  readonly batchBytesMax: number | undefined;
  readonly thinkMs: number;
  /**
   * Whether the order of simultaneous events, the messages that arrive together and the ends of
   * turns are random.
   */
  readonly isShuffled: boolean;
  readonly delayMsMin: number;
  readonly delayMsMax: number;
  readonly syncMsMin: number;
  readonly syncMsMax: number;
  readonly counterMax: number | undefined;
  readonly windowBytes: number | undefined;
  readonly runBytes: number | undefined;
  /** The mean time between two faults of a kind. */
  readonly faults: ReadonlyMap<Fault, number>;
  readonly faultsFromMs: number;
  readonly faultsUntilMs: number;
  /** Crash once, at this step of a log: each sync counts. */
  readonly crashAtLogStep: number | undefined;
}

export function verifierOf({ voters, groups }: Plan): QuorumVerifier {
  return groups === undefined ? new MajorityQuorum(voters) : new HierarchicalQuorum(groups);
}

/**
 * The options of each of the plan's servers.
 *
 * @param members the configuration in the server's files; undefined for one that counts by the
 *   plan's
 * @param levels that the server's version knows; undefined where all are of one version
 */
export function serverOptionsOf(
  plan: Plan,
  sid: ServerId,
  members: Members | undefined,
  levels?: KnownLevels,
): Partial<ServerOptions> {
  const { electionAlg, isStandalone, isShuffled, limits, hasShortTurns, sessions } = plan;
  const { counterMax, windowBytes, runBytes, batchBytesMax } = plan;
  return {
    electionAlg,
    standalone: isStandalone,
    takesMembersFromFiles: plan.fileServers.includes(sid),
    refused: members === undefined ? plan.joiners : [],
    ensemble: {
      localSessions: sessions !== "replicated",
      localSessionsUpgrading: sessions === "upgrading",
      ...(members === undefined ? {} : { members }),
    },
    ...(levels === undefined ? {} : { levels }),
    isSteady: !isShuffled,
    limits,
    hasShortTurns,
    sessionTimeoutMsMax: Math.max(...plan.manners.timeoutsMs),
    ...(batchBytesMax === undefined ? {} : { batchBytesMax }),
    ...(counterMax === undefined || isStandalone ? {} : { counterMax }),
    ...(windowBytes === undefined ? {} : { windowBytes }),
    ...(runBytes === undefined ? {} : { runBytes }),
  };
}
