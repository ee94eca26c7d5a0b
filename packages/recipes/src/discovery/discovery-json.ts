/**
 * An instance as Curator's discovery server gives it to those who speak HTTP, and takes it from them. It is not the JSON of the znode: a port that is
 * not known is left out, and the payload stands there without the name of its Java class.
 */
import type { LastingInstance } from "./service-discovery.ts";
import type { ServiceInstance } from "./service-instance.ts";
import type { UriSpec } from "./uri-spec.ts";

/** What is said about an instance to others; `uriSpec` and `enabled` are ours, and only where they say something. */
export function instanceJson(instance: ServiceInstance): Readonly<Record<string, unknown>> {
  const { name, id, address, port, sslPort, payload, registeredAtMs, serviceType, uriSpec, enabled } = instance;
  return {
    name,
    id,
    address,
    ...(port === null ? {} : { port }),
    ...(sslPort === null ? {} : { sslPort }),
    registrationTimeUTC: registeredAtMs,
    serviceType: serviceType.toUpperCase().replaceAll("-", "_"),
    ...(payload === null ? {} : { payload }),
    ...(uriSpec === null ? {} : { uriSpec }),
    ...(enabled ? {} : { enabled }),
  };
}

export type Parsed<T> =
  | { readonly kind: "instance"; readonly instance: LastingInstance<T> }
  | { readonly kind: "faults"; readonly faults: readonly string[] };

/** Where a request wants an instance to be. */
export interface InstanceAddress {
  readonly name: string;
  readonly id: string;
}

/**
 * An instance from a request's body, or everything that is wrong with it. What it does not know it ignores, as Curator does.
 *
 * @param at what its path says, and the body has to say too
 * @param nowMs stands for a registration time that is not given
 */
export function parseInstance<T>(bytes: Uint8Array, at: InstanceAddress, nowMs: number): Parsed<T> {
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return { kind: "faults", faults: ["the body: JSON in UTF-8 was expected"] };
  }
  if (!isObject(read)) return { kind: "faults", faults: [`the body: an object was expected, found ${shown(read)}`] };
  const fields = read;
  const faults: string[] = [];
  /** A field where it is as it should be; `otherwise` where it is not there, if it need not be. */
  const take = <V>(field: string, rule: Rule<V>, otherwise?: V): V | undefined => {
    const value = fields[field] ?? undefined;
    if (value === undefined && otherwise !== undefined) return otherwise;
    if (rule.holds(value)) return value;
    faults.push(`${field}: ${rule.expected} was expected, found ${shown(value)}`);
    return undefined;
  };
  const name = take("name", same(at.name));
  const id = take("id", same(at.id));
  const address = take("address", TEXT);
  const port = take<number | null>("port", PORT, null);
  const sslPort = take<number | null>("sslPort", PORT, null);
  const registeredAtMs = take("registrationTimeUTC", TIME, nowMs);
  const serviceType = take("serviceType", LASTING);
  const payload = take<unknown>("payload", PAYLOAD, null);
  const uriSpec = take<UriSpec | null>("uriSpec", URI_SPEC, null);
  const enabled = take("enabled", FLAG, true);
  if (
    faults.length > 0 ||
    name === undefined ||
    id === undefined ||
    address === undefined ||
    port === undefined ||
    sslPort === undefined ||
    registeredAtMs === undefined ||
    serviceType === undefined ||
    uriSpec === undefined ||
    enabled === undefined
  )
    return { kind: "faults", faults };
  return {
    kind: "instance",
    instance: {
      ...{ name, id, address, port, sslPort, registeredAtMs, uriSpec, enabled },
      serviceType: serviceType === "STATIC" ? "static" : "permanent",
      // The type is the caller's claim, as with every codec of JSON.
      payload: payload as T | null,
    },
  };
}

interface Rule<V> {
  readonly expected: string;
  holds(value: unknown): value is V;
}

const TEXT: Rule<string> = {
  expected: "text",
  holds: (value): value is string => typeof value === "string" && value !== "",
};
const FLAG: Rule<boolean> = {
  expected: "true or false",
  holds: (value): value is boolean => typeof value === "boolean",
};
const PORT: Rule<number> = {
  expected: "a whole number from 0 to 65535",
  holds: (value): value is number => isWhole(value) && value <= 65_535,
};
const TIME: Rule<number> = { expected: "milliseconds since 1970", holds: isWhole };
/** A session would have to hold a dynamic one, and who asks by HTTP has none. */
const LASTING: Rule<"STATIC" | "PERMANENT"> = {
  expected: '"STATIC" or "PERMANENT"',
  holds: (value): value is "STATIC" | "PERMANENT" => value === "STATIC" || value === "PERMANENT",
};
/** A stranger who could name a class here would choose what Java's readers make of it. */
const PAYLOAD: Rule<unknown> = {
  expected: "JSON without @class",
  holds: (value): value is unknown => !isObject(value) || !Object.hasOwn(value, "@class"),
};
const URI_SPEC: Rule<UriSpec> = {
  expected: '{"parts":[{"value":text,"variable":true or false}]}',
  holds: (value): value is UriSpec =>
    isObject(value) &&
    Array.isArray(value["parts"]) &&
    value["parts"].every(
      (part) => isObject(part) && typeof part["value"] === "string" && typeof part["variable"] === "boolean",
    ),
};

function same(expected: string): Rule<string> {
  return {
    expected: `${JSON.stringify(expected)}, as in the path,`,
    holds: (value): value is string => value === expected,
  };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN_CHARS_MAX = 60;

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}
