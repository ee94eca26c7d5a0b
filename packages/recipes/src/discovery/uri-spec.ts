/** One piece of a URI: text as it stands, or the name of something that an instance fills in. */
export interface UriPart {
  readonly value: string;
  readonly variable: boolean;
}

/** How the URI of a service's instance is made: Curator's UriSpec. */
export interface UriSpec {
  readonly parts: readonly UriPart[];
}

/** What a URI is made of; a service's instance is that. */
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
 * Reads `{scheme}://{address}:{port}/path` and its like; `{[}` and `{]}` stand for braces.
 *
 * @throws RangeError where a brace opens in another, or has no counterpart
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

/** The URI of an instance. What it does not know is left empty, unless the caller does. */
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
