import { deepStrictEqual, equal, ok } from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, isZkError } from "@zooid/client";
import { formatSessionId } from "@zooid/model";
import type { Subscription } from "rxjs";

const WRITES = "/writes";
const PAUSE_MS = 20;
const POLL_MS = 50;
const SEQUENCE_DIGITS = 10;

/**
 * A client of ours that keeps its session through all moves. It writes all the time and knows which
 * writes were acknowledged, takes numbers of a sequence, and watches the children of a node.
 */
export class Witness implements AsyncDisposable {
  readonly #zk: Client;
  readonly #acked: string[] = [];
  readonly #ending = new AbortController();
  readonly #watching: Subscription;
  #writing: Promise<void> = Promise.resolve();
  #children: readonly string[] | null = null;
  #lost = 0;

  /** @param watched a node whose children it watches; made here */
  static async start(hosts: string, watched: string, sessionTimeoutMs: number): Promise<Witness> {
    const zk = await connect(hosts, { sessionTimeoutMs });
    for (const path of [WRITES, watched]) await zk.create(path, "");
    return new Witness(zk, watched);
  }

  private constructor(zk: Client, watched: string) {
    this.#zk = zk;
    zk.state$.subscribe(({ kind }) => {
      if (kind === "lost") this.#lost++;
    });
    this.#watching = zk.watchChildren$(watched).subscribe({
      next: (names) => {
        this.#children = names;
      },
      error: () => {},
    });
    this.#writing = this.#write();
  }

  get session(): string {
    return formatSessionId(this.#zk.sessionId);
  }

  get ackedCount(): number {
    return this.#acked.length;
  }

  /** A write whose answer is lost may have been carried out, and is not repeated. */
  async #write(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const { path } = await this.#zk.create(`${WRITES}/w-`, "", { mode: "persistent-sequential", signal });
        this.#acked.push(path);
      } catch (error) {
        if (!isZkError(error) && !signal.aborted) throw error;
      }
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Waits until writes are acknowledged again. */
  async isServed(): Promise<void> {
    const before = this.#acked.length;
    while (this.#acked.length < before + 3) await delay(POLL_MS);
  }

  /** Each acknowledged write is there, and their numbers rise. */
  async checkWrites(): Promise<void> {
    equal(this.#lost, 0, "the witness has lost its session");
    const acked = [...this.#acked];
    const { names } = await this.#zk.children(WRITES, { sync: true });
    const there = new Set(names.map((name) => `${WRITES}/${name}`));
    deepStrictEqual(
      acked.filter((path) => !there.has(path)),
      [],
      "an acknowledged write is missing",
    );
    const sorted = acked.toSorted();
    deepStrictEqual(acked, sorted, "numbers of a sequence fall");
    equal(new Set(acked).size, acked.length, "a number of a sequence came twice");
  }

  /** Takes the next number below a folder. */
  async nextNumber(folder: string): Promise<number> {
    const { path } = await this.#zk.create(`${folder}/n-`, "", { mode: "ephemeral-sequential" });
    await this.#zk.delete(path);
    return Number(path.slice(-SEQUENCE_DIGITS));
  }

  /** The watch shows these children, sooner or later. */
  async watches(names: readonly string[]): Promise<void> {
    const expected = names.toSorted();
    const isThere = (): boolean => JSON.stringify(this.#children?.toSorted()) === JSON.stringify(expected);
    for (let left = 600; !isThere() && left > 0; left--) await delay(POLL_MS);
    ok(isThere(), `the watch shows ${JSON.stringify(this.#children)}, and not ${JSON.stringify(expected)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.#watching.unsubscribe();
    this.#zk.disconnect();
    await this.#writing;
  }
}
