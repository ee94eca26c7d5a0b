import type { Observable } from "rxjs";
import { zkError } from "../errors.ts";
import type { ClientState } from "./client-state.ts";

/**
 * Runs work with a signal that aborts with SESSION_EXPIRED when the session is lost.
 *
 * @throws that error too, however the work has ended
 */
export async function withinSession<T>(
  state$: Observable<ClientState>,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const scope = new AbortController();
  const states = state$.subscribe(({ kind }) => {
    if (kind === "lost") scope.abort(lost());
  });
  try {
    const result = await work(scope.signal);
    scope.signal.throwIfAborted();
    return result;
  } finally {
    states.unsubscribe();
  }
}

function lost(): Error {
  const message =
    "the session is lost in which this was to happen; what was sent may have been carried out (SESSION_EXPIRED)";
  return zkError({ code: "SESSION_EXPIRED", op: "sessionScope", outcome: "unknown", message });
}
