import type { Operation } from "../calls/operation.ts";
import { newOneShotWatch, type OneShotWatch } from "../watches/one-shot-watch.ts";
import type { ReadOptions } from "./node-options.ts";
import { checkedPath, underRoot } from "./paths.ts";
import type { ViewPlace } from "./view-place.ts";

/** Result of a read that arms a watch. */
export interface Watched {
  readonly watch: OneShotWatch;
}

export async function readAndWatch<T extends object>(
  { driver, root, view }: ViewPlace,
  operation: Operation<undefined, T>,
  path: string,
  options: ReadOptions,
): Promise<T & Watched> {
  const full = underRoot(root, checkedPath(path, operation.name));
  const { watcher, watch } = newOneShotWatch(driver, { root, path: full, op: operation.name });
  const value = await view.ask(driver, {
    operation,
    path: full,
    shownPath: path,
    body: undefined,
    watcher,
    syncPath: options.sync === true ? full : undefined,
    options: view.limitsOf(options),
  });
  return { ...value, watch };
}
