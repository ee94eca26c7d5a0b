/** The text of a thrown value, which may be any value: also one whose text cannot be read. */
export function errorText(error: unknown): string {
  return read(() => String(error instanceof Error ? error.message : error)) ?? "a value without text";
}

/** The stack of an error; undefined for other values. */
export function errorStack(error: unknown): string | undefined {
  const stack = read(() => (error instanceof Error ? error.stack : undefined));
  return typeof stack === "string" ? stack : undefined;
}

/** The code of an error; undefined for other values. */
export function errorCode(error: unknown): string | undefined {
  const code = read(() => (error instanceof Error && "code" in error ? error.code : undefined));
  return typeof code === "string" ? code : undefined;
}

/** Undefined where a getter of a caller's value throws. */
export function read<T>(value: () => T): T | undefined {
  try {
    return value();
  } catch {
    return undefined;
  }
}
