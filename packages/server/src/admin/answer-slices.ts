import { BUDGETS } from "@zooid/model";
import type { HttpStream } from "./http-port.ts";

/**
 * An answer whose length grows with the state, piece by piece. An empty piece stands for work
 * without a result.
 */
export type Pieces = Iterable<string>;

/** Time of making answers, all together, in one turn of the event loop. */
const SLICE_MS = BUDGETS.longAnswers.turnMs;
/** Characters of a chunk: a longer answer is sent in several, so that little of it is in memory. */
const CHUNK_CHARS = 64 * 1024;
/** Pieces, and characters, between two looks at the clock. */
const PIECES_PER_LOOK = 32;
const CHARS_PER_LOOK = 8 * 1024;

export interface AnswerSlicesHost {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /**
   * Opens a turn of the event loop, if none is open, so that the time of a slice is taken from the
   * time for clients' requests.
   */
  wake(): void;
  /** Calls back in another turn. */
  later(callback: () => void): void;
}

/**
 * Makes long answers in slices: of each turn of the event loop they get 1 ms, all together, and
 * clients' requests the rest. Each address has one answer at a time; its others wait until that one
 * is over. Answers take turns.
 */
export class AnswerSlices {
  readonly #host: AnswerSlicesHost;
  readonly #waiting: ((isOver: () => boolean) => void)[] = [];
  /** The answers that wait behind the one that an address has. */
  readonly #addresses = new Map<string, (() => void)[]>();
  #isDue = false;

  constructor(host: AnswerSlicesHost) {
    this.#host = host;
  }

  /** @param address of the requester */
  answer(address: string, pieces: Pieces): SlicedAnswer {
    return new SlicedAnswer(this, address, pieces);
  }

  /** The whole text, for other parts of this process. */
  async text(pieces: Pieces): Promise<string> {
    let text = "";
    await using answer = this.answer("", pieces);
    for (let chunk = await answer.nextText(); chunk !== undefined; chunk = await answer.nextText()) text += chunk;
    return text;
  }

  /** Resolves when the address has no other answer. */
  async admit(address: string): Promise<void> {
    const waiting = this.#addresses.get(address);
    if (waiting === undefined) {
      this.#addresses.set(address, []);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    await promise;
  }

  /** An answer that was admitted is over. */
  release(address: string): void {
    const next = this.#addresses.get(address)?.shift();
    if (next === undefined) this.#addresses.delete(address);
    else next();
  }

  /** Resolves when `work` was done in a slice, which it ends when `isOver` is true. */
  async slice(work: (isOver: () => boolean) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push((isOver) => {
      try {
        work(isOver);
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    this.#arm();
    await promise;
  }

  #arm(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#host.later(() => this.#serve());
  }

  #serve(): void {
    this.#isDue = false;
    this.#host.wake();
    const endMs = this.#host.now() + SLICE_MS;
    const isOver = (): boolean => this.#host.now() >= endMs;
    do this.#waiting.shift()?.(isOver);
    while (this.#waiting.length > 0 && !isOver());
    if (this.#waiting.length > 0) this.#arm();
  }
}

/**
 * One answer: chunks of bytes, made when they are asked for. It is disposed of whether or not it
 * was read to its end.
 */
export class SlicedAnswer implements HttpStream {
  readonly sizeBytes: undefined;
  readonly #slices: AnswerSlices;
  readonly #address: string;
  readonly #pieces: Iterator<string>;
  #state: "new" | "waiting" | "admitted" | "over" = "new";

  constructor(slices: AnswerSlices, address: string, pieces: Pieces) {
    this.#slices = slices;
    this.#address = address;
    this.#pieces = pieces[Symbol.iterator]();
  }

  async next(): Promise<Uint8Array | undefined> {
    const text = await this.nextText();
    return text === undefined ? undefined : Buffer.from(text);
  }

  /** The same as text. */
  async nextText(): Promise<string | undefined> {
    if (this.#state === "new") await this.#admit();
    while (this.#state === "admitted") {
      let text = "";
      let isDone = false;
      await this.#slices.slice((isOver) => {
        // It may have been disposed of while it waited.
        if (this.#state !== "admitted") return;
        ({ text, isDone } = this.#make(isOver));
      });
      if (isDone) this.#end();
      if (text !== "") return text;
    }
    return undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  async #admit(): Promise<void> {
    this.#state = "waiting";
    await this.#slices.admit(this.#address);
    // It was disposed of meanwhile.
    if (this.#isOver) this.#slices.release(this.#address);
    else this.#state = "admitted";
  }

  #make(isOver: () => boolean): { readonly text: string; readonly isDone: boolean } {
    let text = "";
    let seenChars = 0;
    for (let made = 1; ; made++) {
      const { done, value } = this.#pieces.next();
      if (done === true) return { text, isDone: true };
      text += value;
      if (text.length >= CHUNK_CHARS) return { text, isDone: false };
      if (made % PIECES_PER_LOOK !== 0 && text.length - seenChars < CHARS_PER_LOOK) continue;
      seenChars = text.length;
      if (isOver()) return { text, isDone: false };
    }
  }

  #end(): void {
    if (this.#isOver) return;
    const wasAdmitted = this.#state === "admitted";
    this.#state = "over";
    this.#pieces.return?.();
    if (wasAdmitted) this.#slices.release(this.#address);
  }

  get #isOver(): boolean {
    return this.#state === "over";
  }
}
