import type { Client } from "@zooid/client";
import { joinPath, rules, type Shape, shape } from "@zooid/model";
import type { Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import type { WaitOptions } from "../leases/deadline.ts";
import { type Holder, holderData, readHolder } from "../leases/holder.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { ExclusiveCandidacy } from "./exclusive-candidacy.ts";
import { Terms } from "./terms.ts";

export interface UnfairElectionOptions extends HoldOptions {
  /** Id of this candidate for others. Default: a UUID. */
  readonly id?: string;
}

const SHAPE: Shape<UnfairElectionOptions> = shape<UnfairElectionOptions>({ ...HOLD, id: rules.text });

/**
 * Elects the fastest candidate as leader: one node `<path>/leader`, on which all others have a
 * watch. When it is deleted they are all woken and one of them leads. A {@link LeaderLatch} wakes
 * one, in the order of arrival.
 *
 * The version of `<path>/terms` grows whenever a term begins or is released.
 */
export class UnfairElection implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #terms: Terms;
  readonly #candidacy: ExclusiveCandidacy;

  constructor(zk: Client, path: string, options: UnfairElectionOptions = {}) {
    checkArguments("UnfairElection", zk, path, options, SHAPE);
    this.path = path;
    this.#zk = zk;
    this.#terms = new Terms(zk, `the election on ${path}`);
    const node = { path: this.#nodePath, countPath: joinPath(path, "terms"), data: holderData(options.id) };
    this.#candidacy = new ExclusiveCandidacy(zk, node, this.#terms, { onSuspended: options.onSuspended });
  }

  /** Whether this candidate leads at this instant, by the clock. */
  get isLeader(): boolean {
    return this.#terms.isLeader;
  }

  /**
   * The current term, or undefined. Completes when the election is closed; fails with permanent
   * errors.
   */
  get term$(): Observable<Lease | undefined> {
    return this.#terms.term$;
  }

  /** Starts with the current state; completes and fails as `term$` does. */
  get isLeader$(): Observable<boolean> {
    return this.#terms.isLeader$;
  }

  /**
   * Waits until this candidate leads. The lease is the term: releasing it ends it.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or RECIPE_CLOSED
   */
  leadership(options: WaitOptions = {}): Promise<Lease> {
    return this.#terms.leadership(options);
  }

  /** The leader, or null. @throws RECIPE_CLOSED */
  async leader(): Promise<Holder | null> {
    this.#terms.assertOpen();
    const node = await this.#zk.getOrNull(this.#nodePath);
    return node === null ? null : readHolder(node.data);
  }

  /**
   * Ends leadership and candidacy. Resolves when the node is deleted, or the session may be over.
   * May be repeated.
   */
  close(options: WaitOptions = {}): Promise<void> {
    return this.#candidacy.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #nodePath(): string {
    return joinPath(this.path, "leader");
  }
}
