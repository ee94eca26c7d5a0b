import type { ZkError } from "../errors.ts";
import { zkError } from "../errors.ts";
import { withoutRoot } from "../operations/paths.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { WatchEvent } from "./watch-event.ts";
import type { Watcher, WatchKind } from "./watch-registry.ts";

/**
 * A watch that tells once. It is armed in the same step as the read that it came with, so nothing falls between the two; it survives
 * lost connections and ended sessions, and what happened meanwhile is told on the next connection.
 */
export class OneShotWatch implements Disposable {
  /** Rejects with NO_WATCHER after `remove`, and with CLIENT_CLOSED or SESSION_EXPIRED at the client's end. */
  readonly fired: Promise<WatchEvent>;
  readonly #remove: () => void;

  constructor(fired: Promise<WatchEvent>, remove: () => void) {
    this.fired = fired;
    this.#remove = remove;
  }

  /** Takes the watch back, here and at the server. Harmless when repeated and after it has fired. */
  remove(): void {
    this.#remove();
  }

  [Symbol.dispose](): void {
    this.#remove();
  }
}

const KINDS: readonly WatchKind[] = ["data", "exists", "children"];

/** The watcher to hand to the request, and what its caller gets when the request is answered. */
export function newOneShotWatch(
  driver: SessionDriver,
  { root, path, op }: { readonly root: string; readonly path: string; readonly op: string },
): { readonly watcher: Watcher; readonly watch: OneShotWatch } {
  const { promise, resolve, reject } = Promise.withResolvers<WatchEvent>();
  // Who does not wait for it is not to be told of its end either.
  promise.catch(() => {});
  const watcher: Watcher = {
    rearms: true,
    fire: (event) => resolve({ ...event, path: withoutRoot(root, event.path) }),
    end: (error: ZkError) => reject(error),
  };
  const watch = new OneShotWatch(promise, () => {
    for (const kind of KINDS) driver.unwatch(kind, path, watcher);
    reject(zkError({ code: "NO_WATCHER", op, path: withoutRoot(root, path), outcome: "not-sent" }));
  });
  return { watcher, watch };
}
