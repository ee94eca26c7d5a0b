/** A value that is JSON text already, for numbers that JavaScript would print differently. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
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
  | readonly Json[]
  | ReadonlyMap<string, Json>
  | { readonly [key: string]: Json };

/**
 * Prints as Apache does: objects indented by two spaces a level, arrays in one line. Scripts search
 * this text without parsing it.
 */
export function javaJson(value: Json, indent = ""): string {
  if (value instanceof JsonText) return value.text;
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return arrayText(value, indent);
  if (value instanceof Map) return objectText([...value], indent);
  if (typeof value === "object" && value !== null) return objectText(Object.entries(value), indent);
  return JSON.stringify(value);
}

function arrayText(values: readonly Json[], indent: string): string {
  return values.length === 0 ? "[ ]" : `[ ${values.map((value) => javaJson(value, indent)).join(", ")} ]`;
}

function objectText(entries: readonly (readonly [string, Json])[], indent: string): string {
  if (entries.length === 0) return "{ }";
  const inner = `${indent}  `;
  const lines = entries.map(([key, value]) => `${inner}${JSON.stringify(key)} : ${javaJson(value, inner)}`);
  return `{\n${lines.join(",\n")}\n${indent}}`;
}
