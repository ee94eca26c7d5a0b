import { knowsLevel, type LevelRange, type ServerId, ZXID_NONE } from "@zooid/model";
import type { RoleContext } from "../role.ts";
import type { LeaderEpoch } from "./epoch.ts";
import type { LearnerHandler } from "./learner-handler.ts";
import type { Learners } from "./learners.ts";

/** A configured member, and the feature levels that its version knows. */
export interface MemberLevels {
  readonly sid: ServerId;
  readonly isObserver: boolean;
  /** Undefined while it does not follow: the version that it comes back with is not known. */
  readonly levels: LevelRange | undefined;
  /** Undefined also where it does not say. */
  readonly version: string | undefined;
  /** It follows, and has the history on its disk as far as the last raise of the level. */
  readonly isSynced: boolean;
}

/** The part of a leader that is used. */
interface LevelledLeader {
  readonly context: RoleContext;
  readonly epoch: LeaderEpoch;
  readonly learners: Learners;
}

/** The versions that are in use before feature levels, which do not say so. */
const FIRST_LEVEL: LevelRange = { lowest: 1, highest: 1 };

/** The feature levels of the leader and its learners, by the configuration in force. */
export class Levels {
  readonly #leader: LevelledLeader;

  constructor(leader: LevelledLeader) {
    this.#leader = leader;
  }

  /**
   * Every member of the configuration in force, and of a change that is under way: voters and
   * observers, connected or not, this server among them.
   */
  get members(): readonly MemberLevels[] {
    const { config, members } = this.#leader.context;
    const configured = new Map<ServerId, boolean>();
    for (const known of [members.lastSeen, members.committed]) {
      for (const { sid, isObserver } of known?.servers ?? []) configured.set(sid, isObserver);
    }
    // Without a configuration there are the voters, and the observers that come.
    if (configured.size === 0) {
      for (const learner of this.#leader.learners.values()) configured.set(learner.sid, learner.isObserver);
      for (const sid of members.verifier.voters) configured.set(sid, false);
    }
    configured.set(config.sid, configured.get(config.sid) ?? false);
    return Array.from(configured, ([sid, isObserver]) => this.#of(sid, isObserver)).sort((a, b) => a.sid - b.sid);
  }

  #of(sid: ServerId, isObserver: boolean): MemberLevels {
    const { config, level, log } = this.#leader.context;
    // 1. The level is raised to 2, and S3 does not have that on its disk yet. It is raised to 3.
    // 2. S3 crashes. Its data are at level 1, which its version does not know any more.
    const last = level.raise.zxid;
    if (sid === config.sid) {
      const isSynced = log.durable.tail.zxid >= last;
      return { sid, isObserver, levels: config.levels, version: config.version, isSynced };
    }
    for (const learner of this.#leader.learners.values()) {
      if (learner.sid !== sid) continue;
      const isSynced = learner.phase === "synced" && learner.acked >= last;
      return { sid, isObserver, levels: levelsOf(learner), version: learner.info.version, isSynced };
    }
    return { sid, isObserver, levels: undefined, version: undefined, isSynced: false };
  }

  /**
   * The level that the ensemble is founded at: the lowest of its founders' highest ones. Undefined
   * where anything was written.
   */
  get founding(): number | undefined {
    const { context, epoch, learners } = this.#leader;
    if (epoch.history.zxid !== ZXID_NONE || context.level.raise.level > 1) return undefined;
    const highest = Array.from(learners.values(), (learner) => levelsOf(learner).highest);
    return Math.min(context.config.levels.highest, ...highest);
  }

  /** The level was raised: learners that do not know it get nothing of what follows. */
  raised(): void {
    const { context, learners } = this.#leader;
    const { level } = context.level.raise;
    for (const learner of [...learners.values()]) {
      const levels = levelsOf(learner);
      // rule: a-learner-knows-the-level
      if (!knowsLevel(levels, level)) {
        learners.refuse(learner, "level", { kind: "learners-level", sid: learner.sid, level, levels });
      }
    }
  }
}

export function levelsOf({ info }: Pick<LearnerHandler, "info">): LevelRange {
  return info.levels ?? FIRST_LEVEL;
}
