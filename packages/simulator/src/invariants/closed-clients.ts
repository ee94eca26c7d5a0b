import { type ClientAccess, epochOf, formatZxid, OpCode, ZXID_NONE, type Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { TICK_MS } from "../cluster/server-options.ts";
import type { CommittedSequence } from "./committed-sequence.ts";
import { Violation } from "./violation.ts";

/** A configuration that a leader proposed, and whether clients are served by it. */
interface ProposedAccess {
  readonly version: Zxid;
  readonly clients: ClientAccess;
}

/** The time of a server's first step without clients in a role, and of its last one. */
interface ClosedRole {
  readonly sinceMs: number;
  lastMs: number;
}

/** Ticks after which a role that has served clients has ended. */
const TICKS_MAX = 3;
/** Entries that no client has asked for, and no session. */
const OF_NO_CLIENT: ReadonlySet<number> = new Set([OpCode.RECONFIG, OpCode.RAISE_LEVEL]);

/**
 * An ensemble that is founded without clients, or closed to them.
 *
 * O1: no server takes clients before a change that opens the ensemble is committed, and none has a
 * session until then.
 *
 * O2: behind a committed change that closes the ensemble, and up to one that opens it, no entry of
 * a later epoch is of a client or ends a session.
 *
 * O3: a server that knows that change to be committed has no client a few ticks later.
 */
export class ClosedClients {
  readonly #first: ClientAccess;
  /** By their versions. */
  readonly #proposed: ProposedAccess[] = [];
  readonly #closedRoles = new WeakMap<SimServer, ClosedRole>();
  /** Whether it was never closed. */
  #isOpen: boolean;

  constructor(first: ClientAccess) {
    this.#first = first;
    this.#isOpen = first === "open";
  }

  /** A leader proposed a configuration. */
  proposed(version: Zxid, clients: ClientAccess): void {
    this.#proposed.push({ version, clients });
    this.#isOpen &&= clients === "open";
  }

  /** The first server applies an entry. */
  committing(zxid: Zxid, op: number, committed: CommittedSequence): void {
    if (this.#isOpen || OF_NO_CLIENT.has(op)) return;
    const before = this.#proposed
      .filter(({ version }) => version < zxid && committed.has(version))
      .sort((a, b) => a.version - b.version);
    const lastOpen = before.findLastIndex(({ clients }) => clients === "open");
    const closing = before[lastOpen + 1];
    if (closing === undefined || epochOf(closing.version) === epochOf(zxid)) return;
    throw new Violation(
      "O2",
      `${formatZxid(zxid)} has the operation ${op}, and ${formatZxid(closing.version)} has closed the ensemble to clients`,
    );
  }

  stepped(server: SimServer, committed: CommittedSequence): void {
    if (this.#isOpen) return;
    const { sid, isServing, replica } = server;
    const { members, epoch } = replica.zab;
    if (!isServing || !members.areClientsClosed) this.#closedRoles.delete(server);
    else this.#lingers(server);
    const openings = this.#proposed.filter(({ clients }) => clients === "open");
    if (this.#first === "open" || !isServing || openings.some(({ version }) => committed.has(version))) return;
    const where = `server ${sid} serves epoch ${epoch}, no opening is committed,`;
    if (!members.areClientsClosed) {
      const versions = openings.map(({ version }) => formatZxid(version)).join(", ");
      throw new Violation("O1", `${where} and it takes clients since ${versions}`);
    }
    const { sessionCount } = replica.tree;
    if (sessionCount > 0) throw new Violation("O1", `${where} and it has ${sessionCount} sessions`);
  }

  #lingers(server: SimServer): void {
    const { sid, replica } = server;
    const { nowMs } = replica;
    const role = this.#closedRoles.get(server) ?? { sinceMs: nowMs, lastMs: nowMs };
    this.#closedRoles.set(server, role);
    const dueMs = role.sinceMs + TICKS_MAX * TICK_MS;
    // The first step behind a pause is the one that ends the role.
    const isLate = role.lastMs > dueMs;
    role.lastMs = nowMs;
    if (!isLate) return;
    const open = Array.from(replica.connections()).filter(({ phase }) => phase === "open");
    if (open.length === 0) return;
    const version = formatZxid(replica.zab.members.committed?.version ?? ZXID_NONE);
    throw new Violation(
      "O3",
      `server ${sid} knows since ${nowMs - role.sinceMs} ms that ${version} has closed the ensemble, and has ${open.length} clients`,
    );
  }
}
