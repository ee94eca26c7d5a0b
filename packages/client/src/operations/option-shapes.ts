/** The options of the client's methods, as they are checked at run time. */
import {
  ArgumentError,
  anyRule,
  CHANGES_COUNT_MAX,
  fits,
  misfits,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
  type Zxid,
} from "@zooid/model";
import { CHILD_PAGE_COUNT_MAX } from "@zooid/wire";
import type { Observable } from "rxjs";
import type { CallOptions } from "../calls/call.ts";
import type { CloseOptions } from "../close-options.ts";
import type { ConfigChange } from "../servers/ensemble-config.ts";
import type { ChangesOptions } from "../streams/observe-changes.ts";
import type { EventsOptions } from "../streams/observe-events.ts";
import type { ObserveDataOptions, ObserveOptions } from "../streams/observe-options.ts";
import type { TreeOptions } from "../streams/observe-tree.ts";
import { rxjs } from "../streams/rxjs-module.ts";
import type { ViewOptions } from "../view.ts";
import type {
  ChildPagesOptions,
  CreateOptions,
  DeleteOptions,
  DeleteTreeOptions,
  EnsureOptions,
  HistoryOptions,
  PutOptions,
  ReadOptions,
  SetOptions,
  UpdateOptions,
  VersionOptions,
} from "./node-options.ts";

const { flag, callable, duration, int, payload, list } = rules;

const call: Shape<CallOptions> = { signal: rules.signal, timeoutMs: duration, retry: callable };
const parents = wordRule("persistent", "container");
const acl = list;

/** The lifetimes of nodes; see `CreateMode`. */
export const MODES = [
  "persistent",
  "persistent-sequential",
  "ephemeral",
  "ephemeral-sequential",
  "container",
  "persistent-with-ttl",
  "persistent-sequential-with-ttl",
] as const;

const creation = { acl, mode: wordRule(...MODES), ttlMs: wholeNumberRule(1, Number.MAX_SAFE_INTEGER) };

export const CALL: Shape<CallOptions> = shape<CallOptions>(call);
export const READ: Shape<ReadOptions> = shape<ReadOptions>({ ...call, sync: flag });
export const WATCHED_READ: Shape<ReadOptions & { readonly watch?: boolean }> = shape({
  ...call,
  sync: flag,
  watch: flag,
});
/** A Date of any realm: test runners give programs globals of their own. */
const DATE: Rule = {
  expected: "a Date since 1970",
  accepts: (value) =>
    Object.prototype.toString.call(value) === "[object Date]" && Number((value as Date).getTime()) >= 0,
};
const moment = anyRule(wholeNumberRule(0, Number.MAX_SAFE_INTEGER), DATE);
/** A node of the past has no watch, and no codec. */
export const GET_PAST: Shape<CallOptions & { readonly at: Zxid | Date }> = shape({ ...call, at: moment });
export const LIST: Shape<ReadOptions & { readonly watch?: boolean; readonly at?: Zxid | Date }> = shape({
  ...call,
  sync: flag,
  watch: flag,
  at: moment,
});
export const GET: Shape<
  ReadOptions & { readonly watch?: boolean; readonly codec?: unknown; readonly at?: Zxid | Date }
> = shape({
  ...call,
  sync: flag,
  watch: flag,
  codec: rules.codec,
  at: moment,
});
export const HISTORY: Shape<HistoryOptions> = shape<HistoryOptions>({
  ...call,
  after: wholeNumberRule(0, Number.MAX_SAFE_INTEGER),
  recursive: flag,
  pageSize: wholeNumberRule(1, CHANGES_COUNT_MAX),
});
export const CHANGES: Shape<ChangesOptions> = shape<ChangesOptions>({
  after: wholeNumberRule(0, Number.MAX_SAFE_INTEGER),
  recursive: flag,
  pageSize: wholeNumberRule(1, CHANGES_COUNT_MAX),
});
export const VERSION: Shape<VersionOptions> = shape<VersionOptions>({ ...call, version: int });
export const CREATE: Shape<CreateOptions> = shape<CreateOptions>({
  ...call,
  ...creation,
  parents,
  protect: anyRule(flag, callable),
  idempotent: flag,
  existsOk: flag,
});
export const ENSURE: Shape<EnsureOptions> = shape<EnsureOptions>({ ...call, acl, mode: parents });
export const SET: Shape<SetOptions> = shape<SetOptions>({ ...call, version: int, idempotent: flag });
export const PUT: Shape<PutOptions> = shape<PutOptions>({ ...call, acl, parents });
export const DELETE: Shape<DeleteOptions> = shape<DeleteOptions>({
  ...call,
  version: int,
  idempotent: flag,
  missingOk: flag,
  guaranteed: anyRule(flag, wordRule("session")),
});
export const DELETE_TREE: Shape<DeleteTreeOptions> = shape<DeleteTreeOptions>({
  ...call,
  batch: wholeNumberRule(1),
  childrenOnly: flag,
  atomic: flag,
});
export const CHILD_PAGES: Shape<ChildPagesOptions> = shape<ChildPagesOptions>({
  ...call,
  sync: flag,
  detail: wordRule("names", "stats", "data"),
  pageSize: wholeNumberRule(1, CHILD_PAGE_COUNT_MAX),
  after: rules.text,
});
export const MAKE_ROOT: Shape<CallOptions & { readonly mode?: string }> = shape({ ...call, mode: parents });
export const CONNECTED: Shape<Pick<CallOptions, "signal">> = shape({ signal: rules.signal });

