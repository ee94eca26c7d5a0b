import type { AclInput } from "./auth/acl-checks.ts";
import type { CallFields, CallOptions } from "./calls/call.ts";
import { around, type InterceptedCall, type Interceptor, intercepted, interceptedCall } from "./calls/interceptor.ts";
import type { RetryPolicy } from "./calls/retry.ts";
import type { AclSource, Payload } from "./operations/create-mode.ts";
import type { SessionDriver } from "./session/session-driver.ts";

/** Overrides of a view; see `Client.with`. Omitted fields keep their values. */
export interface ViewOptions {
  /** Access list of nodes that are created without one. */
  readonly acl?: AclSource | undefined;
  /** Data of nodes that are created without any. Created ancestors stay empty. */
  readonly defaultData?: Payload | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Time limit of calls without one of their own. */
  readonly timeoutMs?: number | undefined;
  /**
   * Cancels every call, in addition to the call's own signal. Guaranteed deletes and streams are
   * not affected.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Default behaviour of recipes when the connection is lost: release what they hold, or keep it
   * until the session may be over.
   */
  readonly onSuspended?: "lose" | "keep" | undefined;
  /**
   * Called around every call, outside of the interceptors of the client or view that it was made
   * from. Not around `addAuth`, streams, and the client's own clean-up.
   */
  readonly intercept?: Interceptor | undefined;
}

type WholeViewOptions = ViewOptions & { readonly acl: AclSource; readonly retry: RetryPolicy };

/** Defaults of calls. */
export class View {
  readonly onSuspended: "lose" | "keep";
  readonly defaultData: Payload | undefined;
  readonly retry: RetryPolicy;
  readonly #options: WholeViewOptions;
  /** Limits of a call without options; undefined if there are none. */
  readonly #limits: CallOptions | undefined;

  constructor(options: WholeViewOptions, isOwn = false) {
    const { timeoutMs, signal } = options;
    this.onSuspended = options.onSuspended ?? "lose";
    this.defaultData = options.defaultData;
    this.retry = options.retry;
    this.#options = options;
    // The driver applies the client's own policy.
    const isPlain = isOwn && timeoutMs === undefined && signal === undefined;
    this.#limits = isPlain ? undefined : { retry: options.retry, timeoutMs, signal };
  }

  with(options: ViewOptions): View {
    const own = this.#options;
    return new View({
      acl: options.acl ?? own.acl,
      defaultData: options.defaultData === undefined ? own.defaultData : options.defaultData,
      retry: options.retry ?? own.retry,
      timeoutMs: options.timeoutMs ?? own.timeoutMs,
      signal: either(options.signal, own.signal),
      onSuspended: options.onSuspended ?? own.onSuspended,
      intercept: around(options.intercept, own.intercept),
    });
  }

  /**
   * The same without limits and interceptors, for work that continues after its caller has given
   * up.
   */
  get unlimited(): View {
    return new View({ ...this.#options, timeoutMs: undefined, signal: undefined, intercept: undefined });
  }

  /** Sends a request through the interceptors. */
  ask<B, T>(driver: SessionDriver, fields: CallFields<B, T>): Promise<T> {
    if (this.#options.intercept === undefined) return driver.ask(fields);
    return this.intercepted(interceptedCall(fields), () => driver.ask(fields));
  }

  /** The same for work of more than one request. */
  intercepted<T>(call: InterceptedCall, next: () => Promise<T>): Promise<T> {
    const { intercept } = this.#options;
    return intercept === undefined ? next() : intercepted(intercept, call, next);
  }

  aclOf(path: string): AclInput {
    const { acl } = this.#options;
    return typeof acl === "function" ? acl(path) : acl;
  }

  /** The limits of a call with its options. */
  limitsOf<O extends CallOptions>(options: O | undefined): O | CallOptions | undefined {
    const limits = this.#limits;
    if (limits === undefined || options === undefined) return options ?? limits;
    return {
      ...options,
      retry: options.retry ?? limits.retry,
      timeoutMs: options.timeoutMs ?? limits.timeoutMs,
      signal: either(options.signal, limits.signal),
    };
  }
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  return AbortSignal.any([one, other]);
}
