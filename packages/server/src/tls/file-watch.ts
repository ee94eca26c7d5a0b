import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Files are written in pieces, and a key and its certificate one after the other. */
const SETTLE_MS = 200;

/**
 * Tells when something happened to files, once it has settled. It watches their directories: a file that is replaced is another file, and
 * Kubernetes changes a link beside it.
 */
export class FileWatch implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  #timer: NodeJS.Timeout | undefined;

  constructor(files: readonly string[], changed: () => void) {
    const directories = new Set(files.map((file) => dirname(file)));
    this.#watchers = [...directories].map((directory) => {
      const watcher = watch(directory, { persistent: false }, () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(changed, SETTLE_MS);
        this.#timer.unref();
      });
      // A directory that goes takes its files with it; what was read stays in force.
      return watcher.on("error", () => watcher.close());
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }
}
