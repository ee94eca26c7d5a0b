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

/** Defaults of calls. */
export class View {
  readonly onSuspended: "lose" | "keep";
  readonly defaultData: Payload | undefined;
  readonly retry: RetryPolicy;
  readonly #acl: AclSource;
  readonly #timeoutMs: number | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #intercept: Interceptor | undefined;
  /** Limits of a call without options; undefined if there are none. */
  readonly #limits: CallOptions | undefined;

  constructor(options: ViewOptions & { readonly acl: AclSource; readonly retry: RetryPolicy }, isOwn = false) {
    const { timeoutMs, signal } = options;
    this.onSuspended = options.onSuspended ?? "lose";
    this.defaultData = options.defaultData;
    this.retry = options.retry;
    this.#acl = options.acl;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#intercept = options.intercept;
    // The driver applies the client's own policy.
    const isPlain = isOwn && timeoutMs === undefined && signal === undefined;
    this.#limits = isPlain ? undefined : { retry: options.retry, timeoutMs, signal };
  }

  with(options: ViewOptions): View {
    return new View({
      acl: options.acl ?? this.#acl,
      defaultData: options.defaultData === undefined ? this.defaultData : options.defaultData,
      retry: options.retry ?? this.retry,
      timeoutMs: options.timeoutMs ?? this.#timeoutMs,
      signal: either(options.signal, this.#signal),
      onSuspended: options.onSuspended ?? this.onSuspended,
      intercept: around(options.intercept, this.#intercept),
    });
  }

  /**
   * The same without limits and interceptors, for work that continues after its caller has given
   * up.
   */
  get unlimited(): View {
    return new View({ ...this.#plain(), timeoutMs: undefined, signal: undefined });
  }

  /** Sends a request through the interceptors. */
  ask<B, T>(driver: SessionDriver, fields: CallFields<B, T>): Promise<T> {
    if (this.#intercept === undefined) return driver.ask(fields);
    return this.intercepted(interceptedCall(fields), () => driver.ask(fields));
  }

  /** The same for work of more than one request. */
  intercepted<T>(call: InterceptedCall, next: () => Promise<T>): Promise<T> {
    return this.#intercept === undefined ? next() : intercepted(this.#intercept, call, next);
  }

  aclOf(path: string): AclInput {
    return typeof this.#acl === "function" ? this.#acl(path) : this.#acl;
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

  #plain(): ViewOptions & { readonly acl: AclSource; readonly retry: RetryPolicy } {
    const { onSuspended, defaultData, retry } = this;
    return { onSuspended, defaultData, retry, acl: this.#acl };
  }
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  return AbortSignal.any([one, other]);
}
