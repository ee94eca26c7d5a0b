import { EXISTS, REMOVE_WATCHES } from "../calls/operation.ts";
import { isZkError } from "../errors.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import type { WatchType } from "./watch-registry.ts";

/** A watch at the server. */
export interface ServerWatch {
  readonly type: WatchType;
  readonly path: string;
}

/** Maximum number of removals in flight. */
const REMOVALS_MAX = 64;
/** This node exists on all servers that support removing watches, from 3.5 on. */
const CONFIG_PATH = "/zookeeper/config";

/**
 * Removes many unneeded watches from the server, a few at a time. The result is not awaited: a
 * remaining watch fires at most once, without effect. Servers before 3.5 do not know the operation
 * and close the connection, so they are not asked.
 */
export function removeWatches(driver: SessionDriver, watches: readonly ServerWatch[]): void {
  if (watches.length === 0 || !driver.session.isConnected) return;
  const { connectionCount } = driver.metrics;
  // A lost connection removes its watches.
  const isOver = (): boolean => driver.metrics.connectionCount !== connectionCount || !driver.session.isConnected;
  const fields = { operation: EXISTS, path: CONFIG_PATH, shownPath: CONFIG_PATH, body: undefined, isOwn: true };
  const removal = driver.ask(fields).then(async (config) => {
    if (config === null) return;
    for (let at = 0; at < watches.length && !isOver(); at += REMOVALS_MAX) {
      await Promise.all(watches.slice(at, at + REMOVALS_MAX).map((watch) => removeWatch(driver, watch)));
    }
  });
  removal.catch(() => {
    // The connection is lost, and so are the watches.
  });
}

async function removeWatch(driver: SessionDriver, { type, path }: ServerWatch): Promise<void> {
  try {
    // A watch that another watcher needs is skipped.
    await driver.ask({ operation: REMOVE_WATCHES, path, shownPath: path, body: type, isOwn: true });
  } catch (error) {
    // It has fired meanwhile, and is gone.
    if (!isZkError(error, "NO_WATCHER")) throw error;
  }
}
