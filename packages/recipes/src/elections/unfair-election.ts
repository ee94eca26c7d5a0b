import type { Client } from "@zooid/client";
import { joinPath } from "@zooid/model";
import type { Observable } from "rxjs";
import type { WaitOptions } from "../leases/deadline.ts";
import { type Holder, holderData, readHolder } from "../leases/holder.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { ExclusiveCandidacy } from "./exclusive-candidacy.ts";
import { Terms } from "./terms.ts";

export interface UnfairElectionOptions extends HoldOptions {
  /** What the others know this candidate by. Default: a UUID. */
  readonly id?: string;
}

/**
 * One leader among many, whoever is quickest: one node `<path>/leader`, on which all others have a watch. When it goes they are all woken and one of
 * them leads. A {@link LeaderLatch} wakes one, and lets them lead in the order in which they came.
 *
 * The version of `<path>/terms` goes up whenever a term begins or is given back.
 */
export class UnfairElection implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #terms: Terms;
  readonly #candidacy: ExclusiveCandidacy;

  constructor(zk: Client, path: string, options: UnfairElectionOptions = {}) {
    this.path = path;
    this.#zk = zk;
    this.#terms = new Terms(`the election on ${path}`);
    const node = { path: this.#nodePath, countPath: joinPath(path, "terms"), data: holderData(options.id) };
    this.#candidacy = new ExclusiveCandidacy(zk, node, this.#terms, { onSuspended: options.onSuspended });
  }

  /** Whether this one leads at this instant, by the clock. */
  get isLeader(): boolean {
    return this.#terms.isLeader;
  }

  /** The term that goes on now, or undefined. Completes when the election is closed; errors with what no reconnect mends. */
  get term$(): Observable<Lease | undefined> {
    return this.#terms.term$;
  }

  /** Begins with the present state; completes and errors as `term$` does. */
  get isLeader$(): Observable<boolean> {
    return this.#terms.isLeader$;
  }

  /** Waits until this one leads. The lease is the term: releasing it ends it. @throws LOCK_TIMEOUT, the signal's reason, or RECIPE_CLOSED */
  leadership(options: WaitOptions = {}): Promise<Lease> {
    return this.#terms.leadership(options);
  }

  /** Who leads, or null. */
  async leader(): Promise<Holder | null> {
    const node = await this.#zk.getOrNull(this.#nodePath);
    return node === null ? null : readHolder(node.data);
  }

  /** Leads no more, and does not try to. Resolves when the node is gone, or the session may be over. Twice is harmless. */
  close(): Promise<void> {
    return this.#candidacy.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #nodePath(): string {
    return joinPath(this.path, "leader");
  }
}
