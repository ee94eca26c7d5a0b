import { parseAst } from "vite";

export type FoundRegexp =
  | { readonly kind: "literal"; readonly line: number; readonly pattern: string; readonly flags: string }
  /** Made at run time, of texts that the source does not show. */
  | { readonly kind: "dynamic"; readonly line: number };

/** The regular expressions in the source of a module, the arguments of `RegExp(…)` among them. */
export function regexpsIn(source: string, file: string): readonly FoundRegexp[] {
  const found: FoundRegexp[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (!isNode(value)) return;
    const regexp = regexpOf(value, source);
    if (regexp !== undefined) found.push(regexp);
    for (const each of Object.values(value)) visit(each);
  };
  visit(parseAst(source, { lang: file.endsWith("x") ? "tsx" : "ts" }));
  return found;
}

type Node = Readonly<Record<string, unknown>> & { readonly start: number };

function regexpOf(node: Node, source: string): FoundRegexp | undefined {
  const line = source.slice(0, node.start).split("\n").length;
  if (node["type"] === "Literal" && isRecord(node["regex"])) {
    const { pattern, flags } = node["regex"];
    return { kind: "literal", line, pattern: String(pattern), flags: String(flags) };
  }
  const isMade = node["type"] === "NewExpression" || node["type"] === "CallExpression";
  if (!isMade || !isRecord(node["callee"]) || node["callee"]["name"] !== "RegExp") return undefined;
  const [pattern, flags] = (Array.isArray(node["arguments"]) ? node["arguments"] : []).map(textOf);
  if (pattern === undefined || (node["arguments"] as unknown[]).length > 2) return { kind: "dynamic", line };
  return { kind: "literal", line, pattern, flags: flags ?? "" };
}

function textOf(value: unknown): string | undefined {
  return isRecord(value) && value["type"] === "Literal" && typeof value["value"] === "string"
    ? value["value"]
    : undefined;
}

function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value["type"] === "string" && typeof value["start"] === "number";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
