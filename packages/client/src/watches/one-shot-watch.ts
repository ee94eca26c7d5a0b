import type { ZkError } from "../errors.ts";
import { zkError } from "../errors.ts";
import { withoutRoot } from "../operations/paths.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { WatchEvent } from "./watch-event.ts";
import type { Watcher, WatchKind } from "./watch-registry.ts";

/**
 * A watch that fires once. It is armed by the read that it belongs to, so no change falls between
 * the two. It survives lost connections and ended sessions: a change made meanwhile fires it on the
 * next connection.
 */
export class OneShotWatch implements Disposable {
  /**
   * Rejects with NO_WATCHER after `remove`, and with CLIENT_CLOSED or SESSION_EXPIRED at the
   * client's end.
   */
  readonly fired: Promise<WatchEvent>;
  readonly #remove: () => void;

  constructor(fired: Promise<WatchEvent>, remove: () => void) {
    this.fired = fired;
    this.#remove = remove;
  }

  /** Removes the watch, here and at the server. May be repeated, also after it has fired. */
  remove(): void {
    this.#remove();
  }

  [Symbol.dispose](): void {
    this.#remove();
  }
}

const KINDS: readonly WatchKind[] = ["data", "exists", "children"];

/** The watcher for the request, and the watch for its caller. */
export function newOneShotWatch(
  driver: SessionDriver,
  { root, path, op }: { readonly root: string; readonly path: string; readonly op: string },
): { readonly watcher: Watcher; readonly watch: OneShotWatch } {
  const { promise, resolve, reject } = Promise.withResolvers<WatchEvent>();
  // If the caller does not wait for it, its end is not an unhandled rejection.
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
