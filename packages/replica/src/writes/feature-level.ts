import { clearTxnOp, knowsLevel, OpCode, type TxnOp, type Zxid } from "@zooid/model";
import type { MemberLevels } from "@zooid/zab";
import type { GroundParts } from "../parts/ground.ts";

/** A member that keeps the feature level from being raised. */
export interface LevelBlocker extends MemberLevels {
  /**
   * - `absent`: it does not follow, so that its version is not known
   * - `not-synced`: it follows, and does not have the history yet
   * - `older`: its version does not know the level
   */
  readonly reason: "absent" | "not-synced" | "older";
}

/** The feature level, and whether a higher one can be raised. Of the leader. */
export interface LevelStatus {
  /** In force. */
  readonly level: number;
  /** An entry raises the level to this one, and is not known to be committed yet. */
  readonly raising: number | undefined;
  /** The highest level that any member knows. */
  readonly highest: number;
  readonly members: readonly MemberLevels[];
  /** Members that keep the level from being raised to `highest`; none where it is in force. */
  readonly blockers: readonly LevelBlocker[];
}

/** The outcome of an operator's request to raise the level. */
export type RaiseAnswer =
  | { readonly kind: "proposed"; readonly level: number; readonly from: number }
  /** The highest level that the members know is in force. */
  | { readonly kind: "in-force"; readonly level: number }
  | { readonly kind: "under-way"; readonly level: number }
  | { readonly kind: "blocked"; readonly level: number; readonly blockers: readonly LevelBlocker[] }
  | { readonly kind: "not-leading" }
  /** A large multi is being prepared, or the members change: the operator asks again. */
  | { readonly kind: "busy" };

/** Requests that become transactions of other operations. */
const OF_OTHER_OPS: ReadonlySet<number> = new Set([OpCode.MULTI, OpCode.RECONFIG]);

/**
 * The feature level: what may be written. It is raised by an entry of the log, which the leader
 * proposes for an operator once each configured member follows and knows the level, and which is in
 * force once it is committed. It is never lowered.
 */
export class FeatureLevel {
  readonly #parts: GroundParts;
  /** A raise that is prepared, and not proposed yet. */
  #prepared: Zxid | undefined;

  constructor(parts: GroundParts) {
    this.#parts = parts;
  }

  /** Whether an operation of a client's request may not become a transaction yet. */
  lacks(op: number): boolean {
    const { config, zab } = this.#parts;
    const needed = config.levels.opLevels.get(op) ?? (OF_OTHER_OPS.has(op) ? 1 : Number.POSITIVE_INFINITY);
    // rule: no-entry-above-the-level-in-force
    return needed > 1 && needed > zab.level;
  }

  /** Undefined at a server that does not lead. */
  status(): LevelStatus | undefined {
    const { servingState, zab } = this.#parts;
    const members = zab.memberLevels();
    if (members === undefined || !servingState.isLeading) return undefined;
    const { level, levelRaise } = zab;
    const highest = Math.max(level, ...members.map(({ levels }) => levels?.highest ?? 0));
    const isRaising = levelRaise.level > level || this.#prepared !== undefined;
    return {
      level,
      raising: isRaising ? Math.max(levelRaise.level, highest) : undefined,
      highest,
      members,
      blockers: highest === level ? [] : members.flatMap((member) => blockerOf(member, highest)),
    };
  }

  /** Whether an operator may raise the level now, and to which one. */
  mayRaise(): RaiseAnswer {
    const status = this.status();
    if (status === undefined) return { kind: "not-leading" };
    const { level: from, raising, highest: level, blockers } = status;
    if (raising !== undefined) return { kind: "under-way", level: raising };
    if (level === from) return { kind: "in-force", level };
    // 1. S3 is down, and of the version before. S1 and S2 raise the level.
    // 2. S3 comes back, and cannot follow any more: the operator has lost a member.
    // rule: each-member-knows-the-level
    if (blockers.length > 0) return { kind: "blocked", level, blockers };
    return { kind: "proposed", level, from };
  }

  /** Fills `op` with the raise, which the transaction of that zxid carries. */
  prepare(level: number, zxid: Zxid, op: TxnOp): void {
    clearTxnOp(op, OpCode.RAISE_LEVEL);
    op.version = level;
    this.#prepared = zxid;
    this.#parts.zab.expectRaise(true);
  }

  /** The raise of that zxid is in the log. */
  logged(zxid: Zxid): void {
    if (this.#prepared === zxid) this.#prepared = undefined;
  }

  /** The leadership has ended: what is prepared is not proposed any more. */
  discard(): void {
    this.#prepared = undefined;
    this.#parts.zab.expectRaise(false);
  }
}

function blockerOf(member: MemberLevels, level: number): readonly LevelBlocker[] {
  const { levels, isSynced } = member;
  if (levels === undefined) return [{ ...member, reason: "absent" }];
  if (!knowsLevel(levels, level)) return [{ ...member, reason: "older" }];
  return isSynced ? [] : [{ ...member, reason: "not-synced" }];
}
