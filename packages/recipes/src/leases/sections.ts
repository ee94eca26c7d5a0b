/**
 * Whose code runs: threads, by which Java's locks know their owners, do not exist here, but what is called from a section of code, however
 * many awaits later, can be told from what is not.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { unlessAborted } from "./waiting.ts";

/** What work under a lock runs in. Work that it calls and that takes the lock again runs in a section within, for the same owner. */
interface Section {
  readonly owner: object;
  readonly outer: Section | undefined;
  isOpen: boolean;
  /** The last of those within, each of which waits for the one before: `Promise.all` of two is one after the other. */
  lastWithin: Promise<unknown>;
}

export class Sections {
  readonly #storage = new AsyncLocalStorage<Section>();

  /** Of the section that the caller is in. What was begun there and goes on when it has ended is nobody's. */
  get owner(): object | undefined {
    return this.#open?.owner;
  }

  /** Does some work in a section of its own, for the owner of the one around it if there is one, else for a new one. */
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
