/**
 * Calls with the same signal share one listener on it. A signal walks all its listeners for each
 * one that is added, so ten thousand calls with a listener each would block the process for a
 * second.
 */
const shared = new WeakMap<AbortSignal, AbortListeners>();

/**
 * Calls back once when the signal is aborted, in the order of these calls, unless `offAbort` comes
 * before.
 */
export function onAbort(signal: AbortSignal, give: () => void): void {
  let listeners = shared.get(signal);
  if (listeners === undefined) {
    listeners = new AbortListeners(signal);
    shared.set(signal, listeners);
  }
  listeners.add(give);
}

export function offAbort(signal: AbortSignal, give: () => void): void {
  const listeners = shared.get(signal);
  if (listeners?.remove(give) === "last") shared.delete(signal);
}

class AbortListeners {
  readonly #signal: AbortSignal;
  readonly #gives = new Set<() => void>();
  readonly #aborted = (): void => {
    for (const give of this.#gives) give();
    shared.delete(this.#signal);
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#aborted, { once: true });
  }

  add(give: () => void): void {
    this.#gives.add(give);
  }

  /** Removing the last callback removes the signal's listener. */
  remove(give: () => void): "last" | "others" {
    this.#gives.delete(give);
    if (this.#gives.size > 0) return "others";
    this.#signal.removeEventListener("abort", this.#aborted);
    return "last";
  }
}
