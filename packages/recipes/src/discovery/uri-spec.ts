import { ArgumentError, checkArgument, checkRecord, found, type Rule, rules, type Shape, shape } from "@zooid/model";

/** One part of a URI: literal text, or the name of a field of the instance. */
export interface UriPart {
  readonly value: string;
  readonly variable: boolean;
}

/** A template for URIs of instances: Curator's UriSpec. */
export interface UriSpec {
  readonly parts: readonly UriPart[];
}

/** The rule for {@link UriSpec}. */
export const uriSpecRule: Rule = {
  expected: "{ parts: [{ value: a string, variable: true or false }] }",
  accepts: (value) => {
    const parts: unknown = rules.record.accepts(value) ? Reflect.get(value as object, "parts") : undefined;
    return Array.isArray(parts) && parts.every(isUriPart);
  },
};

function isUriPart(part: unknown): boolean {
  const { value, variable } = Object(part) as { readonly [field in keyof UriPart]?: unknown };
  return typeof value === "string" && typeof variable === "boolean";
}

/** Fields for a URI; a service's instance has them. */
export interface UriSource {
  readonly name: string;
  readonly id: string;
  readonly address: string | null;
  readonly port: number | null;
  readonly sslPort: number | null;
  readonly registeredAtMs: number;
  readonly serviceType: string;
}

const SPEC: Shape<UriSpec> = shape<UriSpec>({ parts: rules.list });
const SOURCE: Rule = {
  expected: "an instance of a service",
  accepts: (value) => rules.record.accepts(value) && typeof Reflect.get(value as object, "serviceType") === "string",
};

/**
 * Parses `{scheme}://{address}:{port}/path` and the like; `{[}` and `{]}` stand for braces.
 *
 * @throws ArgumentError for nested or unbalanced braces
 */
export function parseUriSpec(text: string): UriSpec {
  checkArgument("parseUriSpec", "the text", text, rules.text);
  const parts: UriPart[] = [];
  let variable = false;
  for (const token of text.split(/([{}])/)) {
    if (token === "{" || token === "}") {
      if (variable === (token === "{")) throw unbalanced(token, text);
      variable = !variable;
    } else if (token !== "") parts.push({ value: variable ? token.trim() : token, variable });
  }
  if (variable) throw unbalanced("{", text);
  return { parts };
}

function unbalanced(brace: string, text: string): ArgumentError {
  return new ArgumentError("parseUriSpec", [
    `each brace has a counterpart, found none of a ${brace} in ${found(text)}`,
  ]);
}

/** The URI of an instance. Unknown fields are empty, unless the caller gives them. */
export function buildUri(spec: UriSpec, instance: UriSource, variables: Readonly<Record<string, string>> = {}): string {
  checkRecord("buildUri", spec, SPEC, ["parts"]);
  checkArgument("buildUri", "the instance", instance, SOURCE);
  checkArgument("buildUri", "the variables", variables, rules.record);
  const known: Readonly<Record<string, string | number | null>> = {
    ...variables,
    scheme: instance.sslPort === null ? "http" : "https",
    name: instance.name,
    id: instance.id,
    address: instance.address,
    port: instance.port,
    "ssl-port": instance.sslPort,
    "registration-time-utc": instance.registeredAtMs,
    "service-type": instance.serviceType.toLowerCase().replaceAll("-", "_"),
    "[": "{",
    "]": "}",
  };
  return spec.parts.map(({ value, variable }) => (variable ? (known[value] ?? "") : value)).join("");
}
