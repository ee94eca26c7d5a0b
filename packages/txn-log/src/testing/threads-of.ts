import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Worker } from "node:worker_threads";

/** The threads that a call starts, in the order in which it starts them. */
export async function threadsOf<T>(call: () => Promise<T>): Promise<[T, readonly Worker[]]> {
  const threads: Worker[] = [];
  const note = (message: unknown): void => void threads.push((message as { readonly worker: Worker }).worker);
  subscribe("worker_threads", note);
  try {
    return [await call(), threads];
  } finally {
    unsubscribe("worker_threads", note);
  }
}
