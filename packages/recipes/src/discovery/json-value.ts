import type { Rule } from "@zooid/model";

/** Values that `JSON.stringify` writes, and `JSON.parse` reads as the same. */
export const jsonRule: Rule = {
  expected: "a value of JSON: null, true or false, a finite number, a string, or arrays and plain objects of these",
  accepts: (value) => value === undefined || isJson(value),
};

/**
 * Other values are left out by `JSON.stringify`, or become null, `{}` or a string, without an
 * error. Undefined fields are left out, too, and read as such.
 */
function isJson(value: unknown): boolean {
  const next: { readonly value: unknown; readonly isLeft: boolean }[] = [{ value, isLeft: false }];
  /** The objects that the next value is in. */
  const within = new Set<object>();
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    const { value, isLeft } = at;
    if (!isObject(value)) {
      if (!isPrimitive(value)) return false;
    } else if (isLeft) within.delete(value);
    else {
      if (!isPlain(value) || within.has(value)) return false;
      within.add(value);
      next.push({ value, isLeft: true });
      const parts = Array.isArray(value) ? value : Object.values(value).filter((part) => part !== undefined);
      for (const part of parts) next.push({ value: part, isLeft: false });
    }
  }
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isPrimitive(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** Objects of other kinds, such as maps and dates, have their content elsewhere. */
function isPlain(value: object): boolean {
  const kind = Object.prototype.toString.call(value);
  return (kind === "[object Object]" || kind === "[object Array]") && !("toJSON" in value);
}
