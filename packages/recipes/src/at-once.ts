/** Results of callers' functions that are called synchronously: a program may give async ones. */
import { ArgumentError, found } from "@zooid/model";

/**
 * A result that is checked by its type: where it is a promise, its rejection has no other owner,
 * and would end the process.
 */
export function owned<T>(result: T): T {
  if (isThenable(result)) Promise.resolve(result).catch(() => {});
  return result;
}

/**
 * A result of any type but a promise.
 *
 * @param what the recipe, for the message
 * @param name the function, for the message
 * @throws ArgumentError for a promise, which is not awaited
 */
export function atOnce<T>(what: string, name: string, result: T): T {
  if (!isThenable(result)) return result;
  owned(result);
  throw new ArgumentError(what, [`${name} returns its result at once, found ${found(result)}: it is not awaited`]);
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
