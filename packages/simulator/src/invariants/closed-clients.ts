import { type ClientAccess, formatZxid, type Zxid } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { CommittedSequence } from "./committed-sequence.ts";
import { Violation } from "./violation.ts";

/**
 * An ensemble that is founded without clients.
 *
 * O1: no server takes clients before a change that opens the ensemble is committed, and none has a
 * session until then.
 */
export class ClosedClients {
  readonly #first: ClientAccess;
  /** The changes that open it. */
  readonly #openings: Zxid[] = [];

  constructor(first: ClientAccess) {
    this.#first = first;
  }

  /** A leader proposed a configuration. */
  proposed(version: Zxid, clients: ClientAccess): void {
    if (this.#first === "closed" && clients === "open") this.#openings.push(version);
  }

  stepped({ sid, isServing, replica }: SimServer, committed: CommittedSequence): void {
    if (this.#first === "open" || !isServing || this.#openings.some((zxid) => committed.has(zxid))) return;
    const where = `server ${sid} serves epoch ${replica.zab.epoch}, no opening is committed,`;
    if (!replica.zab.members.areClientsClosed)
      throw new Violation("O1", `${where} and it takes clients since ${this.#openings.map(formatZxid).join(", ")}`);
    const { sessionCount } = replica.tree;
    if (sessionCount > 0) throw new Violation("O1", `${where} and it has ${sessionCount} sessions`);
  }
}
