import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@zooid/client";

const PAUSE_MS = 5;

/** Repeatedly sets a node to the number of answered writes plus one. */
export class AnsweredCounter {
  readonly #client: Client;
  #isOver = false;
  answered = 0;
  /** The longest time between two answers. */
  gapMs = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async run(): Promise<void> {
    await this.#client.create("/counter", "0");
    let lastMs = performance.now();
    while (!this.#isOver) {
      try {
        await this.#client.set("/counter", String(this.answered + 1));
        this.answered++;
        this.gapMs = Math.max(this.gapMs, performance.now() - lastMs);
        lastMs = performance.now();
      } catch {
        // An unanswered write may have been carried out or not: the same number is written again.
      }
      await delay(PAUSE_MS);
    }
  }

  stop(): void {
    this.#isOver = true;
  }
}
