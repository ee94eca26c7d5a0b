/**
 * The problems of a query or a body, as sentences that name the field, the expected value and the
 * given one.
 */
import { counted, found, nearestName } from "@zooid/model";
import { z } from "zod";
import { looksSecret } from "../api/masking.ts";

type Issue = z.core.$ZodIssue;

/** One input: its schema, what was given, and how messages name it. */
export interface Input {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** `query` or `body` */
  readonly name: string;
}

/** One sentence for each issue. */
export function inputProblems(input: Input, issues: readonly Issue[]): readonly string[] {
  return issues.flatMap((issue) => problemsOf(input, issue));
}

function problemsOf(input: Input, issue: Issue): readonly string[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(input, issue.path, key));
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // That of the alternative that is nearest.
    const [nearest = []] = issue.errors.toSorted((a, b) => a.length - b.length);
    return inputProblems(
      input,
      nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue),
    );
  }
  const place = placeOf(input, issue.path);
  const given = valueAt(input.value, issue.path);
  const expected = expectedBy(issue, schemasAt(input.schema, issue.path));
  if (given === undefined) return [`${place} is missing: expected ${expected}`];
  const words = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const nearest = typeof given === "string" ? nearestName(given, words) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
  return [
    `${place}: expected ${expected}, found ${looksSecret(`/${String(issue.path.at(-1))}`) ? "another value" : found(given)}${hint}`,
  ];
}

function unknownField(input: Input, path: readonly PropertyKey[], key: string): string {
  // Alternatives of a union have fields in common.
  const known = [
    ...new Set(
      schemasAt(input.schema, path).flatMap((schema) =>
        schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
      ),
    ),
  ];
  if (known.includes(key)) {
    const given = Object.keys(Object(valueAt(input.value, path))).filter((name) => name !== key);
    return `${placeOf(input, path)} takes no ${JSON.stringify(key)} beside ${given.filter((name) => known.includes(name)).join(", ")}`;
  }
  const nearest = nearestName(key, known);
  const names = known.length === 0 ? "none is expected" : `known are ${known.join(", ")}`;
  return `${placeOf(input, path)} has no ${JSON.stringify(key)}; ${nearest === undefined ? names : `did you mean ${nearest}?`}`;
}

function placeOf({ name }: Input, path: readonly PropertyKey[]): string {
  return [name, ...path.map(String)].join(".");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  null: "null",
};
const UNITS: Readonly<Record<string, string>> = { string: "character", array: "item" };

function expectedBy(issue: Issue, schemas: readonly z.ZodType[]): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? `a value of type ${issue.expected}`;
    case "too_small":
      return `at least ${amount(issue.minimum, issue.origin)}`;
    case "too_big":
      return `at most ${amount(issue.maximum, issue.origin)}`;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "invalid_union":
      return discriminators(issue.discriminator, schemas);
    case "custom":
      return typeof issue.params?.["expected"] === "string"
        ? issue.params["expected"]
        : (described(schemas) ?? "another value");
    default:
      return described(schemas) ?? (issue.code === "invalid_format" ? formatOf(issue) : "another value");
  }
}

function amount(count: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? String(count) : counted(Number(count), unit);
}

/** By the schema's description, in the middle of a sentence. */
function described(schemas: readonly z.ZodType[]): string | undefined {
  const [text] = schemas.flatMap(({ description }) => (description === undefined ? [] : [description]));
  return text === undefined ? undefined : text.charAt(0).toLowerCase() + text.slice(1);
}

function formatOf({ format, pattern }: z.core.$ZodIssueInvalidStringFormat): string {
  return pattern === undefined || format !== "regex" ? format : `a text like ${pattern}`;
}

/** The words that choose an alternative. `schemas` are those at the word itself. */
function discriminators(name: string | undefined, schemas: readonly z.ZodType[]): string {
  const words = [...new Set(schemas.flatMap((schema) => (schema instanceof z.ZodLiteral ? [...schema.values] : [])))];
  return words.length === 0
    ? `one of the alternatives of ${name}`
    : words.map((word) => JSON.stringify(word)).join(" or ");
}

/** The schemas of a field: several where it is in several alternatives. */
function schemasAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly z.ZodType[] {
  const [key, ...rest] = path;
  const here = alternatives(schema);
  // A description stands outside of what makes a field optional.
  if (key === undefined) return [schema, ...here];
  return here.flatMap((one) => {
    if (one instanceof z.ZodObject) {
      const field = one.shape[String(key)] as z.ZodType | undefined;
      return field === undefined ? [] : schemasAt(field, rest);
    }
    return one instanceof z.ZodArray ? schemasAt(one.element as z.ZodType, rest) : [];
  });
}

function alternatives(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return alternatives(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => alternatives(one as z.ZodType));
  if (schema instanceof z.ZodPipe)
    return [...alternatives(schema.in as z.ZodType), ...alternatives(schema.out as z.ZodType)];
  return [schema];
}
