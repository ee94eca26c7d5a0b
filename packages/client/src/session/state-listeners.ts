import type { ClientState } from "./client-state.ts";

interface Listener {
  readonly state: (state: ClientState) => void;
  readonly ended: () => void;
}

/** The current state, and the listeners of changes. Each begins with the current state. */
export class StateListeners {
  readonly #listeners = new Set<Listener>();
  #current: ClientState | undefined;
  #isEnded = false;

  /**
   * Listens until the returned function is called.
   *
   * @param state called at once with the current state; it may make calls, and close the client
   * @param ended no further state comes; called at once after the end
   */
  add(state: (state: ClientState) => void, ended: () => void = () => {}): () => void {
    const listener: Listener = { state, ended };
    if (!this.#isEnded) this.#listeners.add(listener);
    if (this.#current !== undefined) state(this.#current);
    if (this.#isEnded) ended();
    return () => this.#listeners.delete(listener);
  }

  next(state: ClientState): void {
    this.#current = state;
    // A listener may remove others, and add some, which begin with this state.
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener.state(state);
  }

  end(): void {
    this.#isEnded = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.ended();
  }

  /** The first state that satisfies a condition. @throws the signal's reason */
  until(isWanted: (state: ClientState) => boolean, signal?: AbortSignal): Promise<ClientState> {
    return new Promise((resolve, reject) => {
      let stop = (): void => {};
      const abort = (): void => {
        stop();
        reject(signal?.reason);
      };
      let isFound = false;
      const remove = this.add((state) => {
        if (!isWanted(state)) return;
        isFound = true;
        stop();
        resolve(state);
      });
      stop = () => {
        remove();
        signal?.removeEventListener("abort", abort);
      };
      if (isFound) stop();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
