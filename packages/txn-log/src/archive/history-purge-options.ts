import type { Zxid } from "@zooid/model/storage";
import type { LiveTree } from "../state/live-tree.ts";

export interface HistoryPurgeOptions {
  /** The last transaction of which nothing shall be left but what the tree has of it. */
  readonly through: Zxid;
  readonly tree: LiveTree;
  /** Marks what is applied as committed and durable. */
  readonly mark: () => void;
  /** Asked between steps: whether to give up. */
  readonly isEnded: () => boolean;
  /**
   * Time that a step waits for what is in its way: entries that are not committed, a state that is
   * sent, readers of segments. Default 60 s.
   */
  readonly waitMs?: number;
}

/** The outcome of a purge: the removed part, or the reason why it did not come to its end. */
export type HistoryPurge =
  | { readonly kind: "purged"; readonly fileCount: number; readonly baseCount: number; readonly base: Zxid }
  /** Files that were removed by then stay so; the next purge does the rest. */
  | { readonly kind: "obstacle"; readonly reason: string };
