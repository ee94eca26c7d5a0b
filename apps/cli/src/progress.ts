import { counted } from "@zooid/model";
import type { Output } from "./output.ts";

const FIRST_MS = 2_000;
const LATER_MS = 10_000;
/** A clock reading for each step would cost more than the step. */
const STEPS_PER_READING = 64;

/**
 * Lines on stderr about a long walk: the first after 2 s, then one every 10 s. Short walks print
 * nothing.
 */
export class Progress {
  readonly #output: Output;
  readonly #verb: string;
  readonly #now: () => number;
  readonly #startMs: number;
  #dueMs: number;
  #count = 0;

  /** @param verb for example `visited` */
  constructor(output: Output, verb: string, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#verb = verb;
    this.#now = now;
    this.#startMs = now();
    this.#dueMs = this.#startMs + FIRST_MS;
  }

  step(path: string, nodes = 1): void {
    const before = this.#count;
    this.#count += nodes;
    if (Math.floor(before / STEPS_PER_READING) === Math.floor(this.#count / STEPS_PER_READING)) return;
    const nowMs = this.#now();
    if (nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + LATER_MS;
    const seconds = (nowMs - this.#startMs) / 1000;
    const rate = Math.round(this.#count / seconds);
    this.#output.progress(
      `${this.#verb} ${counted(this.#count, "node")} in ${seconds.toFixed(0)} s, ${rate} a second: ${path}`,
    );
  }
}
