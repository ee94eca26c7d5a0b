/** Interceptors around calls: checks of written data, traces, faults for tests. */
import type { CallFields } from "./call.ts";
import type { TransactionPart } from "./operation.ts";

/** A call that is about to be made, or a step of one. */
export interface InterceptedStep {
  /** The client's method, such as `get`, `create` or `transaction`. */
  readonly op: string;
  /** The caller's path; for a transaction and `reads` that of the first step. */
  readonly path: string;
  /**
   * The server's path, with chroot and namespaces, for a sequential node without its number; `/`
   * for a transaction and `reads`.
   */
  readonly fullPath: string;
  /**
   * The data that a create or a set is about to write: bytes, or null. Undefined for other
   * operations. Must not be changed.
   */
  readonly data: Uint8Array | null | undefined;
}

export interface InterceptedCall extends InterceptedStep {
  /** Whether the operation changes nothing. */
  readonly isRead: boolean;
  /** The steps of a transaction or of `reads`; empty for other operations. */
  readonly steps: readonly InterceptedStep[];
}

/**
 * Called around a call. Each call of `next` makes the call, with its retries; the caller gets the
 * value that the interceptor returns or the error that it throws. Requests are sent in the order in
 * which `next` is called: an interceptor that waits first gives up the caller's order, and the
 * call's limits do not end that wait.
 */
export type Interceptor = <T>(call: InterceptedCall, next: () => Promise<T>) => Promise<T>;

/** `outer` is called around `inner`. */
export function around(outer: Interceptor | undefined, inner: Interceptor | undefined): Interceptor | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (call, next) => outer(call, () => inner(call, next));
}

/** Anything that an interceptor throws becomes a rejection. */
export async function intercepted<T>(
  intercept: Interceptor,
  call: InterceptedCall,
  next: () => Promise<T>,
): Promise<T> {
  return intercept(call, next);
}

/** The description of a request for interceptors. */
export function interceptedCall<B, T>({ operation, path, shownPath, body }: CallFields<B, T>): InterceptedCall {
  return {
    op: operation.name,
    path: shownPath,
    fullPath: path,
    isRead: operation.isRead,
    data: operation.dataOf?.(body),
    steps: operation.partsOf?.(body).map(stepOf) ?? [],
  };
}

function stepOf({ name, path, fullPath, data }: TransactionPart): InterceptedStep {
  return { op: name, path, fullPath, data };
}
