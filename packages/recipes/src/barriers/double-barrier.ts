/**
 * All members begin together and end together: Curator's DistributedDoubleBarrier, on the same
 * znodes.
 *
 *     <path>/<uuid>   a member, ephemeral
 *     <path>/ready    all members have entered; exists until the last one has left
 *
 * A leaving member waits until all have left: the one with the lowest name waits for the highest,
 * all others delete their nodes first and wait for the others of their round. Rounds may follow
 * each other on one path; a `ready` node that was left behind by a crash lets the next round pass
 * at once.
 */

import type { Client, Created } from "@zooid/client";
import {
  ArgumentError,
  checkArgument,
  joinPath,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  type Zxid,
} from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { deleteOwnNode, deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { LossAlarm, unlessAborted } from "../leases/waiting.ts";
import { isContender } from "../locks/child-names.ts";
import { changed } from "../locks/lock-queue.ts";
import { defaultData } from "../nodes/default-data.ts";
import { makeNamed, namesBelow } from "../nodes/named-node.ts";
import { watchedNode } from "../nodes/refusals.ts";
import { RecipeError } from "../recipe-error.ts";

const READY = "ready";

export interface DoubleBarrierOptions {
  /** Number of members required to continue. All clients of the path must agree. */
  readonly members: number;
}

const SHAPE: Shape<DoubleBarrierOptions> = shape<DoubleBarrierOptions>({ members: wholeNumberRule(1) });

/** Members that begin together and end together. */
export class DoubleBarrier {
  readonly path: string;
  readonly #zk: Client;
  readonly #members: number;
  readonly #ready: string;
  /**
   * The member's node name; a new one for each entry, since the deletion of an earlier node may
   * come late.
   */
  #name = "";
  /** From the beginning of `enter` until it fails, or `leave` has ended. */
  #isMember = false;
  /**
   * No node that was created after this belongs to the member's round. Known since `enter`, as the
   * member's node may be gone when it leaves, and others in the next round by then.
   */
  #until: Zxid | undefined;

  constructor(zk: Client, path: string, options: DoubleBarrierOptions) {
    checkArguments("DoubleBarrier", zk, path, options, SHAPE, ["members"]);
    const { members } = options;
    this.#zk = zk;
    this.path = path;
    this.#members = members;
    this.#ready = joinPath(path, READY);
  }

  /**
   * Waits until all members have entered.
   *
   * @throws LOCK_TIMEOUT or the signal's reason, whereupon this client is no member; BARRIER_BROKEN
   *   when its node is gone; an ArgumentError if it has entered and not left: each member has an
   *   object of its own
   */
  async enter(options: WaitOptions = {}): Promise<void> {
    if (this.#isMember) {
      const problem = `the member on ${this.path} has entered: it leaves before it enters again, and each member has an object of its own`;
      throw new ArgumentError("DoubleBarrier", [problem]);
    }
    this.#isMember = true;
    this.#until = undefined;
    try {
      await this.#enter(options);
    } catch (error) {
      this.#isMember = false;
      throw error;
    }
  }

  async #enter(options: WaitOptions): Promise<void> {
    using deadline = new Deadline(options, `enter ${this.path}`);
    const { signal } = deadline;
    let isIn = false;
    try {
      // A late member finds `ready` and continues at once.
      const isLate = (await this.#zk.exists(this.#ready, { signal })) !== null;
      const { stat } = await this.#join(signal);
      if (!isLate) await this.#waitForAll(stat.ephemeralOwner, signal);
      // What this session has seen is older than its end, and so than the next round.
      this.#until = stat.ephemeralOwner === this.#zk.sessionId ? this.#zk.lastZxid : stat.czxid;
      isIn = true;
    } finally {
      if (!isIn && this.#name !== "") deleteOwnNodeLater(this.#zk, this.#mine);
    }
  }

  /**
   * Waits until all members of its round have left. Members of a later round are not waited for,
   * also where this member's node is gone, as after the loss of its session.
   *
   * @throws LOCK_TIMEOUT or the signal's reason, whereupon this member has left all the same
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    using deadline = new Deadline(options, `leave ${this.path}`);
    const { signal } = deadline;
    try {
      while (!(await this.#isLeft(signal))) {
        // A member has left, or the session was lost: check again.
      }
      await this.#deleteReady(signal);
    } catch (error) {
      if (this.#name !== "") deleteOwnNodeLater(this.#zk, this.#mine);
      throw error;
    } finally {
      this.#isMember = false;
    }
  }

  /** Runs work between entering and leaving. */
  async run<T>(work: () => T | Promise<T>, options: WaitOptions = {}): Promise<T> {
    checkArgument(`run ${this.path}`, "the work", work, rules.callable);
    await this.enter(options);
    try {
      return await work();
    } finally {
      await this.leave(options);
    }
  }

  get #mine(): string {
    return joinPath(this.path, this.#name);
  }

  async #join(signal: AbortSignal): Promise<Created> {
    for (;;) {
      this.#name = crypto.randomUUID();
      const made = await makeNamed(this.#zk, {
        path: this.#mine,
        data: defaultData(this.#zk),
        mode: "ephemeral",
        signal,
      });
      // Null: created by a session that has ended since.
      if (made !== null) return made;
    }
  }

  async #waitForAll(owner: bigint, signal: AbortSignal): Promise<void> {
    for (;;) {
      using loss = new LossAlarm(this.#zk);
      const { stat, watch } = await this.#zk.exists(this.#ready, { watch: true, signal });
      using _ = watch;
      if (stat !== null) return;
      const names = await this.#namesOfMembers(signal);
      if (!names.includes(this.#name) || owner !== this.#zk.sessionId) throw this.#broken();
      if (names.length >= this.#members) {
        await makeNamed(this.#zk, { path: this.#ready, data: defaultData(this.#zk), mode: "persistent", signal });
        return;
      }
      const event = await unlessAborted(Promise.race([watch.fired, loss.rung.then(() => null)]), signal);
      if (event?.type !== "created") continue;
      // All had entered, though some may have left again by now. An event moves no `lastZxid`: the
      // answer to a read shows a zxid after which no node of this round was created.
      await this.#zk.exists(this.#ready, { signal });
      return;
    }
  }

  /** True when no other member is left; else waits for one step towards that. */
  async #isLeft(signal: AbortSignal): Promise<boolean> {
    const names = await this.#namesOfMembers(signal);
    const isIn = names.includes(this.#name);
    // As long as this member's node exists, no member can have begun the next round.
    if (isIn || this.#until === undefined) this.#until = this.#zk.lastZxid;
    const until = this.#until;
    const [lowest, highest] = [names[0], names.at(-1)];
    if (isIn && lowest === this.#name && highest !== undefined) {
      if (highest !== lowest) await changed(this.#zk, joinPath(this.path, highest), signal);
      else await deleteOwnNode(this.#zk, this.#mine);
      return highest === lowest;
    }
    if (isIn) await deleteOwnNode(this.#zk, this.#mine);
    for (const name of names) {
      if (name !== this.#name && (await this.#waitFor(name, until, signal))) return false;
    }
    return true;
  }

  /** Not that of the next round, which may be complete without this member. */
  async #deleteReady(signal: AbortSignal): Promise<void> {
    const stat = await this.#zk.exists(this.#ready, { signal });
    if (stat === null || (this.#until !== undefined && stat.czxid > this.#until)) return;
    await this.#zk.delete(this.#ready, { guaranteed: true, missingOk: true, signal });
  }

  /** Waits until a member of this round leaves. @returns false if there is none of that name */
  async #waitFor(name: string, until: Zxid, signal: AbortSignal): Promise<boolean> {
    using loss = new LossAlarm(this.#zk);
    const node = await watchedNode(this.#zk, joinPath(this.path, name), signal);
    if (node === null) return false;
    using watch = node.watch;
    // A member of the next round, maybe of the same name: kazoo and Curator keep theirs.
    if (node.stat.czxid > until) return false;
    await unlessAborted(Promise.race([watch.fired, loss.rung]), signal);
    return true;
  }

  /** Ordered by name, which is the same for all members. */
  async #namesOfMembers(signal: AbortSignal): Promise<readonly string[]> {
    const names = await namesBelow(this.#zk, this.path, signal);
    return names.filter((name) => isContender(name, "barrier-member"));
  }

  #broken(): RecipeError {
    return new RecipeError(
      "BARRIER_BROKEN",
      `${this.path}: this member's node is gone, with its session or deleted by another client`,
    );
  }
}
