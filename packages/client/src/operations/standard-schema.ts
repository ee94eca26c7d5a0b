/**
 * The part of the Standard Schema interface (version 1) that is used here; schemas of zod, valibot,
 * arktype and others have it.
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

/** Issues that an error names: a list has one for each of its items. */
const ISSUES_MAX = 10;

/**
 * The value as the schema returns it. @throws TypeError with the first ten issues, and for a schema
 * that is asynchronous
 */
export function validated<T>(schema: StandardSchema<T>, value: unknown): T {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    // Its rejection belongs to no one else.
    result.catch(() => {});
    throw new TypeError("the schema validates asynchronously, and a codec is synchronous");
  }
  if (result.issues !== undefined) throw new TypeError(textOfAll(result.issues));
  return result.value;
}

function textOfAll(issues: readonly SchemaIssue[]): string {
  const texts = issues.slice(0, ISSUES_MAX).map(textOf);
  if (issues.length > ISSUES_MAX) texts.push(`${issues.length - ISSUES_MAX} more issues`);
  return texts.join("; ");
}

function textOf({ message, path = [] }: SchemaIssue): string {
  const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
