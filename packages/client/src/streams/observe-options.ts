import type { DecodeOptions } from "./observed-node.ts";

export interface ObserveOptions {
  /**
   * Effect of the session's end on the stream: none, it continues in the next session, or an error.
   * Default `resume`.
   */
  readonly onExpiry?: "resume" | "error";
}

export type ObserveDataOptions<T> = ObserveOptions & DecodeOptions<T>;
