import { startTimer } from "./calls/timers.ts";
import type { CloseOptions } from "./close-options.ts";
import { zkError } from "./errors.ts";
import type { SessionDriver } from "./session/session-driver.ts";

/**
 * Ends the session at its servers within a limit, and the client in any case. When the connection
 * ends before the answer, the session is attached again and closed there.
 *
 * @throws the signal's reason, OPERATION_TIMEOUT, AUTH_FAILED or CONNECTION_LOSS where no server
 *   has confirmed the end of the session
 */
export async function closeWithin(
  driver: SessionDriver,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: CloseOptions,
): Promise<void> {
  const hasEnded = driver.end !== undefined;
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal?.reason);
  limit.signal.addEventListener("abort", () => driver.disconnect());
  signal?.addEventListener("abort", abort, { once: true });
  using _ = startTimer(timeoutMs, () =>
    limit.abort(unconfirmed(driver, "OPERATION_TIMEOUT", ` within ${timeoutMs} ms`)),
  );
  if (signal?.aborted === true) abort();
  try {
    await driver.closeConfirmed();
    limit.signal.throwIfAborted();
    const { end, session } = driver;
    if (hasEnded || session.isClosedAtServer) return;
    if (end?.code === "AUTH_FAILED") throw end;
    throw unconfirmed(driver, "CONNECTION_LOSS", "");
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function unconfirmed({ session }: SessionDriver, code: "OPERATION_TIMEOUT" | "CONNECTION_LOSS", when: string): Error {
  const message = `close: no server has confirmed the end of the session${when}; it ends with its timeout of ${session.timeoutMs} ms, and its ephemeral nodes with it (${code})`;
  return zkError({ code, op: "close", outcome: "unknown", message });
}
