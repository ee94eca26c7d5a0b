/** The part of an observable that is needed here. */
export interface Followed<T> {
  subscribe(observer: { next(value: T): void; error(error: unknown): void; complete(): void }): { unsubscribe(): void };
}

/** Shows one value after another, until the signal or the end of the stream. */
export async function follow<T>(
  source$: Followed<T>,
  signal: AbortSignal,
  show: (value: T) => Promise<void> | void,
): Promise<void> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let showing = Promise.resolve();
  const stop = (): void => resolve();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const subscription = source$.subscribe({
    next: (value) => {
      showing = showing.then(() => show(value));
      showing.catch(reject);
    },
    error: reject,
    complete: () => showing.then(resolve, reject),
  });
  try {
    await done;
  } finally {
    signal.removeEventListener("abort", stop);
    subscription.unsubscribe();
  }
}
