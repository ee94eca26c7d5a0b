/**
 * Codes of errors that were cloned. `structuredClone` and `postMessage` keep of an error its message,
 * its stack, its `cause`, and its name where it is one of the language's own; all other fields are
 * lost. So an error's fields are kept in its `cause` where it has no other cause, and its code in
 * the first line of its stack otherwise, as `NAME [CODE]: message`, which is how Node.js writes it.
 */

/** Fields of an error that survive a clone. */
export interface ErrorFields {
  readonly code: string;
  /** The other fields, unless the error had a cause. */
  readonly [field: string]: unknown;
}

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** The cause of an error that has no other. */
class KeptFields {
  /** Marks clones, whose class is lost. */
  readonly isErrorFields = true;
  readonly fields: ErrorFields;

  constructor(fields: ErrorFields) {
    this.fields = fields;
  }

  /** The error shows its fields already. */
  [INSPECT](): string {
    return "the fields above, for clones";
  }
}

/** Makes an error's fields survive a clone. To be called in its constructor; a further call replaces the fields. */
export function keepFields(error: Error, fields: ErrorFields): void {
  if (ownCause(error) !== undefined) return keepCode(error, fields.code);
  Object.defineProperty(error, "cause", { value: new KeptFields(fields), configurable: true, writable: true });
}

/**
 * Makes the code of an error that has another cause survive a clone, in its stack. To be called again
 * when the stack was captured again. Engines before Node.js 22 have made the stack already, and it is
 * left as it is.
 */
export function keepCode(error: Error, code: string): void {
  if (ownCause(error) === undefined) return;
  const made = Object.getOwnPropertyDescriptor(error, "stack")?.get;
  if (made === undefined) return;
  Object.defineProperty(error, "stack", {
    configurable: true,
    get(): unknown {
      const stack: unknown = made.call(error);
      const head = `${error.name}: `;
      return typeof stack === "string" && stack.startsWith(head)
        ? `${error.name} [${code}]: ${stack.slice(head.length)}`
        : stack;
    },
    set(stack: unknown) {
      Object.defineProperty(error, "stack", { value: stack, configurable: true, writable: true });
    },
  });
}

/** An error's own cause; undefined where there is none. */
export function ownCause(error: Error): unknown {
  return keptFields(error.cause) === undefined ? error.cause : undefined;
}

const HEAD = /^\w{1,64} \[([A-Z][A-Z\d_-]{0,63})\]: /;

/**
 * The fields of an error of these packages, also of its clone by `structuredClone` or `postMessage`,
 * where a clone of an error that had a cause has `code` alone. Undefined for a value without a code.
 */
export function errorFields(error: unknown): ErrorFields | undefined {
  if (!(error instanceof Error)) return undefined;
  const kept = keptFields(error.cause);
  if (kept !== undefined) return kept;
  if ("code" in error && typeof error.code === "string") return { ...error, code: error.code };
  const [, code] = HEAD.exec(error.stack ?? "") ?? [];
  return code === undefined ? undefined : { code };
}

/** The code of an error, such as `NO_NODE`, also of a clone of it; undefined for a value without one. */
export function errorCode(error: unknown): string | undefined {
  return errorFields(error)?.code;
}

function keptFields(cause: unknown): ErrorFields | undefined {
  if (typeof cause !== "object" || cause === null || !("isErrorFields" in cause) || !("fields" in cause))
    return undefined;
  const { fields } = cause;
  if (typeof fields !== "object" || fields === null || !("code" in fields)) return undefined;
  return typeof fields.code === "string" ? { ...fields, code: fields.code } : undefined;
}
