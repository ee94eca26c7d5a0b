import { type Members, type ServerId, ZXID_NONE } from "@zooid/model";
import { ANY_DISK } from "../known-members.ts";
import type { PeerPhase, RoleContext } from "../role.ts";
import type { LearnerHandler } from "./learner-handler.ts";
import type { Learners } from "./learners.ts";

/** The disks by which an ensemble counts its voters, as its leader knows them. */
export interface NamedDisks {
  /** The configuration with the disks of voters that wait to be counted; undefined without such. */
  readonly due: Members | undefined;
  /**
   * The disks that a changed configuration names: those of voters that stay, and of servers that
   * become voters, whose number may have had another disk before. One that is not there is named
   * when it comes.
   */
  of(next: Members): ReadonlyMap<ServerId, string>;
}

/** The part of a leader that is used. */
interface CountingLeader {
  readonly context: RoleContext;
  readonly learners: Learners;
  readonly phase: PeerPhase;
}

/**
 * The disks by which voters are counted. A voter that may have forgotten what it acked is counted
 * again once its disk is named by a configuration that was committed without it. From then on any
 * other disk under its number is an old one:
 *
 * 1. S2 starts while its volume is not mounted: on an empty disk, it is synchronized by S1, and
 *    acks an entry that S3, which is away, does not have.
 * 2. S1 stops, S3 returns, and S2 starts with its volume again. The entry is on neither disk.
 * 3. S3 has logged that S2 has another disk now, since the configuration needed S1 and S3. It does
 *    not count S2, and waits for S1.
 */
export class VoterDisks implements NamedDisks {
  readonly #leader: CountingLeader;

  constructor(leader: CountingLeader) {
    this.#leader = leader;
  }

  get due(): Members | undefined {
    const { committed, isChanging } = this.#leader.context.members;
    if (this.#leader.phase !== "broadcast" || committed === undefined || isChanging || !this.#areKept) return undefined;
    const { config, log } = this.#leader.context;
    const disks = new Map(committed.disks);
    if (disks.get(config.sid) === ANY_DISK) disks.set(config.sid, log.durable.identity.diskId);
    for (const learner of this.#leader.learners.values()) {
      const { diskId } = learner.info;
      if (diskId !== undefined && this.#mayName(learner)) disks.set(learner.sid, diskId);
    }
    const isSame = [...disks].every(([sid, diskId]) => committed.disks.get(sid) === diskId);
    return isSame ? undefined : { ...committed, disks };
  }

  /** Whether the disk of a voter that is not whole is named, or need not be. */
  isNamed({ isWhole, isOldDisk, sid, info }: LearnerHandler): boolean {
    const { committed, isChanging } = this.#leader.context.members;
    if (isWhole || committed?.verifier.voters.has(sid) !== true) return true;
    if (!isOldDisk && !this.#areKept) return true;
    return !isChanging && committed.disks.get(sid) === info.diskId;
  }

  /**
   * A disk that lacks a history says so until it has one: it is named before that, or it would
   * count without a name after a crash. An old one has a history: it is named once it has all of
   * it.
   */
  #mayName(learner: LearnerHandler): boolean {
    const { isWhole, isOldDisk, phase, sid } = learner;
    if (isWhole) return phase === "synced" && this.#leader.context.members.committed?.disks.get(sid) === ANY_DISK;
    return phase === (isOldDisk ? "synced" : "syncing") && !this.isNamed(learner);
  }

  of(next: Members): ReadonlyMap<ServerId, string> {
    const disks = new Map<ServerId, string>();
    const { committed } = this.#leader.context.members;
    for (const sid of next.verifier.voters) {
      const diskId = committed?.verifier.voters.has(sid) === true ? committed.disks.get(sid) : this.#diskOf(sid);
      if (diskId !== undefined) disks.set(sid, diskId);
    }
    return disks;
  }

  #diskOf(sid: ServerId): string | undefined {
    if (!this.#areKept) return undefined;
    const { config, log } = this.#leader.context;
    if (sid === config.sid) return log.durable.identity.diskId;
    for (const learner of this.#leader.learners.values()) {
      if (learner.sid === sid && learner.phase === "synced") return learner.info.diskId;
    }
    return ANY_DISK;
  }

  /**
   * Nothing is kept before a configuration was agreed on, nor beside servers that name no disks, as
   * those of version 0.1.0: they would not read it.
   */
  get #areKept(): boolean {
    const { context, learners } = this.#leader;
    if (context.members.committed === undefined || context.members.committed.version === ZXID_NONE) return false;
    for (const { info } of learners.values()) if (info.diskId === undefined) return false;
    return context.log.durable.identity.diskId !== "";
  }
}
