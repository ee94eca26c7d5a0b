/**
 * Bodies of HTTP requests that are refused before they were read: a client loses the answer when
 * its connection is closed over bytes that were not read. A body that is announced by
 * `Expect: 100-continue` is asked for only where it is read.
 */

/** A request as far as its body goes: Node's own has it. */
export interface BodySource {
  readonly complete: boolean;
  on(event: "data", listener: (piece: Uint8Array) => void): unknown;
  once(event: "end" | "close" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** Calls back once, unless it is cancelled before. */
export type StartTimer = (ms: number, callback: () => void) => { cancel(): void };

const DROPPED_BYTES_MAX = 64 * 1024;
const DROPPED_MS_MAX = 1000;

/** Requests whose clients wait for the interim response `100 Continue` before they send a body. */
const waiting = new WeakMap<BodySource, { writeContinue(): void }>();

/** A request came with `Expect: 100-continue`: its body is asked for where it is read. */
export function deferBody(message: BodySource, response: { writeContinue(): void }): void {
  waiting.set(message, response);
}

/** The body is read from here on. */
export function askForBody(message: BodySource): void {
  waiting.get(message)?.writeContinue();
  waiting.delete(message);
}

/** Whether bytes of a body may still come that nothing reads. */
export function hasUnreadBody(message: BodySource): boolean {
  return !message.complete && !waiting.has(message);
}

/** Reads the rest of a body that nothing else reads, if it is short. */
export async function dropBody(message: BodySource, startTimer: StartTimer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let droppedBytes = 0;
  message.on("data", (piece) => {
    droppedBytes += piece.length;
    if (droppedBytes <= DROPPED_BYTES_MAX) return;
    message.pause();
    resolve();
  });
  for (const event of ["end", "close", "error"] as const) message.once(event, resolve);
  const timer = startTimer(DROPPED_MS_MAX, resolve);
  message.resume();
  await promise;
  timer.cancel();
}
