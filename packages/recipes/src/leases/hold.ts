import {
  type Client,
  type Created,
  isZkError,
  type NodeData,
  type OneShotWatch,
  pause,
  type SessionId,
  type Transaction,
  type Watched,
  type Zxid,
} from "@zooid/client";
import type { Subscription } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { FailureReports } from "../failure-reports.ts";
import { RecipeError } from "../recipe-error.ts";
import { type WaitOptions, within } from "./deadline.ts";
import { deleteOwnNode } from "./delete-own-node.ts";
import type { HoldOptions, Lease, LostReason } from "./lease.ts";
import { WorkController } from "./own-work.ts";

export interface HoldEvents {
  /** It is not held any more. May be called twice: lost, then released. */
  readonly ended?: (() => void) | undefined;
  /** Another client requests a release. */
  readonly revoked?: (() => unknown) | undefined;
  /** Replaces the node's czxid, where the node was created after the grant. */
  readonly token?: Zxid | undefined;
  /**
   * For names that other clients may reuse: how to release the node, and the check of a guarded
   * transaction.
   */
  readonly release?: (() => Promise<void>) | undefined;
  readonly guard?: (() => Transaction<[undefined]>) | undefined;
}

const REVOKE = Buffer.from("__REVOKE__");
const READ_AGAIN_MS = 100;

/** A held node and its leases, which are all lost together. */
export class Hold {
  readonly zk: Client;
  readonly path: string;
  readonly token: Zxid;
  readonly sessionId: SessionId;
  readonly #czxid: Zxid;
  readonly #controller = new WorkController();
  readonly #states: Subscription;
  readonly #events: HoldEvents;
  #reports: FailureReports | undefined;
  #watch: OneShotWatch | undefined;
  #leaseCount = 0;
  #lostReason: LostReason | undefined;
  #releasing: Promise<void> | undefined;

  constructor(zk: Client, { path, stat }: Created, options: HoldOptions & HoldEvents = {}) {
    const { onSuspended = zk.onSuspended } = options;
    this.zk = zk;
    this.path = path;
    this.#czxid = stat.czxid;
    this.token = options.token ?? stat.czxid;
    this.sessionId = stat.ephemeralOwner as SessionId;
    this.#events = options;
    this.#states = zk.state$.subscribe(({ kind }) => {
      if (kind === "suspended" && onSuspended === "lose") this.#lose("suspended");
      else if (kind === "lost") this.#lose("session-lost");
      else if (kind === "closed" || kind === "auth-failed") this.#lose("client-closed");
    });
    // A state reported during `subscribe` could not end the subscription.
    if (this.isOver) this.#states.unsubscribe();
    // A node that cannot be read is not watched; the session's loss is reported all the same.
    else this.#watchNode().catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get lostReason(): LostReason | undefined {
    return this.#lostReason;
  }

  get isOver(): boolean {
    return this.#lostReason !== undefined || this.#releasing !== undefined;
  }

  get isValid(): boolean {
    return !this.isOver && this.zk.sessionId === this.sessionId && this.zk.aliveForMs > 0;
  }

  lease(): Lease {
    this.#leaseCount++;
    return new NodeLease(this);
  }

  /** Removes one lease; the last one deletes the node. */
  async leave(): Promise<void> {
    if (--this.#leaseCount > 0) return;
    this.#releasing ??= this.#release();
    await this.#releasing;
  }

  async #release(): Promise<void> {
    this.#end(new RecipeError("LEASE_LOST", `${this.path} was released`));
    await (this.#events.release?.() ?? deleteOwnNode(this.zk, this.path));
  }

  guard(): Transaction<[undefined]> {
    return this.#events.guard?.() ?? this.zk.transaction().check(this.path, -1);
  }

  #lose(reason: LostReason): void {
    if (this.isOver) return;
    this.#lostReason = reason;
    // A release deletes the node, which removes the watch.
    this.#watch?.remove();
    this.#end(new RecipeError("LEASE_LOST", `${this.path} is not held any more: ${reason}`));
  }

  #end(reason: RecipeError): void {
    this.#states?.unsubscribe();
    this.#events.ended?.();
    this.#controller.abort(reason);
  }

  /**
   * Errors of the listener, which may be an async function, concern neither the lease nor the
   * process.
   */
  async #revoked(): Promise<void> {
    try {
      await this.#events.revoked?.();
    } catch (error) {
      this.#reports ??= new FailureReports(this.zk, undefined);
      this.#reports.report(`the listener to the revocation of ${this.path} has failed`, error);
    }
  }

  /** Watches its own node: deleted by another client, or marked for revocation. */
  async #watchNode(): Promise<void> {
    while (!this.isOver) {
      let node: NodeData & Watched;
      try {
        node = await this.zk.get(this.path, { watch: true, signal: this.signal });
      } catch (error) {
        if (isZkError(error, "NO_NODE")) return this.#lose("deleted");
        if (!isZkError(error) || !error.retriable) throw error;
        await pause(READ_AGAIN_MS, { signal: this.signal, ref: false });
        continue;
      }
      // A node that another program has made since, of the same name.
      if (node.stat.czxid !== this.#czxid) {
        node.watch.remove();
        return this.#lose("deleted");
      }
      // Lost in the same turn.
      if (this.#lostReason !== undefined) return node.watch.remove();
      this.#watch = node.watch;
      if (node.data !== null && REVOKE.equals(node.data)) void this.#revoked();
      await node.watch.fired;
    }
  }
}

/** Requests a holder to release its lock, as Curator's Revoker does. The holder may ignore it. */
export async function revoke(zk: Client, path: string): Promise<void> {
  checkArguments("revoke", zk, path);
  await zk.set(path, REVOKE);
}

class NodeLease implements Lease {
  readonly #hold: Hold;
  #isReleased = false;

  constructor(hold: Hold) {
    this.#hold = hold;
  }

  get path(): string {
    return this.#hold.path;
  }

  get paths(): readonly string[] {
    return [this.#hold.path];
  }

  get token(): Zxid {
    return this.#hold.token;
  }

  get sessionId(): SessionId {
    return this.#hold.sessionId;
  }

  get signal(): AbortSignal {
    return this.#hold.signal;
  }

  get lostReason(): LostReason | undefined {
    return this.#hold.lostReason;
  }

  isValid(): boolean {
    return !this.#isReleased && this.#hold.isValid;
  }

  assertValid(): void {
    if (this.isValid()) return;
    const why = this.#isReleased ? "it was released" : (this.lostReason ?? "its session may be over");
    throw new RecipeError("LEASE_LOST", `${this.path} is not held any more: ${why}`);
  }

  reenter(): Lease {
    this.assertValid();
    return this.#hold.lease();
  }

  guard(): Transaction<[undefined]> {
    return this.#hold.guard();
  }

  async release(options: WaitOptions = {}): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await within(this.#hold.leave(), options, `release ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