export const CLOSE: Shape<CloseOptions> = shape<CloseOptions>({ signal: rules.signal, timeoutMs: duration });
export const UPDATE: Shape<UpdateOptions> = shape<UpdateOptions>({ ...call, create: rules.record });
export const UPDATE_CREATE: Shape<NonNullable<UpdateOptions["create"]>> = shape({ acl, parents });

const lines: Rule = {
  expected: 'an array of lines such as "server.4=zk4:2888:3888;2181"',
  accepts: (value) => Array.isArray(value) && value.every((line) => typeof line === "string" && line !== ""),
};
export const CONFIG_CHANGE: Shape<ConfigChange> = shape<ConfigChange>({
  joining: lines,
  leaving: {
    expected: "an array of ids of servers",
    accepts: (value) =>
      Array.isArray(value) && value.every((id) => (typeof id === "string" && id !== "") || Number.isInteger(id)),
  },
  members: lines,
  fromVersion: { expected: "a bigint", accepts: (value) => typeof value === "bigint" },
});

/** Steps of a transaction. */
export const CREATE_STEP: Shape<Pick<CreateOptions, "acl" | "mode" | "ttlMs">> = shape(creation);
export const VERSION_STEP: Shape<Pick<VersionOptions, "version">> = shape({ version: int });

const onExpiry = wordRule("resume", "error");
export const OBSERVE: Shape<ObserveOptions> = shape<ObserveOptions>({ onExpiry });
export const OBSERVE_DATA: Shape<ObserveDataOptions<unknown>> = shape<ObserveDataOptions<unknown>>({
  onExpiry,
  codec: rules.codec,
  onDecodeError: callable,
  distinct: wordRule("change", "content"),
});
export const EVENTS: Shape<EventsOptions> = shape<EventsOptions>({
  mode: wordRule("persistent", "persistent-recursive"),
});
export const TREE: Shape<TreeOptions> = shape<TreeOptions>({
  depthMax: { expected: "a number from 0 on", accepts: (value: unknown) => typeof value === "number" && value >= 0 },
  select: callable,
  watches: wordRule("auto", "persistent", "one-shot"),
});
export const VIEW: Shape<ViewOptions> = shape<ViewOptions>({
  ...call,
  acl: anyRule(list, callable),
  defaultData: payload,
  onSuspended: wordRule("lose", "keep"),
  intercept: callable,
});

/** Rejects a call with invalid options. */
export function refused<T>(op: string, path: unknown, options: unknown, expected: Shape<T>): Promise<never> {
  return Promise.reject(invalidOptions(op, path, options, expected));
}

/** The same for a stream: as with invalid paths, it fails when it is subscribed to. */
export function refusedStream<T>(op: string, path: unknown, options: unknown, expected: Shape<T>): Observable<never> {
  return rxjs().throwError(() => invalidOptions(op, path, options, expected));
}

/** @throws ArgumentError for options that do not fit */
export function checkOptions<T>(op: string, path: unknown, options: unknown, expected: Shape<T>): void {
  if (!fits(options, expected)) throw invalidOptions(op, path, options, expected);
}

function invalidOptions<T>(op: string, path: unknown, options: unknown, expected: Shape<T>): ArgumentError {
  const where = typeof path === "string" ? `${op} ${path}` : op;
  return new ArgumentError(where, misfits(options, expected));
}
