import { createHash } from "node:crypto";
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { dirname } from "node:path";

/** Files are written in pieces, and a key and its certificate one after the other. */
const SETTLE_MS = 200;
/** Other files may change in the directory all the time. */
const SETTLE_MS_MAX = 2000;

/**
 * Calls back when the content of files has changed, once no file of their directories has changed
 * for 200 ms, or 2 s after the first change. It watches directories, because a file that is
 * replaced is another file, and because Kubernetes replaces a link beside it. It compares contents,
 * because other files of the directory change too: a log file, for example, that gets a line about
 * each reload.
 */
export class FileWatch implements Disposable {
  readonly #files: readonly string[];
  readonly #changed: () => void;
  readonly #watchers: readonly FSWatcher[];
  #fingerprint: string;
  #timer: NodeJS.Timeout | undefined;
  #latestMs = 0;

  constructor(files: readonly string[], changed: () => void) {
    this.#files = files;
    this.#changed = changed;
    const directories = new Set(files.map((file) => dirname(file)));
    this.#watchers = [...directories].map((directory) => {
      const watcher = watch(directory, { persistent: false }, () => this.#settle());
      // A removed directory takes its files with it; the previous content stays in force.
      return watcher.on("error", () => watcher.close());
    });
    this.#fingerprint = fingerprintOf(files);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #settle(): void {
    const nowMs = performance.now();
    if (this.#timer === undefined) this.#latestMs = nowMs + SETTLE_MS_MAX;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#compare(), Math.min(SETTLE_MS, Math.max(0, this.#latestMs - nowMs)));
    this.#timer.unref();
  }

  #compare(): void {
    this.#timer = undefined;
    const fingerprint = fingerprintOf(this.#files);
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.#changed();
  }
}

/** Equal for equal contents. A file that cannot be read counts as its error's code. */
function fingerprintOf(files: readonly string[]): string {
  return files.map((file) => `${file}\0${contentOf(file)}`).join("\0");
}

function contentOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("base64");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unreadable";
  }
}
