import { startTimer } from "./calls/timers.ts";
import type { CloseOptions } from "./close-options.ts";
import { zkError } from "./errors.ts";
import { isConnected } from "./session/client-state.ts";
import type { SessionDriver } from "./session/session-driver.ts";

/**
 * Ends the session at its server within a limit, and the client in any case.
 *
 * @throws the signal's reason, OPERATION_TIMEOUT or CONNECTION_LOSS where no server has confirmed
 *   the end of the session
 */
export async function closeWithin(
  driver: SessionDriver,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: CloseOptions,
): Promise<void> {
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal?.reason);
  limit.signal.addEventListener("abort", () => driver.disconnect());
  signal?.addEventListener("abort", abort, { once: true });
  using _ = startTimer(timeoutMs, () =>
    limit.abort(unconfirmed(driver, "OPERATION_TIMEOUT", ` within ${timeoutMs} ms`)),
  );
  if (signal?.aborted === true) abort();
  try {
    // Only a connected server can end a session.
    await driver.states.until(({ kind }) => kind !== "suspended");
    const hasSession = isConnected(driver.state);
    await driver.close(Number.POSITIVE_INFINITY);
    limit.signal.throwIfAborted();
    if (hasSession && !driver.session.isClosedAtServer) throw unconfirmed(driver, "CONNECTION_LOSS", "");
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function unconfirmed({ session }: SessionDriver, code: "OPERATION_TIMEOUT" | "CONNECTION_LOSS", when: string): Error {
  const message = `close: no server has confirmed the end of the session${when}; it ends with its timeout of ${session.timeoutMs} ms, and its ephemeral nodes with it (${code})`;
  return zkError({ code, op: "close", outcome: "unknown", message });
}
