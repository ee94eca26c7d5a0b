import type { LinkRef, PeerMessage, ServerId } from "@zooid/model";
import type { PeerConfig } from "./config.ts";
import type { LearnerInfo } from "./leader/learner-handler.ts";
import type { LearnerRefusal } from "./operator-events.ts";
import { sendRefusal, type ZabLinks } from "./sinks.ts";

/**
 * How long a learner is kept at least; then its link is closed, and it looks for another leader.
 */
const EARLY_MS_MIN = 1000;

/** A learner that came to a server that does not lead. */
export interface EarlyLearner {
  readonly link: LinkRef;
  readonly sid: ServerId;
  readonly sinceMs: number;
  info: LearnerInfo | undefined;
}

/**
 * Learners that came to a server before it knew its role, or that its leader has named it as
 * successor: it may yet be the one that leads.
 */
export class EarlyLearners {
  readonly #config: PeerConfig;
  readonly #links: ZabLinks;
  /** Oldest first. */
  readonly #byLink = new Map<LinkRef, EarlyLearner>();

  constructor(config: PeerConfig, links: ZabLinks) {
    this.#config = config;
    this.#links = links;
  }

  add(learner: EarlyLearner): void {
    this.#byLink.set(learner.link, learner);
  }

  remove(link: LinkRef): void {
    this.#byLink.delete(link);
  }

  removeAll(): readonly EarlyLearner[] {
    const all = [...this.#byLink.values()];
    this.#byLink.clear();
    return all;
  }

  /**
   * Takes a learner's first message. A link that sends anything but learner-info, or sends it
   * twice, is refused.
   */
  informed(link: LinkRef, message: PeerMessage): (EarlyLearner & { readonly info: LearnerInfo }) | undefined {
    const learner = this.#byLink.get(link);
    if (learner === undefined) return undefined;
    if (message.kind !== "learner-info" || learner.info !== undefined) {
      this.refuse(link, "unable", { kind: "not-asked-to-lead", message: message.kind });
      this.remove(link);
      return undefined;
    }
    return Object.assign(learner, { info: message });
  }

  /** Voters that wait to follow this server. */
  voters(): readonly ServerId[] {
    const voters: ServerId[] = [];
    for (const { sid, info } of this.#byLink.values()) if (info !== undefined && !info.isObserver) voters.push(sid);
    return voters;
  }

  /**
   * Refuses learners that have waited too long.
   *
   * @param leader that this server follows
   */
  tick(nowMs: number, leader: ServerId | undefined): void {
    for (const { link, sinceMs } of this.#byLink.values()) {
      if (nowMs - sinceMs < this.#waitMsMax) continue;
      this.remove(link);
      this.refuse(
        link,
        "not-leading",
        leader === undefined ? { kind: "no-leader-known" } : { kind: "follows-another", leader },
      );
    }
  }

  nextDueMs(): number | undefined {
    const [oldest] = this.#byLink.values();
    return oldest === undefined ? undefined : oldest.sinceMs + this.#waitMsMax;
  }

  refuse(link: LinkRef, reason: "not-leading" | "unable", why: LearnerRefusal): void {
    sendRefusal(this.#links, link, reason, why);
    this.#links.close(link, why);
  }

  /** The server stops. */
  closeAll(): void {
    for (const link of this.#byLink.keys()) this.#links.close(link, { kind: "stopped" });
    this.#byLink.clear();
  }

  get #waitMsMax(): number {
    return Math.max(this.#config.tickMs, EARLY_MS_MIN);
  }
}
