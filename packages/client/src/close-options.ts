/** How long closing a client waits for its server. */
export interface CloseOptions {
  /** When it aborts, the client ends at once. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds; then the client ends. `Infinity` for none. */
  readonly timeoutMs?: number | undefined;
}
