import type { LinkRef, PeerMessage, ServerId } from "@zooid/model";
import type { LearnerFault, LearnerRefusal, LinkEnd, RoleEnd } from "../operator-events.ts";
import type { RoleContext } from "../role.ts";
import { sendRefusal } from "../sinks.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * The learners of a leader, by link, and which of them make a quorum.
 *
 * Invariant: one link for each server. A quorum is a set of servers, so no server may be in it by
 * two links.
 */
export class Learners {
  readonly #context: RoleContext;
  readonly #changed: () => void;
  readonly #byLink = new Map<LinkRef, LearnerHandler>();

  /** @param changed learners came or went */
  constructor(context: RoleContext, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
  }

  get size(): number {
    return this.#byLink.size;
  }

  values(): IterableIterator<LearnerHandler> {
    return this.#byLink.values();
  }

  get(link: LinkRef): LearnerHandler | undefined {
    return this.#byLink.get(link);
  }

  /** Whether the learner's link still exists: completions ask before they continue. */
  isKnown(learner: LearnerHandler): boolean {
    return this.#byLink.get(learner.link) === learner;
  }

  get isEmpty(): boolean {
    return this.#byLink.size === 0;
  }

  get hasObservers(): boolean {
    for (const { isObserver } of this.#byLink.values()) if (isObserver) return true;
    return false;
  }

  /** A server's newest link replaces its earlier one. */
  add(learner: LearnerHandler): void {
    for (const other of this.#byLink.values()) {
      if (other.sid === learner.sid) this.drop(other, { kind: "superseded" });
    }
    this.#byLink.set(learner.link, learner);
    this.#changed();
  }

  /**
   * Servers that may be counted and satisfy a condition, this one among them if it may be counted.
   */
  counted(condition: (learner: LearnerHandler) => boolean): ServerId[] {
    const counted: ServerId[] = this.#context.isCounted ? [this.#context.config.sid] : [];
    for (const learner of this.#byLink.values()) {
      if (learner.isCounted && condition(learner)) counted.push(learner.sid);
    }
    return counted;
  }

  isQuorum(sids: readonly ServerId[]): boolean {
    return this.#context.members.verifier.isQuorum(sids);
  }

  send(learner: LearnerHandler, message: PeerMessage): void {
    this.#context.sinks.links.send(learner.link, message);
  }

  /** A server that is no learner of this leader yet. */
  refuseLink(link: LinkRef, why: LearnerRefusal, reason: "unable" | "not-leading" | "level" = "unable"): void {
    const { links } = this.#context.sinks;
    sendRefusal(links, link, reason, why);
    links.close(link, why);
  }

  refuse(learner: LearnerHandler, reason: "unable" | "diverged" | "level", why: LearnerRefusal): void {
    const { links } = this.#context.sinks;
    sendRefusal(links, learner.link, reason, why);
    links.close(learner.link, why);
    this.forget(learner);
  }

  /** The learner broke the protocol. */
  illegal(learner: LearnerHandler, fault: LearnerFault["fault"]): void {
    const event: LearnerFault = { kind: "illegal-message", sid: learner.sid, fault };
    this.#context.sinks.roles.note(event);
    this.drop(learner, event);
  }

  drop(learner: LearnerHandler, reason: LinkEnd): void {
    this.#context.sinks.links.close(learner.link, reason);
    this.forget(learner);
  }

  /** Its link is closed. */
  forget(learner: LearnerHandler): void {
    const { snapshots, requests } = this.#context.sinks;
    snapshots.end(learner.link);
    this.#byLink.delete(learner.link);
    this.#changed();
    if (learner.phase === "synced") requests.learnerLost(learner.link, learner.sid);
  }

  /** The role ends: every link is closed, and nothing is reported. */
  closeAll(reason: RoleEnd): void {
    const { links, snapshots } = this.#context.sinks;
    for (const { link } of this.#byLink.values()) {
      snapshots.end(link);
      links.close(link, reason);
    }
    this.#byLink.clear();
  }
}
