/**
 * Which servers do not know persistent watches: those before 3.6. None says so in its greeting. Apache's answer UNIMPLEMENTED to whoever asks, and
 * hang up; others may only hang up. So the question costs a connection. It is asked with nothing else on its way, and what it has shown is kept
 * for a while.
 */

/** What made a server count as one that does not know persistent watches. */
export type LackReason = "refused" | "hung-up";

/** One connection of several to the same server that ended while it owed the answer. */
interface Doubt {
  readonly connection: number;
  readonly count: number;
}

/** Any connection may end at that moment; so many in a row to one server do not by chance. */
const HANG_UPS_MAX = 3;
/**
 * A server at the same address may have become a newer one since. It is asked again after this time, and only on a connection that is new
 * anyway, when little else is on its way over it.
 */
const LACKING_MS = 60_000;
/** Names of servers are few; where they are not, those that were heard of first are forgotten. */
const SERVERS_MAX = 256;

export class PersistentWatchSupport {
  readonly #lackingUntilMs = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #doubts = new Map<string, Doubt>();
  readonly #told = new Set<string>();
  readonly #tell: (server: string, reason: LackReason) => void;

  /** @param tell called once for each server that lacks them */
  constructor(tell: (server: string, reason: LackReason) => void) {
    this.#tell = tell;
  }

  /** Whether it is worth asking a server. */
  mayBeAt(server: string, nowMs: number): boolean {
    return nowMs >= (this.#lackingUntilMs.get(server) ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether a server has armed one before. */
  areKnownAt(server: string): boolean {
    return this.#known.has(server);
  }

  /** It has armed one. */
  armed(server: string): void {
    this.#lackingUntilMs.delete(server);
    this.#doubts.delete(server);
    makeRoom(this.#known);
    this.#known.add(server);
  }

  /** It has said that it does not know them. */
  refused(server: string, nowMs: number): void {
    this.#lack(server, "refused", nowMs);
  }

  /** It owed the answer when the connection ended. @param connection told apart, since several may wait for answers on one */
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
    if (this.#told.has(server)) return;
    makeRoom(this.#told);
    this.#told.add(server);
    this.#tell(server, reason);
  }
}

function makeRoom(servers: Map<string, unknown> | Set<string>): void {
  if (servers.size < SERVERS_MAX) return;
  for (const server of servers.keys()) {
    servers.delete(server);
    return;
  }
}
