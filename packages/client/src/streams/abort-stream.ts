import { Observable } from "rxjs";

/** Errors with the signal's reason when it is aborted. */
export function abortOf(signal: AbortSignal): Observable<never> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.error(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
}
