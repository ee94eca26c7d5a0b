/**
 * Remembers which servers do not support persistent watches: those before 3.6. The connect response
 * does not show it. Apache's servers answer the request with UNIMPLEMENTED and close the
 * connection; others may only close it. So asking costs a connection. It is done while no other
 * request is in flight, and the result is remembered for a while.
 */

/** The evidence that a server does not support persistent watches. */
export type LackReason = "refused" | "hung-up";

/** One of several connections to the same server that ended before its answer. */
interface Doubt {
  readonly connection: number;
  readonly count: number;
}

/** Any connection may end at that moment; this many in a row to one server are no coincidence. */
const HANG_UPS_MAX = 3;
/**
 * A server at the same address may have been upgraded. It is asked again after this time, and only
 * on a new connection, when few other requests are in flight.
 */
const LACKING_MS = 60_000;
/** Server names are few; otherwise the oldest are dropped. */
const SERVERS_MAX = 256;

export class PersistentWatchSupport {
  readonly #lackingUntilMs = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #doubts = new Map<string, Doubt>();
  readonly #reported = new Set<string>();
  readonly #report: (server: string, reason: LackReason) => void;

  /** @param report called once for each server without support */
  constructor(report: (server: string, reason: LackReason) => void) {
    this.#report = report;
  }

  /** Whether to ask a server. */
  mayBeAt(server: string, nowMs: number): boolean {
    return nowMs >= (this.#lackingUntilMs.get(server) ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether a server has armed one before. */
  areKnownAt(server: string): boolean {
    return this.#known.has(server);
  }

  /** A server has armed one. */
  armed(server: string): void {
    this.#lackingUntilMs.delete(server);
    this.#doubts.delete(server);
    makeRoom(this.#known);
    this.#known.add(server);
  }

  /** A server has refused one. */
  refused(server: string, nowMs: number): void {
    this.#lack(server, "refused", nowMs);
  }

  /**
   * The connection ended before the answer.
   *
   * @param connection its number, since several requests may wait for answers on one
   */
  hungUp(server: string, connection: number, nowMs: number): void {
    const last = this.#doubts.get(server);
    if (last?.connection === connection || !this.mayBeAt(server, nowMs)) return;
    const count = (last?.count ?? 0) + 1;
    if (count >= HANG_UPS_MAX) {
      this.#lack(server, "hung-up", nowMs);
      return;
    }
    makeRoom(this.#doubts);
    this.#doubts.set(server, { connection, count });
  }

  #lack(server: string, reason: LackReason, nowMs: number): void {
    this.#doubts.delete(server);
    this.#known.delete(server);
    makeRoom(this.#lackingUntilMs);
    this.#lackingUntilMs.set(server, nowMs + LACKING_MS);
    if (this.#reported.has(server)) return;
    makeRoom(this.#reported);
    this.#reported.add(server);
    this.#report(server, reason);
  }
}

function makeRoom(servers: Map<string, unknown> | Set<string>): void {
  if (servers.size < SERVERS_MAX) return;
  for (const server of servers.keys()) {
    servers.delete(server);
    return;
  }
}
