/** One part of a URI: literal text, or the name of a field of the instance. */
export interface UriPart {
  readonly value: string;
  readonly variable: boolean;
}

/** A template for URIs of instances: Curator's UriSpec. */
export interface UriSpec {
  readonly parts: readonly UriPart[];
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

/**
 * Parses `{scheme}://{address}:{port}/path` and the like; `{[}` and `{]}` stand for braces.
 *
 * @throws RangeError for nested or unbalanced braces
 */
export function parseUriSpec(text: string): UriSpec {
  const parts: UriPart[] = [];
  let variable = false;
  for (const token of text.split(/([{}])/)) {
    if (token === "{" || token === "}") {
      if (variable === (token === "{")) throw new RangeError(`a ${token} has no counterpart in ${text}`);
      variable = !variable;
    } else if (token !== "") parts.push({ value: variable ? token.trim() : token, variable });
  }
  if (variable) throw new RangeError(`a { has no counterpart in ${text}`);
  return { parts };
}

/** The URI of an instance. Unknown fields are empty, unless the caller gives them. */
export function buildUri(
  { parts }: UriSpec,
  instance: UriSource,
  variables: Readonly<Record<string, string>> = {},
): string {
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
  return parts.map(({ value, variable }) => (variable ? (known[value] ?? "") : value)).join("");
}
