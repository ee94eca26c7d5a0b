import type { Observable } from "rxjs";
import { renamedError, ZkError } from "../errors.ts";
import { checkedPath, underRoot } from "../operations/paths.ts";
import type { SessionDriver } from "../session/session-driver.ts";
import { type Aspect, failOnExpiry, type Observations, type Observed } from "./observe.ts";
import type { ObserveOptions } from "./observe-options.ts";
import { rxjs } from "./rxjs-module.ts";

/**
 * One aspect of a node, now and after each change; errors have the name of the stream and the path
 * that was asked for.
 */
export function observeNode<T>(
  { driver, observations, root }: { driver: SessionDriver; observations: Observations; root: string },
  aspect: Aspect<T>,
  path: string,
  { op, onExpiry = "resume" }: ObserveOptions & { readonly op: string },
): Observable<Observed<T>> {
  const { catchError, defer, throwError } = rxjs();
  const source = defer(() => observations.of(aspect, underRoot(root, checkedPath(path, op)))).pipe(
    catchError((error: unknown) =>
      throwError(() => (error instanceof ZkError ? renamedError(error, op, path) : error)),
    ),
  );
  return onExpiry === "resume" ? source : failOnExpiry(driver, source, op);
}
