/** A value that is JSON text already, for numbers that JavaScript would print differently. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * An array whose values are made while it is printed; undefined stands for a step that made none.
 */
export class JsonItems {
  readonly items: Iterable<Json | undefined>;

  constructor(items: Iterable<Json | undefined>) {
    this.items = items;
  }
}

/** The same for an object's fields. */
export class JsonFields {
  readonly fields: Iterable<readonly [key: string, value: Json] | undefined>;

  constructor(fields: Iterable<readonly [key: string, value: Json] | undefined>) {
    this.fields = fields;
  }
}

/**
 * The answers of Apache's admin server. A key's order is the order of insertion, and 64-bit numbers
 * are numbers.
 */
export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | JsonText
  | JsonItems
  | JsonFields
  | readonly Json[]
  | ReadonlyMap<string, Json>
  | { readonly [key: string]: Json };

/**
 * Prints as Apache does: objects indented by two spaces a level, arrays in one line. Scripts search
 * this text without parsing it.
 */
export function javaJson(value: Json): string {
  return [...javaJsonPieces(value)].join("");
}

/** The same text piece by piece; an empty piece stands for a step that made nothing. */
export function* javaJsonPieces(value: Json, indent = ""): Generator<string, void, undefined> {
  if (value instanceof JsonText) yield value.text;
  else if (typeof value === "bigint") yield String(value);
  else if (value instanceof JsonItems) yield* arrayPieces(value.items, indent);
  else if (value instanceof JsonFields) yield* objectPieces(value.fields, indent);
  else if (Array.isArray(value)) yield* arrayPieces(value, indent);
  else if (value instanceof Map) yield* objectPieces(value, indent);
  else if (typeof value === "object" && value !== null) yield* objectPieces(Object.entries(value), indent);
  else yield JSON.stringify(value);
}

function* arrayPieces(values: Iterable<Json | undefined>, indent: string): Generator<string, void, undefined> {
  let isFirst = true;
  for (const value of values) {
    if (value === undefined) {
      yield "";
      continue;
    }
    yield isFirst ? "[ " : ", ";
    isFirst = false;
    yield* javaJsonPieces(value, indent);
  }
  yield isFirst ? "[ ]" : " ]";
}

function* objectPieces(
  entries: Iterable<readonly [string, Json] | undefined>,
  indent: string,
): Generator<string, void, undefined> {
  const inner = `${indent}  `;
  let isFirst = true;
  for (const entry of entries) {
    if (entry === undefined) {
      yield "";
      continue;
    }
    const [key, value] = entry;
    yield `${isFirst ? "{\n" : ",\n"}${inner}${JSON.stringify(key)} : `;
    isFirst = false;
    yield* javaJsonPieces(value, inner);
  }
  yield isFirst ? "{ }" : `\n${indent}}`;
}
