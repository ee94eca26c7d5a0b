/**
 * The part of the Standard Schema interface (version 1) that is used here; schemas of zod, valibot, arktype
 * and others have it.
 */
export interface StandardSchema<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The value as the schema returns it. @throws TypeError with every issue, and for a schema that is asynchronous */
export function validated<T>(schema: StandardSchema<T>, value: unknown): T {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    // Its rejection belongs to no one else.
    result.catch(() => {});
    throw new TypeError("the schema validates asynchronously, and a codec is synchronous");
  }
  if (result.issues !== undefined) throw new TypeError(result.issues.map(textOf).join("; "));
  return result.value;
}

function textOf({ message, path = [] }: SchemaIssue): string {
  const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
