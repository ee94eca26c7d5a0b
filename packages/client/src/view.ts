import type { Acl } from "@zooid/model";
import type { CallFields, CallOptions } from "./calls/call.ts";
import { around, type InterceptedCall, type Interceptor, intercepted, interceptedCall } from "./calls/interceptor.ts";
import type { RetryPolicy } from "./calls/retry.ts";
import type { AclSource, Payload } from "./operations/create-mode.ts";
import type { SessionDriver } from "./session/session-driver.ts";

/** What a view of a client does in another way; see `Client.with`. What is left out stays as it is. */
export interface ViewOptions {
  /** Of nodes that are created without one. */
  readonly acl?: AclSource | undefined;
  /** What nodes hold that are created without data. Missing parents that are made on the way stay empty. */
  readonly defaultData?: Payload | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** For each call that has no limit of its own. */
  readonly timeoutMs?: number | undefined;
  /** Gives up every call, beside the call's own. Guaranteed deletes go on, and so do streams. */
  readonly signal?: AbortSignal | undefined;
  /** What recipes do by default when the connection is lost: give up what they hold, or keep it until the session may be over. */
  readonly onSuspended?: "lose" | "keep" | undefined;
  /**
   * Stands around every call, and around those of the client or view that it was made from. Not around `addAuth`, streams, and what a client
   * does by itself to clean up.
   */
  readonly intercept?: Interceptor | undefined;
}

/** What a client does where a call does not say. */
export class View {
  readonly onSuspended: "lose" | "keep";
  readonly defaultData: Payload | undefined;
  readonly retry: RetryPolicy;
  readonly #acl: AclSource;
  readonly #timeoutMs: number | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #intercept: Interceptor | undefined;
  /** What a call that says nothing is given; undefined where that is nothing. */
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
    // The driver knows the client's own policy.
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

  /** The same, for what goes on when its caller has given up; nothing stands around that. */
  get unlimited(): View {
    return new View({ ...this.#plain(), timeoutMs: undefined, signal: undefined });
  }

  /** Asks the driver, through what stands around calls. */
  ask<B, T>(driver: SessionDriver, fields: CallFields<B, T>): Promise<T> {
    if (this.#intercept === undefined) return driver.ask(fields);
    return this.intercepted(interceptedCall(fields), () => driver.ask(fields));
  }

  /** The same for what is more than one question to the driver. */
  intercepted<T>(call: InterceptedCall, next: () => Promise<T>): Promise<T> {
    return this.#intercept === undefined ? next() : intercepted(this.#intercept, call, next);
  }

  aclOf(path: string): Acl {
    return typeof this.#acl === "function" ? this.#acl(path) : this.#acl;
  }

  /** What limits a call, given its own options. */
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
