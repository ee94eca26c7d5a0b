/** Bodies of requests that are refused before they were read: a client loses the answer when its connection is closed over bytes that were not read. */
import type { IncomingMessage, ServerResponse } from "node:http";

const DROPPED_BYTES_MAX = 64 * 1024;
const DROPPED_MS_MAX = 1000;

/** Requests whose clients wait for the interim response `100 Continue` before they send a body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** A request came with `Expect: 100-continue`: its body is asked for where it is read. */
export function deferBody(message: IncomingMessage, response: ServerResponse): void {
  waiting.set(message, response);
}

/** The body is read from here on. */
export function askForBody(message: IncomingMessage): void {
  waiting.get(message)?.writeContinue();
  waiting.delete(message);
}

/** Whether bytes of a body may still come that nothing reads. */
export function hasUnreadBody(message: IncomingMessage): boolean {
  return !message.complete && !waiting.has(message);
}

/** Reads the rest of a body that nothing else reads, if it is short. */
export async function dropBody(message: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let droppedBytes = 0;
  message.on("data", (piece: Buffer) => {
    droppedBytes += piece.length;
    if (droppedBytes <= DROPPED_BYTES_MAX) return;
    message.pause();
    resolve();
  });
  for (const event of ["end", "close", "error"]) message.once(event, () => resolve());
  const timer = setTimeout(resolve, DROPPED_MS_MAX);
  message.resume();
  await promise;
  clearTimeout(timer);
}
