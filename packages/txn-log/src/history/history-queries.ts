import type { HistoryAnswer, HistoryQuery, Zxid } from "@zooid/model/storage";
import { StoreError } from "../store/store-error.ts";
import { CallThread } from "../threads/call-thread.ts";
import type { HistoryCall, HistoryThreadData } from "./history-thread.ts";
import type { TimePlace } from "./time-places.ts";

/**
 * Answers clients' questions about the past, one after the other, in a thread of its own, so that
 * the archive's thread does not wait while a base is read. It starts with the first question.
 */
export class HistoryQueries implements AsyncDisposable {
  readonly #data: HistoryThreadData;
  #thread: CallThread<HistoryCall, HistoryAnswer | TimePlace> | undefined;
  readonly #floor: () => Zxid;
  #isClosed = false;

  /** @param floor where the log begins */
  constructor(data: HistoryThreadData, floor: () => Zxid) {
    this.#data = data;
    this.#floor = floor;
  }

  /** Never rejects. */
  async ask(query: HistoryQuery): Promise<HistoryAnswer> {
    try {
      return (await this.#call({ kind: "query", query, floor: this.#floor() })) as HistoryAnswer;
    } catch (cause) {
      return { kind: "failed", reason: cause instanceof Error ? cause.message : String(cause) };
    }
  }

  /**
   * The transaction that a time stands for.
   *
   * @throws Error with what could not be read
   */
  async placeOf(timeMs: number): Promise<TimePlace> {
    return (await this.#call({ kind: "time", timeMs })) as TimePlace;
  }

  async #call(call: HistoryCall): Promise<HistoryAnswer | TimePlace> {
    if (this.#isClosed) throw new Error("the server stops");
    this.#thread ??= new CallThread("history/history-thread", this.#data);
    try {
      return await this.#thread.call(call);
    } catch (cause) {
      // The next question gets another thread.
      this.#thread = undefined;
      throw cause;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close(new StoreError({ code: "CLOSED" }));
  }
}
