import { createHash } from "node:crypto";
import { BatchCursor } from "@zooid/txn-log/internal/log/entry-batch";
import type { PlainState } from "@zooid/txn-log/testing/state-oracle";
import type { Promises, Step } from "./promises.ts";

/** The notes of a recorded process while it works, for the oracle. */
export class Notes {
  readonly #steps: Step[] = [];
  readonly #states: Map<number, string>;
  readonly #records: Map<number, string>;
  #from = 0n;

  /** @param others notes whose sums are these, too */
  constructor(others?: Notes) {
    this.#states = others === undefined ? new Map() : others.#states;
    this.#records = others === undefined ? new Map() : others.#records;
  }

  get promises(): Promises {
    return { from: this.#from, steps: this.#steps, states: this.#states, records: this.#records };
  }

  /** Cuts are looked at from now on. */
  begin(): void {
    this.#from = process.hrtime.bigint();
  }

  /** Does work that lasts once it is resolved; until then it may. */
  async step<T>(track: string, work: () => Promise<T> | T, viewOf: (done: T) => string): Promise<T> {
    const askedAt = process.hrtime.bigint();
    const done = await work();
    this.#steps.push({ track, view: viewOf(done), askedAt, promisedAt: process.hrtime.bigint() });
    return done;
  }

  state(zxid: number, state: PlainState): void {
    this.#states.set(zxid, sumOfState(state));
  }

  records(batch: Uint8Array): void {
    const cursor = new BatchCursor();
    cursor.open(batch, 0, batch.length);
    while (cursor.next()) this.#records.set(cursor.zxid, sumOf(cursor.record()));
  }
}

export function sumOfState({ nodes, sessions }: PlainState): string {
  const rows = [...nodes]
    .sort(([a], [b]) => a - b)
    .map(([id, { parentId, name, data, stat, acl }]) => [id, parentId, name, data, stat.toString("hex"), acl]);
  return sumOf(JSON.stringify([rows, [...sessions].sort(([a], [b]) => (a < b ? -1 : 1))]));
}

export function sumOf(content: string | Uint8Array): string {
  return createHash("sha1").update(content).digest("base64");
}
