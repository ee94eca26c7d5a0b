import type { HistoryAnswer, HistoryQuery } from "@zooid/model/storage";
import { StoreError } from "../store-error.ts";
import { CallThread } from "../threads/call-thread.ts";
import type { HistoryThreadData } from "./history-thread.ts";

/**
 * Answers clients' questions about the past, one after the other, in a thread of its own: that of
 * the archive shall not wait for a base that is read. It starts with the first question.
 */
export class HistoryQueries implements AsyncDisposable {
  readonly #data: HistoryThreadData;
  #thread: CallThread<HistoryQuery, HistoryAnswer> | undefined;
  #isClosed = false;

  constructor(data: HistoryThreadData) {
    this.#data = data;
  }

  /** Never rejects. */
  async ask(query: HistoryQuery): Promise<HistoryAnswer> {
    if (this.#isClosed) return { kind: "failed", reason: "the server stops" };
    this.#thread ??= new CallThread("archive/history-thread", this.#data);
    try {
      return await this.#thread.call(query);
    } catch (cause) {
      // The next question gets another thread.
      this.#thread = undefined;
      return { kind: "failed", reason: cause instanceof Error ? cause.message : String(cause) };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close(new StoreError({ code: "CLOSED" }));
  }
}
