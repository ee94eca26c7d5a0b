import { ServerRefusal } from "../connections/asking-connection.ts";

/** Failures by code. */
export class ErrorCounts {
  readonly #counts = new Map<string, number>();
  total = 0;

  add(code: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    this.total++;
  }

  /** Counts a thrown error: a refusal by its code, any other as a lost connection. */
  addThrown(error: unknown): void {
    this.add(error instanceof ServerRefusal ? error.code : "CONNECTION_LOSS");
  }

  toRecord(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

/** Several records as one. */
export function sumErrors(records: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const record of records) {
    for (const [code, count] of Object.entries(record)) sums.set(code, (sums.get(code) ?? 0) + count);
  }
  return Object.fromEntries(sums);
}
