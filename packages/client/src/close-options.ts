/** How long closing a client waits for its server. */
export interface CloseOptions {
  /** When it aborts, the client ends at once, and closing rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Time limit in milliseconds; then the client ends, and closing rejects with OPERATION_TIMEOUT.
   * `Infinity` for none.
   */
  readonly timeoutMs?: number | undefined;
}
