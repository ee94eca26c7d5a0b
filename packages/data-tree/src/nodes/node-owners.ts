import { StatOffset } from "@zooid/model";
import { IntColumn, type RecordColumn } from "./columns.ts";

/**
 * The owner of each node. The Stat shows a session; the markers of containers and TTL nodes, whose
 * owner the wire shows as 0, have columns of their own, whose pages exist where such nodes do.
 */
export class NodeOwners {
  readonly #stats: RecordColumn;
  readonly #hiddenHigh = new IntColumn();
  readonly #hiddenLow = new IntColumn();

  constructor(stats: RecordColumn) {
    this.#stats = stats;
  }

  high(node: number): number {
    return this.#hiddenHigh.get(node) || this.#stats.int(node, StatOffset.ephemeralOwner);
  }

  low(node: number): number {
    return this.#hiddenHigh.get(node) !== 0
      ? this.#hiddenLow.get(node)
      : this.#stats.int(node, StatOffset.ephemeralOwner + 4);
  }

  isEphemeral(node: number): boolean {
    return (
      (this.#stats.int(node, StatOffset.ephemeralOwner) | this.#stats.int(node, StatOffset.ephemeralOwner + 4)) !== 0
    );
  }

  /**
   * @param isSession whether the owner is a session, which the wire shows, or a marker, which it
   *   hides
   */
  set(node: number, high: number, low: number, isSession: boolean): void {
    this.#stats.setInt(node, StatOffset.ephemeralOwner, isSession ? high : 0);
    this.#stats.setInt(node, StatOffset.ephemeralOwner + 4, isSession ? low : 0);
    this.#hiddenHigh.set(node, isSession ? 0 : high);
    this.#hiddenLow.set(node, isSession ? 0 : low);
  }

  /** The Stat is cleared by others. */
  forget(node: number): void {
    this.#hiddenHigh.set(node, 0);
    this.#hiddenLow.set(node, 0);
  }
}
