import { CodedError } from "./coded-error.ts";

/**
 * Thrown when an invariant is false: a defect, after which a replica must stop, since its state may
 * be wrong.
 */
export class InvariantError extends CodedError<"DEFECT"> {
  override readonly name = "InvariantError";

  constructor(message: string) {
    super("DEFECT", message);
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
