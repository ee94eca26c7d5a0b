import { mix32 } from "@zooid/model";

/** What happened, as lines and as one number: two runs of a seed must agree in it. */
export class Trace {
  readonly #keep: number;
  readonly #lines: string[] = [];
  #hash = 0;
  #count = 0;

  /** @param keep how many of the last lines are kept for a report */
  constructor(keep: number) {
    this.#keep = keep;
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  get count(): number {
    return this.#count;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(line: string): void {
    this.#count++;
    let hash = this.#hash;
    for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x0100_0193);
    this.#hash = mix32(hash);
    this.#lines.push(`${this.#count} ${line}`);
    if (this.#lines.length > this.#keep * 2) this.#lines.splice(0, this.#lines.length - this.#keep);
  }
}
