/**
 * The watches that commands have armed, by path, as zkCli's single watcher sees them: an event that
 * several of them report is printed once, and `removewatches` removes them by kind.
 */
import type { Client, OneShotWatch, WatchEvent } from "@zooid/client";
import { CliError } from "../cli-error.ts";
import { clientText } from "../explain-error.ts";
import { nodeEvent, removalEvent, type WatchedEvent, type WatchRemoval } from "../texts/watched-event.ts";

export type WatchedKind = "data" | "child" | "persistent" | "recursive";

interface Armed {
  readonly kind: WatchedKind;
  readonly path: string;
  remove(): void;
}

const REMOVALS: Readonly<Record<WatchedKind, WatchRemoval>> = {
  data: "DataWatchRemoved",
  child: "ChildWatchRemoved",
  persistent: "PersistentWatchRemoved",
  recursive: "PersistentWatchRemoved",
};

export class Watches {
  readonly #armed = new Set<Armed>();
  readonly #print: (event: WatchedEvent) => void;
  /** In this turn: how often each source has reported an event, and how often it was printed. */
  readonly #reported = new Map<string, Map<Armed, number>>();
  readonly #printed = new Map<string, number>();

  constructor(print: (event: WatchedEvent) => void) {
    this.#print = print;
  }

  /**
   * A one-shot watch, as armed by `get -w`, `stat -w` (data) and `ls -w` (child); undefined without
   * the flag.
   */
  addOneShot(kind: "data" | "child", path: string, watch: OneShotWatch | undefined): void {
    if (watch === undefined) return;
    const armed: Armed = { kind, path, remove: () => watch.remove() };
    this.#armed.add(armed);
    watch.fired.then(
      (event) => {
        this.#armed.delete(armed);
        this.#report(armed, event);
      },
      // The session is over, which is reported by an event of its own.
      () => this.#armed.delete(armed),
    );
  }

  /**
   * A persistent watch. Resolves when the server has armed it; no effect if the path has one of
   * that kind.
   */
  async addPersistent(client: Client, path: string, kind: "persistent" | "recursive"): Promise<void> {
    if (this.#find(path, [kind]).length > 0) return;
    const mode = kind === "persistent" ? "persistent" : "persistent-recursive";
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const subscription = client.events$(path, { mode }).subscribe({
      next: (event) => {
        if (event.type !== "resync") this.#report(armed, event);
      },
      error: (error: unknown) => {
        this.#armed.delete(armed);
        reject(error);
      },
      complete: () => this.#armed.delete(armed),
    });
    const armed: Armed = { kind, path, remove: () => subscription.unsubscribe() };
    this.#armed.add(armed);
    refused.catch(() => undefined);
    await Promise.race([refused, answered(client, path)]);
  }

  /**
   * Removes watches, and prints each kind that existed.
   *
   * @throws CliError NO_WATCHER if there is none
   */
  remove(path: string, kinds: readonly WatchedKind[]): void {
    const found = this.#find(path, kinds);
    if (found.length === 0) throw new CliError(clientText("NO_WATCHER", path), { code: "NO_WATCHER", path });
    const removals = new Set<WatchRemoval>();
    for (const armed of found) {
      this.#armed.delete(armed);
      armed.remove();
      removals.add(REMOVALS[armed.kind]);
    }
    for (const removal of REMOVAL_ORDER) if (removals.has(removal)) this.#print(removalEvent(removal, path));
  }

  /** Drops all watches: their session is over. */
  clear(): void {
    this.#armed.clear();
  }

  #find(path: string, kinds: readonly WatchedKind[]): readonly Armed[] {
    return [...this.#armed].filter((armed) => armed.path === path && kinds.includes(armed.kind));
  }

  /**
   * One change reaches all of its watches in one turn; the same event from another watch is printed
   * once, while the same event from the same watch is another one.
   */
  #report(source: Armed, event: WatchEvent): void {
    if (this.#reported.size === 0) setImmediate(() => this.#forgetTurn());
    const key = `${event.type} ${event.zxid} ${event.path}`;
    const bySource = this.#reported.get(key) ?? new Map<Armed, number>();
    this.#reported.set(key, bySource);
    const count = (bySource.get(source) ?? 0) + 1;
    bySource.set(source, count);
    if (count <= (this.#printed.get(key) ?? 0)) return;
    this.#printed.set(key, count);
    this.#print(nodeEvent(event));
  }

  #forgetTurn(): void {
    this.#reported.clear();
    this.#printed.clear();
  }
}

const REMOVAL_ORDER: readonly WatchRemoval[] = ["DataWatchRemoved", "ChildWatchRemoved", "PersistentWatchRemoved"];

/**
 * Resolves when all earlier requests are answered: a session's answers come in the order of its
 * requests.
 */
export async function answered(client: Client, path: string): Promise<void> {
  await client.exists(path);
}
