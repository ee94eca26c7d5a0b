import { EXISTS, REMOVE_WATCHES } from "../calls/operation.ts";
import { isZkError } from "../errors.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { WatchType } from "./watch-registry.ts";

/** A watch as the server has it. */
export interface ServerWatch {
  readonly type: WatchType;
  readonly path: string;
}

/** Removals that are on their way at a time. */
const REMOVALS_MAX = 64;
/** Every server has it that knows how to remove watches, from 3.5 on. */
const CONFIG_PATH = "/zookeeper/config";

/**
 * Takes many watches from the server that nobody here has use for any more, a few at a time. Nobody waits for it: a watch that stays tells at
 * most once, and nobody. Servers before 3.5 know no removal and hang up on who asks, so they are not asked.
 */
export function removeWatches(driver: SessionDriver, watches: readonly ServerWatch[]): void {
  if (watches.length === 0 || !driver.session.isConnected) return;
  const { connectionCount } = driver.metrics;
  // With the connection go its watches.
  const isOver = (): boolean => driver.metrics.connectionCount !== connectionCount || !driver.session.isConnected;
  const fields = { operation: EXISTS, path: CONFIG_PATH, shownPath: CONFIG_PATH, body: undefined, isOwn: true };
  const removal = driver.ask(fields).then(async (config) => {
    if (config === null) return;
    for (let at = 0; at < watches.length && !isOver(); at += REMOVALS_MAX) {
      await Promise.all(watches.slice(at, at + REMOVALS_MAX).map((watch) => removeWatch(driver, watch)));
    }
  });
  removal.catch(() => {
    // The connection is gone, and so are the watches.
  });
}

async function removeWatch(driver: SessionDriver, { type, path }: ServerWatch): Promise<void> {
  try {
    // One that somebody else here has use for is not asked for.
    await driver.ask({ operation: REMOVE_WATCHES, path, shownPath: path, body: type, isOwn: true });
  } catch (error) {
    // It has told meanwhile, and is gone.
    if (!isZkError(error, "NO_WATCHER")) throw error;
  }
}
