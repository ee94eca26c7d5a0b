import type { ServerId } from "@zooid/model";
import type { PeerConfig } from "./config.ts";
import type { FencedLog } from "./fenced-log.ts";
import type { RoleEnd } from "./operator-events.ts";
import type { AllSinks } from "./sinks.ts";

/** How far a role has come: the phases of the paper. */
export type PeerPhase = "election" | "discovery" | "synchronization" | "broadcast";

/** What a role stands on: the peer that it is a role of. */
export interface RoleContext {
  readonly config: PeerConfig;
  readonly sinks: AllSinks;
  readonly log: FencedLog;
  /** No epoch was ever held here. */
  readonly isFresh: boolean;
  /** What was promised or acked here may be forgotten: it has no voice. */
  readonly isAmnesiac: boolean;
  /** A voter was heard of that has promised this epoch elsewhere: one that all can follow lies above it. */
  readonly epochToExceed: number;
  mustExceed(epoch: number): void;
  nowMs(): number;
  /** Ends the role. Nothing of it may be used afterwards. */
  leave(reason: RoleEnd): void;
  /** Its history is not the leader's: it asks for all of it. */
  readonly hasDiverged: boolean;
  /** Ends the role in favour of another leader, without an election. */
  leaveTo(successor: ServerId): void;
  /** This server's disk is not what it was: it has no voice until a leader has brought it level. */
  lostThePast(): void;
  /** The same, and what it has cannot be built upon. */
  diverged(): void;
  /** A leader whose quorums are complete without this server has brought it level: it has a voice again. */
  foundThePast(): void;
  /** The server cannot go on. */
  fail(reason: string): never;
}
