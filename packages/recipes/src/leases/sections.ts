/**
 * Identifies owners by async context. Java's locks identify them by thread; here, code that is
 * called from a section, after any number of awaits, belongs to its owner.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { unlessAborted } from "./waiting.ts";

/**
 * A section of work under a lock. Nested work that takes the lock again runs in a nested section of
 * the same owner.
 */
interface Section {
  readonly owner: object;
  readonly outer: Section | undefined;
  isOpen: boolean;
  /**
   * The last nested section, each of which waits for the one before: `Promise.all` of two runs one
   * after the other.
   */
  lastWithin: Promise<unknown>;
}

export class Sections {
  readonly #storage = new AsyncLocalStorage<Section>();

  /** Owner of the caller's section. Work that outlives its section has none. */
  get owner(): object | undefined {
    return this.#open?.owner;
  }

  /**
   * Runs work in a new section, for the owner of the enclosing one if there is one, else for a new
   * owner.
   */
  async run<T>(signal: AbortSignal, work: (owner: object) => Promise<T>): Promise<T> {
    const outer = this.#open;
    const enter = (): Promise<T> => {
      const section = { owner: outer?.owner ?? {}, outer, isOpen: true, lastWithin: Promise.resolve() };
      return this.#storage.run(section, async () => {
        try {
          return await work(section.owner);
        } finally {
          section.isOpen = false;
        }
      });
    };
    if (outer === undefined) return enter();
    const before = outer.lastWithin;
    const { promise: done, resolve: leave } = Promise.withResolvers<void>();
    outer.lastWithin = Promise.all([before, done]);
    try {
      await unlessAborted(before, signal);
      return await enter();
    } finally {
      leave();
    }
  }

  get #open(): Section | undefined {
    let section = this.#storage.getStore();
    while (section?.isOpen === false) section = section.outer;
    return section;
  }
}
