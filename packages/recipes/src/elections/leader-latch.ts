import { type Client, type Created, isZkError } from "@zooid/client";
import { rules, type Shape, shape, wordRule } from "@zooid/model";
import type { Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { deleteOwnNode, deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { Hold } from "../leases/hold.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { participantsOf } from "../leases/participants.ts";
import { keepOn } from "../leases/waiting.ts";
import type { ContenderForm } from "../locks/child-names.ts";
import { createContender, type LockQueueOptions, predecessor, waitForTurn } from "../locks/lock-queue.ts";
import { Terms } from "./terms.ts";

export interface LeaderLatchOptions extends HoldOptions {
  /** Id of this candidate for others. Default: empty. */
  readonly id?: string;
}

/** A leader or a candidate. */
export interface Candidate {
  readonly id: string;
  readonly path: string;
  readonly isLeader: boolean;
}

const SHAPE: Shape<LeaderLatchOptions> = shape<LeaderLatchOptions>({ ...HOLD, id: rules.text });

/**
 * Elects one leader for its lifetime: Curator's LeaderLatch, on the same znodes,
 * `<path>/_c_<uuid>-latch-<number>`.
 *
 * A candidate is in the queue from `new` until `close`, over lost connections and sessions. It does
 * not lead while its connection is lost; it leads again when it reconnects in time and its node is
 * still the first, since no other candidate can have led then.
 */
export class LeaderLatch implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #queue: LockQueueOptions;
  readonly #options: HoldOptions;
  readonly #closing = new AbortController();
  readonly #terms: Terms;
  readonly #ended: Promise<void>;

  constructor(zk: Client, path: string, options: LeaderLatchOptions = {}) {
    checkArguments("LeaderLatch", zk, path, options, SHAPE);
    this.path = path;
    this.#zk = zk;
    this.#options = options;
    this.#terms = new Terms(zk, `the latch on ${path}`);
    this.#queue = { path, marker: "latch-", form: "latch", blocker: predecessor, data: options.id ?? "" };
    this.#ended = this.#run();
  }

  /** Whether this candidate leads at this instant, by the clock. */
  get isLeader(): boolean {
    return this.#terms.isLeader;
  }

  /**
   * The current term, or undefined. Completes when the latch is closed; fails with permanent
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
   * Waits until this candidate leads. The lease is the term: its signal aborts when the term ends;
   * releasing it lets the next candidate lead and puts this one at the end of the queue.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or RECIPE_CLOSED
   */
  leadership(options: WaitOptions = {}): Promise<Lease> {
    return this.#terms.leadership(options);
  }

  /** All candidates, the leader first. @throws RECIPE_CLOSED; `candidatesOf` joins nothing */
  async participants(): Promise<readonly Candidate[]> {
    this.#terms.assertOpen();
    return candidatesOf(this.#zk, this.path, "latch");
  }

  /**
   * Ends leadership and leaves the queue. Resolves when the node is deleted, or the session may be
   * over. May be repeated.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(this.#terms.closed());
    await within(this.#ended, options, `close the latch on ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let node: Created | undefined;
    try {
      await keepOn(this.#zk, signal, async () => {
        node ??= await createContender(this.#zk, this.#queue, signal);
        if (await waitForTurn(this.#zk, node, this.#queue, signal)) {
          const hold = new Hold(this.#zk, node, { onSuspended: this.#options.onSuspended });
          await this.#terms.lead(hold.lease(), signal);
        } else {
          deleteOwnNodeLater(this.#zk, node.path);
          node = undefined;
        }
      });
    } catch (error) {
      // The caller has closed the latch or the client.
      if (signal.aborted || isZkError(error, "CLIENT_CLOSED")) return;
      this.#terms.fail(error);
    } finally {
      if (node !== undefined) await deleteOwnNode(this.#zk, node.path).catch(() => {});
      this.#terms.end();
    }
  }
}

const FORM: Shape<{ form: ContenderForm }> = shape<{ form: ContenderForm }>({
  form: wordRule("candidate", "latch", "lock", "lease"),
});

/** The candidates of a latch or a selector on a path, the leader first. It joins nothing. */
export async function candidatesOf(
  zk: Client,
  path: string,
  form: ContenderForm = "candidate",
): Promise<readonly Candidate[]> {
  checkArguments("candidatesOf", zk, path, { form }, FORM);
  const participants = await participantsOf(zk, path, form);
  return participants.map(({ path, data }, i) => ({
    id: Buffer.from(data ?? []).toString(),
    path,
    isLeader: i === 0,
  }));
}
