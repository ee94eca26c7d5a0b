import { setTimeout as delay } from "node:timers/promises";
import { type Client, isZkError } from "@zooid/client";

/** Between two writes. */
const PAUSE_MS = 5;

/** Writes one znode after another; a write of unknown outcome is repeated under its own name. */
export class SteadyWriter {
  readonly paths: string[] = [];
  /** The longest that a write took. */
  longestMs = 0;
  readonly #client: Client;
  readonly #done: Promise<void>;
  #isStopped = false;

  constructor(client: Client) {
    this.#client = client;
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let count = 0; !this.#isStopped; count++) {
      const beganMs = performance.now();
      await this.#write(`/n-${count}`);
      this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - beganMs));
      await delay(PAUSE_MS);
    }
  }

  async #write(path: string): Promise<void> {
    for (;;) {
      try {
        await this.#client.create(path, "");
        break;
      } catch (error) {
        if (isZkError(error, "NODE_EXISTS")) break;
        if (!isZkError(error, "CONNECTION_LOSS") && !isZkError(error, "OPERATION_TIMEOUT")) throw error;
      }
    }
    this.paths.push(path);
  }
}
