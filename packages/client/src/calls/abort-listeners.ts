/**
 * Many calls on one signal share one listener of it: a signal walks through all its listeners for each one that is added, so ten
 * thousand calls with a listener each would keep the process busy for a second.
 */
const shared = new WeakMap<AbortSignal, AbortListeners>();

/** Calls back once when the signal is aborted, in the order of these calls, unless `offAbort` comes before. */
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

  /** With the last one the signal's listener goes. */
  remove(give: () => void): "last" | "others" {
    this.#gives.delete(give);
    if (this.#gives.size > 0) return "others";
    this.#signal.removeEventListener("abort", this.#aborted);
    return "last";
  }
}
