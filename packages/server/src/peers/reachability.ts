import { hostPort, type ServerId } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";
import type { QuorumPeerConfig } from "./ensemble-config.ts";

/** Another server that this one cannot reach. */
export interface UnreachablePeer {
  readonly sid: ServerId;
  /** `host:electionPort`, as configured. */
  readonly address: string;
  /**
   * The system's or the other server's reason, for example `connect ECONNREFUSED 10.0.0.2:3888`.
   */
  readonly reason: string;
}

export interface ReachabilityOptions {
  readonly ensemble: QuorumPeerConfig;
  /** Whether this server looks for a leader. */
  readonly isLooking: () => boolean;
  info(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  /** A monotonic clock. Default: the system's. */
  readonly nowMs?: () => number;
}

const REFUSED_REPEAT_MS = 60_000;
const systemMs = (): number => performance.now();

interface Peer {
  readonly sid: ServerId;
  readonly isVoter: boolean;
  readonly address: string;
  state: "untried" | "connected" | "unreachable";
  reason: string;
  /** One of the two servers objects to the other. */
  isRefused: boolean;
  /** The one that was logged last. */
  refusal: { readonly reason: string; readonly loggedMs: number } | undefined;
}

/**
 * The connections to the other servers, and the reasons of missing ones: a line for each server
 * that becomes unreachable, and a summary while no leader is known.
 */
export class Reachability {
  readonly #options: ReachabilityOptions;
  readonly #peers = new Map<ServerId, Peer>();
  /**
   * Every server with a connection, listed or not: one that is about to join connects before it is
   * listed.
   */
  readonly #linked = new Set<ServerId>();
  #hasSummary = false;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
    this.membersChanged();
  }

  /** Servers came, left, or are at another address. */
  membersChanged(): void {
    const { sid: own, directory } = this.#options.ensemble;
    for (const sid of this.#peers.keys()) if (directory.find(sid) === undefined) this.#peers.delete(sid);
    for (const { sid, isObserver } of directory.servers) {
      const address = directory.addressOf(sid);
      if (sid === own || address === undefined) continue;
      const known = this.#peers.get(sid);
      this.#peers.set(sid, {
        sid,
        isVoter: !isObserver,
        address: hostPort(address.host, address.electionPort),
        state: known?.state ?? (this.#linked.has(sid) ? "connected" : "untried"),
        reason: known?.reason ?? "not connected yet",
        isRefused: known?.isRefused ?? false,
        refusal: known?.refusal,
      });
    }
  }

  /** Each other server, with the reason if it is not connected. */
  get peers(): readonly (UnreachablePeer & { readonly isConnected: boolean; readonly isRefused: boolean })[] {
    return [...this.#peers.values()].map(({ sid, address, reason, state, isRefused }) => ({
      sid,
      address,
      reason,
      isConnected: state === "connected",
      isRefused: state === "unreachable" && isRefused,
    }));
  }

  connected(sid: ServerId): void {
    this.#linked.add(sid);
    const peer = this.#peers.get(sid);
    if (peer === undefined || peer.state === "connected") return;
    const { address } = peer;
    if (peer.state === "unreachable") {
      this.#options.info(`server ${sid} at ${address} is reachable`, { event: "peer-reachable", peer: sid, address });
    }
    peer.state = "connected";
    this.#summarizeOnce();
  }

  /**
   * A connection has ended, or an attempt has failed.
   *
   * @param isRefused one of the two servers objects to the other, until an operator acts: logged
   *   once a minute
   */
  failed(sid: ServerId, reason: string, isRefused = false): void {
    this.#linked.delete(sid);
    const peer = this.#peers.get(sid);
    if (peer === undefined) return;
    const nowMs = (this.#options.nowMs ?? systemMs)();
    const isDue = isRefused && (peer.refusal?.reason !== reason || nowMs - peer.refusal.loggedMs >= REFUSED_REPEAT_MS);
    if (peer.state !== "unreachable" || isDue) {
      peer.refusal = isRefused ? { reason, loggedMs: nowMs } : undefined;
      const { address } = peer;
      const text = `server ${sid} at ${address} is unreachable: ${reason}`;
      this.#options.warn(text, { event: "peer-unreachable", peer: sid, address });
    }
    peer.state = "unreachable";
    peer.reason = reason;
    peer.isRefused = isRefused;
    this.#summarizeOnce();
  }

  /** A connection has ended because there is a newer one, which this server is about to have. */
  replaced(sid: ServerId): void {
    this.#linked.delete(sid);
    const peer = this.#peers.get(sid);
    if (peer === undefined) return;
    peer.state = "untried";
    peer.reason = "a newer connection replaces the one before";
  }

  /** `1 of 3 voters reachable; server 2 at zk-2:3888: getaddrinfo ENOTFOUND zk-2` */
  get summary(): string {
    const { sid: own, directory } = this.#options.ensemble;
    const voters = directory.servers.filter(({ isObserver }) => !isObserver);
    const others = [...this.#peers.values()].filter(({ isVoter }) => isVoter);
    const missing = others.filter(({ state }) => state !== "connected");
    const reached = others.length - missing.length + (voters.some(({ sid }) => sid === own) ? 1 : 0);
    const reasons = missing.map(({ sid, address, reason }) => `; server ${sid} at ${address}: ${reason}`);
    return `${reached} of ${voters.length} voters reachable${reasons.join("")}`;
  }

  /** Logs the summary while no leader is known; for a timer. */
  summarize(): void {
    if (this.#options.isLooking()) this.#options.warn(`LOOKING for a leader: ${this.summary}`, { event: "looking" });
  }

  /** The first summary is logged when every other voter has been tried. */
  #summarizeOnce(): void {
    if (this.#hasSummary) return;
    const voters = [...this.#peers.values()].filter(({ isVoter }) => isVoter);
    if (voters.some(({ state }) => state === "untried")) return;
    this.#hasSummary = true;
    if (voters.some(({ state }) => state === "unreachable")) this.summarize();
  }
}
