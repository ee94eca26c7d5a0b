import { composeZxid, epochOf, formatZxid, type Zxid } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import type { SimServer } from "../cluster/server.ts";
import type { CommittedSequence } from "./committed-sequence.ts";
import { Violation } from "./violation.ts";

/**
 * Restored states: each takes the place of all that comes before it in the order of zxids.
 *
 * R1: once a member serves an epoch that began behind a restored state, nothing that the state
 * discarded returns: not to a tree that is served, and not to a log.
 */
export class Restores {
  readonly #epochs = new Set<number>();

  /** A leader is about to install a restored state. */
  add(zxid: Zxid): void {
    if (this.#epochs.has(epochOf(zxid))) throw new Violation("R1", `two restored states stand at ${formatZxid(zxid)}`);
    this.#epochs.add(epochOf(zxid));
  }

  get areNone(): boolean {
    return this.#epochs.size === 0;
  }

  has(zxid: Zxid): boolean {
    return this.#epochs.has(epochOf(zxid));
  }

  /** Whether a log begins with a restored state that takes the place of an entry. */
  replaces({ epochs: [first] }: Pick<DurableLog, "epochs">, zxid: Zxid): boolean {
    return first !== undefined && this.#epochs.has(first.epoch) && zxid < composeZxid(first.epoch, 1);
  }

  stepped({ sid, disk, isServing, replica }: SimServer, committed: CommittedSequence): void {
    const restored = committed.lastRestored;
    if (restored === undefined || !isServing || replica.zab.epoch <= epochOf(restored)) return;
    const { zab, tree } = replica;
    const where = `server ${sid} serves epoch ${zab.epoch}, behind the state that was restored at ${formatZxid(restored)},`;
    if (tree.applied < restored) throw new Violation("R1", `${where} and shows ${formatZxid(tree.applied)}`);
    const [first] = disk.durable.epochs;
    if (first === undefined || first.epoch >= epochOf(restored)) return;
    throw new Violation("R1", `${where} and has entries of epoch ${first.epoch}`);
  }
}
