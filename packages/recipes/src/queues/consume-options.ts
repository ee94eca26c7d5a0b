import {
  ArgumentError,
  anyRule,
  checkArgument,
  checkRecord,
  found,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
} from "@zooid/model";

export interface ConsumeOptions {
  /** Number of nodes in work at a time. Default 1, which keeps the order. */
  readonly concurrency?: number | undefined;
  /**
   * The act on an item whose work fails: requeue it, drop it, move it to another queue's path, or
   * requeue it a limited number of times and then drop or move it. Default `requeue`, without
   * limit.
   */
  readonly onFailure?: "requeue" | "drop" | { readonly moveTo: string } | DeliveryBound | undefined;
  /**
   * Called for each failure, for unreadable items, which stay in the queue, for items that are not
   * delivered because they have reached their limit, and, with the queue's path, for the permanent
   * error that ends the consumer. The reason of the work's signal is no failure. Without it there
   * are warnings (`ZOOID_FAILED`), one in ten seconds at most.
   */
  readonly onError?: ((error: unknown, path: string) => void) | undefined;
}

/**
 * Requeues an item whose work fails, up to a number of deliveries. The count is kept in
 * `<path>-deliveries`, in a node for each item that needs one; all consumers of the queue should
 * use it, since those that do not reset the count.
 */
export interface DeliveryBound {
  /** Maximum number of deliveries of an item: a whole number of at least 1. */
  readonly deliveryCountMax: number;
  /**
   * The act when the last of these deliveries has failed: drop it, or move it to another queue's
   * path.
   */
  readonly afterLast: "drop" | { readonly moveTo: string };
  /**
   * The deliveries that count. `failures`: those whose work has failed, which costs no write
   * otherwise; a consumer that dies, or loses its session or the item, has not failed.
   * `deliveries`: all, since they are counted before the work begins, which costs a write for each;
   * so an item that kills its consumers reaches the limit, but so may one whose consumers were only
   * stopped or disconnected. Needs a `lockPath`: without one an item ends with its consumer anyway.
   * Default `failures`.
   */
  readonly counted?: "failures" | "deliveries" | undefined;
}

/** The rules for {@link ConsumeOptions}; `onFailure` has its own. */
export const CONSUME: Shape<ConsumeOptions> = shape<ConsumeOptions>({
  concurrency: wholeNumberRule(1),
  onFailure: rules.anything,
  onError: rules.callable,
});
const BOUND: Shape<DeliveryBound> = shape<DeliveryBound>({
  deliveryCountMax: wholeNumberRule(1),
  afterLast: { expected: '"drop" or { moveTo }', accepts: (value) => value === "drop" || rules.record.accepts(value) },
  counted: wordRule("failures", "deliveries"),
});
const FATE: Rule = {
  ...anyRule(wordRule("requeue", "drop"), rules.record),
  expected: '"requeue", "drop", { moveTo } or { deliveryCountMax, afterLast }',
};
const MOVE: Shape<{ moveTo: string }> = shape<{ moveTo: string }>({ moveTo: rules.path });

/** The fate of an item whose work has failed. */
export type Fate = "requeue" | "drop" | { readonly moveTo: string };

/**
 * The limit, if there is one.
 *
 * @param path of the queue
 * @param claimsPath where items are claimed; undefined: they are deleted before their work
 * @throws ArgumentError for an invalid `onFailure`
 */
export function checkedBound(
  { onFailure = "requeue", path }: Pick<ConsumeOptions, "onFailure"> & { readonly path: string },
  claimsPath: string | undefined,
): DeliveryBound | undefined {
  const what = `consume ${path}`;
  if (onFailure === "requeue") return undefined;
  const own = [path, ...(claimsPath === undefined ? [] : [claimsPath])];
  if (!isBound(onFailure)) {
    checkArgument(what, "onFailure", onFailure, FATE);
    checkFate(what, onFailure, own);
    return undefined;
  }
  checkRecord(what, onFailure, BOUND, ["deliveryCountMax", "afterLast"]);
  checkFate(what, onFailure.afterLast, own);
  if (onFailure.counted === "deliveries" && claimsPath === undefined) {
    throw new ArgumentError(what, ['counted is "failures" where the queue has no lockPath, found "deliveries"']);
  }
  return onFailure;
}

/**
 * Checks what becomes of an item. Moved into its own queue it would be tried again at once, without
 * a count.
 *
 * @param own paths that are not another queue's
 */
function checkFate(what: string, fate: Fate, own: readonly string[]): void {
  if (typeof fate === "string") return;
  checkRecord(what, fate, MOVE, ["moveTo"]);
  const { moveTo } = fate;
  // Every path is below a queue at the root.
  if (own.some((path) => moveTo === path || (path !== "/" && isWithin(moveTo, path)))) {
    throw new ArgumentError(what, [
      `moveTo is a path outside of those of the queue and its claims, found ${found(moveTo)}`,
    ]);
  }
}

export function isBound(onFailure: Fate | DeliveryBound): onFailure is DeliveryBound {
  return typeof onFailure === "object" && onFailure !== null && "deliveryCountMax" in onFailure;
}

/** Whether a path is another or below it. */
export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor === "/" ? "/" : `${ancestor}/`);
}
