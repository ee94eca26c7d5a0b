import type { Cost } from "./cost.ts";
import { type Shape, shapeText } from "./shape.ts";

const KINDS_KEPT = 3;

/** The most expensive requests that were found, by one measure. */
export class TopList {
  readonly #amount: (cost: Cost) => number;
  readonly #countMax: number;
  readonly #costs: Cost[] = [];

  /** @param amount by which requests are compared; 0 for one that does not count */
  constructor(countMax: number, amount: (cost: Cost) => number) {
    this.#countMax = countMax;
    this.#amount = amount;
  }

  /** The most expensive first. */
  get costs(): readonly Cost[] {
    return this.#costs;
  }

  amountOf(cost: Cost): number {
    return this.#amount(cost);
  }

  /** Whether a request would be kept for what it cost. */
  admits(cost: Cost): boolean {
    const least = this.#costs.length < this.#countMax ? 0 : this.#amount(this.#costs.at(-1) as Cost);
    return this.#amount(cost) > least;
  }

  add(cost: Cost): void {
    if (!this.admits(cost)) return;
    // Some of each kind, and one of those that read the same: neighbours of one peak must not take
    // all places.
    const [kind, text] = [kindOf(cost.shape), shapeText(cost.shape)];
    const same = this.#costs.filter((other) => shapeText(other.shape) === text);
    const rivals = this.#costs.filter((other) => kindOf(other.shape) === kind);
    const weakest = same[0] ?? (rivals.length < KINDS_KEPT ? undefined : rivals.at(-1));
    if (weakest !== undefined) {
      if (this.#amount(weakest) >= this.#amount(cost)) return;
      this.#costs.splice(this.#costs.indexOf(weakest), 1);
    }
    this.#costs.push(cost);
    this.#costs.sort((a, b) => this.#amount(b) - this.#amount(a));
    this.#costs.length = Math.min(this.#costs.length, this.#countMax);
  }
}

function kindOf(shape: Shape): string {
  return "parts" in shape ? `${shape.op} ${shape.parts.map(kindOf).join(" ")}` : shape.op;
}
