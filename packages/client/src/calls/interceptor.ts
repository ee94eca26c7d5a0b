/** What stands around calls: checks of what is written, traces, faults for tests. */
import type { CallFields } from "./call.ts";
import type { TransactionPart } from "./operation.ts";

/** A call that is about to be asked, or a step of one. */
export interface InterceptedStep {
  /** The client's method, such as `get`, `create` or `transaction`. */
  readonly op: string;
  /** As the caller named it; of a transaction and of `reads` that of the first step. */
  readonly path: string;
  /** As the server names it, with chroot and namespaces, a sequential node's without its number; `/` of a transaction and of `reads`. */
  readonly fullPath: string;
  /** What a create or a set is about to write: bytes, or null. Undefined for everything else. Not to be changed. */
  readonly data: Uint8Array | null | undefined;
}

export interface InterceptedCall extends InterceptedStep {
  /** Whether it changes nothing. */
  readonly isRead: boolean;
  /** What a transaction or `reads` consists of; empty for everything else. */
  readonly steps: readonly InterceptedStep[];
}

/**
 * Stands around a call. `next` asks it, with retries and all, each time that it is called; what the interceptor returns or throws is what the
 * caller gets. Calls go out in the order in which `next` is called: who waits before gives up the caller's order, and no limit of the call
 * ends that wait.
 */
export type Interceptor = <T>(call: InterceptedCall, next: () => Promise<T>) => Promise<T>;

/** `outer` stands around what `inner` does. */
export function around(outer: Interceptor | undefined, inner: Interceptor | undefined): Interceptor | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (call, next) => outer(call, () => inner(call, next));
}

/** Whatever an interceptor throws rejects. */
export async function intercepted<T>(
  intercept: Interceptor,
  call: InterceptedCall,
  next: () => Promise<T>,
): Promise<T> {
  return intercept(call, next);
}

/** What interceptors are shown of what the driver is asked. */
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
