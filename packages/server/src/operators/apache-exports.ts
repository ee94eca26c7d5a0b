import type { SnapshotExport } from "@zooid/txn-log";
import type { ExportOptions } from "@zooid/txn-log/sqlite";

/** States that are written in Apache's form for its servers: one at a time. */
export class ApacheExports {
  readonly #take: (options: ExportOptions) => Promise<SnapshotExport>;
  #isBusy = false;

  constructor(take: (options: ExportOptions) => Promise<SnapshotExport>) {
    this.#take = take;
  }

  /** @returns a sentence where there is none for now */
  async take(options: ExportOptions): Promise<SnapshotExport | string> {
    if (this.#isBusy) return "another export to Apache's form is under way";
    this.#isBusy = true;
    try {
      const taken = await this.#take(options);
      return {
        ...taken,
        next: () => taken.next(),
        [Symbol.asyncDispose]: async () => {
          this.#isBusy = false;
          await taken[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      this.#isBusy = false;
      return `the state could not be exported: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
