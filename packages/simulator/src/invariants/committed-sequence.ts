import { composeZxid, counterOf, epochOf, formatZxid, ZXID_NONE, type Zxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { ProposalStreams } from "./proposals.ts";
import { Violation } from "./violation.ts";

/** The committed transactions in their order: the one history that every server must apply. */
export class CommittedSequence {
  readonly #proposals: ProposalStreams;
  readonly #zxids: Zxid[] = [];
  readonly #places = new Map<number, number>();
  readonly #restored: (zxid: Zxid) => void;
  #lastRestored: Zxid | undefined;

  /** @param restored a restored state is committed */
  constructor(proposals: ProposalStreams, restored: (zxid: Zxid) => void) {
    this.#proposals = proposals;
    this.#restored = restored;
  }

  /** The newest restored state that is committed. */
  get lastRestored(): Zxid | undefined {
    return this.#lastRestored;
  }

  /** The highest zxid that any leader knew to be committed. */
  get last(): Zxid {
    return this.#zxids.at(-1) ?? ZXID_NONE;
  }

  get count(): number {
    return this.#zxids.length;
  }

  has(zxid: number): boolean {
    return zxid === ZXID_NONE || this.#places.has(zxid);
  }

  at(place: number): Zxid | undefined {
    return this.#zxids[place];
  }

  placeOf(zxid: number): number | undefined {
    return this.#places.get(zxid);
  }

  /** Adds what a log holds up to a zxid. The log's newest epoch may reach further than its disk. */
  extend(durable: DurableLog, through: Zxid): void {
    const from = this.last;
    if (through <= from) return;
    for (const { epoch, first, last } of durable.epochs) {
      if (epoch < epochOf(from) || epoch >= epochOf(through)) continue;
      this.#extendEpoch(epoch, epoch === epochOf(from) ? counterOf(from) + 1 : first, last);
    }
    const epoch = epochOf(through);
    this.#extendEpoch(epoch, epoch === epochOf(from) ? counterOf(from) + 1 : 1, counterOf(through));
  }

  #extendEpoch(epoch: number, first: number, last: number): void {
    for (let counter = first; counter <= last; counter++) {
      const zxid = composeZxid(epoch, counter);
      const proposal = this.#proposals.get(zxid);
      if (proposal === undefined) throw new Violation("I7", `${formatZxid(zxid)} is committed and was never proposed`);
      // What a restored state replaces is that leader's history, whatever had been committed of it.
      if (proposal.previous !== this.last && proposal.isRestored !== true) {
        throw new Violation("I10", `${formatZxid(zxid)} is committed after ${formatZxid(this.last)}`);
      }
      this.#places.set(zxid, this.#zxids.push(zxid) - 1);
      if (proposal.isRestored !== true) continue;
      this.#lastRestored = zxid;
      this.#restored(zxid);
    }
  }
}
