/** Paths that are kept; beyond them nothing is known of any node. */
const PATHS_MAX = 100_000;

/** Nodes of a server that may not be read: of all below them nothing can be said. */
export class UnreadPaths {
  readonly #paths = new Set<string>();
  readonly #pathsMax: number;
  #count = 0;

  constructor(pathsMax: number = PATHS_MAX) {
    this.#pathsMax = pathsMax;
  }

  get count(): number {
    return this.#count;
  }

  /** The one that was found first. */
  get first(): string | undefined {
    return this.#paths.values().next().value;
  }

  add(path: string): void {
    if (this.#paths.has(path)) return;
    this.#count++;
    if (this.#paths.size < this.#pathsMax) this.#paths.add(path);
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Whether a node, or one above it, may not be read; with too many of them it may be any. */
  covers(path: string): boolean {
    if (this.#paths.size === 0) return false;
    if (this.#count > this.#paths.size || this.#paths.has("/")) return true;
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#paths.has(path.slice(0, end))) return true;
    }
    return false;
  }
}
