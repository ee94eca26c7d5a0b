import { zkError } from "../errors.ts";
import type { StateListeners } from "./state-listeners.ts";

/**
 * Runs work with a signal that aborts with SESSION_EXPIRED when the session is lost.
 *
 * @throws that error too, however the work has ended
 */
export async function withinSession<T>(
  states: StateListeners,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const scope = new AbortController();
  const stop = states.add(({ kind }) => {
    if (kind === "lost") scope.abort(lost());
  });
  try {
    const result = await work(scope.signal);
    scope.signal.throwIfAborted();
    return result;
  } finally {
    stop();
  }
}

function lost(): Error {
  const message =
    "the session is lost in which this was to happen; what was sent may have been carried out (SESSION_EXPIRED)";
  return zkError({ code: "SESSION_EXPIRED", op: "sessionScope", outcome: "unknown", message });
}
