/**
 * Codes of errors that were cloned. `structuredClone` and `postMessage` keep of an error its
 * message, its stack, its `cause`, and its name where it is one of the language's own; all other
 * fields are lost. So the code is in the first line of the stack, as `NAME [CODE]: message`, which
 * is how Node.js writes it in its own errors.
 */

/**
 * Makes an error's code survive a clone. To be called in its constructor, and again when the stack
 * was captured again. Engines before Node.js 22 have made the stack already, and it is left as it
 * is.
 */
export function keepCode(error: Error, code: string): void {
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

const HEAD = /^\w{1,64} \[([A-Z][A-Z\d_-]{0,63})\]: /;

/**
 * The code of an error, such as `NO_NODE`, also of a clone of it by `structuredClone` or
 * `postMessage`; undefined for a value without one.
 */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  const [, code] = HEAD.exec(error.stack ?? "") ?? [];
  return code;
}
