import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";

const SAMPLE_MS = 250;

/** How far folders with files of a history are behind the server that they are of. */
export class HistoryLag {
  readonly #port: number;
  readonly #folders: readonly string[];
  readonly #samples: { readonly atMs: number; readonly zxid: number }[] = [];
  readonly #maxMs: number[];

  /** @param folders each has `log/`, with a file for each range of transactions */
  constructor(port: number, folders: readonly string[]) {
    this.#port = port;
    this.#folders = folders;
    this.#maxMs = folders.map(() => 0);
  }

  /** The longest time, for each folder, that a transaction waited for it. */
  async watch(isOver: () => boolean): Promise<readonly number[]> {
    while (!isOver()) {
      this.#samples.push({ atMs: performance.now(), zxid: await this.#zxid() });
      for (const [i, folder] of this.#folders.entries())
        this.#maxMs[i] = Math.max(this.#maxMs[i] ?? 0, this.#ageMs(endOf(folder)));
      await delay(SAMPLE_MS);
    }
    return this.#maxMs;
  }

  /** Waits until all folders have everything. */
  async settle(): Promise<void> {
    const zxid = await this.#zxid();
    while (this.#folders.some((folder) => endOf(folder) < zxid)) await delay(SAMPLE_MS);
  }

  /** Since the first sample with a transaction that is in no file. */
  #ageMs(end: number): number {
    const waiting = this.#samples.find(({ zxid }) => zxid > end);
    return waiting === undefined ? 0 : performance.now() - waiting.atMs;
  }

  async #zxid(): Promise<number> {
    const text = /^Zxid: 0x([0-9a-f]+)/m.exec(await fourLetterWord(this.#port, "srvr"))?.[1];
    return Number.parseInt(text ?? "0", 16);
  }
}

function endOf(folder: string): number {
  const log = join(folder, "log");
  const names = existsSync(log) ? readdirSync(log) : [];
  return names.reduce((end, name) => {
    const found = /^[0-9a-f]{16}-([0-9a-f]{16})$/.exec(name)?.[1];
    return found === undefined ? end : Math.max(end, Number.parseInt(found, 16));
  }, 0);
}
