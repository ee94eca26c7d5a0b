import type { DiskRoom, LinkRef, ServerId, StandbyReport, Zxid } from "@zooid/model";
import type { PeerConfig } from "./config.ts";
import type { FencedLog } from "./fenced-log.ts";
import type { Founding } from "./founding.ts";
import type { KnownLevel } from "./known-level.ts";
import type { KnownMembers } from "./known-members.ts";
import type { LostHistory } from "./lost-history.ts";
import type { RoleEnd } from "./operator-events.ts";
import type { AllSinks } from "./sinks.ts";

/** How far a role has come: the phases of the paper. */
export type PeerPhase = "election" | "discovery" | "synchronization" | "broadcast";

/** The calls that a leader and a learner have in common. */
export interface Role {
  readonly phase: PeerPhase;
  /** 0 until the role's epoch is known. */
  readonly epochNumber: number;
  begin(): void;
  linkClosed(link: LinkRef, detail: string): void;
  tick(): void;
  nextDueMs(): number;
  /**
   * The facts that are known of other servers have changed: whether an ensemble may be founded
   * beside them.
   */
  foundingChanged(): void;
  /** Every link is closed and nothing is kept. */
  end(reason: RoleEnd): void;
}

/** The peer, as its role sees it. */
export interface RoleContext {
  readonly config: PeerConfig;
  readonly members: KnownMembers;
  readonly level: KnownLevel;
  readonly sinks: AllSinks;
  readonly log: FencedLog;
  readonly lostHistory: LostHistory;
  readonly founding: Founding;
  /** Whether quorums count this server: it has all that it ever promised and acked. */
  readonly isCounted: boolean;
  /**
   * A voter has promised this epoch to another leader: an epoch that all can follow lies above it.
   */
  readonly epochToExceed: number;
  mustExceed(epoch: number): void;
  /** Entries up to here are committed: a change among them comes into force. */
  commitMembers(through: Zxid): void;
  /** The log gets a change of the configuration next: the one before it is committed. */
  changeFollows(): void;
  nowMs(): number;
  /** On this server's disk. */
  room(): DiskRoom;
  /** The state of another ensemble that this server has ready, or has taken over. */
  standby(): StandbyReport | undefined;
  /** Ends the role. Nothing of it may be used afterwards. */
  leave(reason: RoleEnd): void;
  /** Ends the role in favour of another leader, without an election. */
  leaveTo(successor: ServerId): void;
  /** The server cannot continue. */
  fail(reason: string): never;
}
