import type { Client, Transaction } from "@zooid/client";
import { type WaitOptions, within } from "./deadline.ts";
import type { Grant, LostReason } from "./lease.ts";

/** Several grants as one: lost when any of them is, released together, the last one first. */
export class LeaseGroup<G extends Grant = Grant> implements Grant {
  readonly parts: readonly G[];
  readonly signal: AbortSignal;
  readonly #zk: Client;

  constructor(zk: Client, parts: readonly G[]) {
    this.#zk = zk;
    this.parts = parts;
    this.signal = AbortSignal.any(parts.map((part) => part.signal));
  }

  get paths(): readonly string[] {
    return this.parts.flatMap((part) => part.paths);
  }

  get lostReason(): LostReason | undefined {
    return this.parts.map((part) => part.lostReason).find((reason) => reason !== undefined);
  }

  isValid(): boolean {
    return this.parts.every((part) => part.isValid());
  }

  assertValid(): void {
    for (const part of this.parts) part.assertValid();
  }

  /**
   * A transaction that succeeds only if all grants are still held; its results begin with one
   * undefined for each node.
   */
  guard(): Transaction<undefined[]> {
    let transaction: Transaction<undefined[]> = this.#zk.transaction();
    for (const path of this.paths) transaction = transaction.check(path, -1);
    return transaction;
  }

  /** Releases all grants, also if some fail. @throws the first error */
  async release(options: WaitOptions = {}): Promise<void> {
    await within(releaseAll(this.parts), options, `release ${this.paths.join(" and ")}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** Last one first; the requests leave in that order, together. */
export async function releaseAll(grants: readonly Grant[]): Promise<void> {
  const outcomes = await Promise.allSettled(grants.toReversed().map((grant) => grant.release()));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
