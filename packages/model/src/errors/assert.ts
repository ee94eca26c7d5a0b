import { keepCode } from "./cloned-error.ts";
import { errorJson } from "./error-json.ts";

/**
 * Thrown when an invariant is false: a defect, after which a replica must stop, since its state may
 * be wrong.
 */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
  readonly code = "DEFECT";

  constructor(message: string) {
    super(message);
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/**
 * @param invariant what should have been true; a function where saying it costs something and the
 *   condition is asked for each request
 */
export function assert(condition: boolean, invariant: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantError(typeof invariant === "string" ? invariant : invariant());
}

/** Ends every `switch` over a union: the compiler proves that it is not reached. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected value ${String(value)}`);
}
