/**
 * An instance in the JSON of Curator's discovery server over HTTP. It differs from the JSON of the
 * znode: an unknown port is omitted, and the payload has no Java class name.
 */
import type { LastingInstance } from "./service-discovery.ts";
import { type ServiceInstance, writtenType } from "./service-instance.ts";
import type { UriSpec } from "./uri-spec.ts";

/** An instance for HTTP clients; `uriSpec` and `enabled` are extensions, included only when set. */
export function instanceJson(instance: ServiceInstance): Readonly<Record<string, unknown>> {
  const { name, id, address, port, sslPort, payload, registeredAtMs, serviceType, uriSpec, enabled } = instance;
  return {
    name,
    id,
    address,
    ...(port === null ? {} : { port }),
    ...(sslPort === null ? {} : { sslPort }),
    registrationTimeUTC: registeredAtMs,
    serviceType: writtenType(serviceType),
    ...(payload === null ? {} : { payload }),
    ...(uriSpec === null ? {} : { uriSpec }),
    ...(enabled ? {} : { enabled }),
  };
}

export type Parsed<T> =
  | { readonly kind: "instance"; readonly instance: LastingInstance<T> }
  | { readonly kind: "faults"; readonly faults: readonly string[] };

/** The instance that a request addresses. */
export interface InstanceAddress {
  readonly name: string;
  readonly id: string;
}

/**
 * An instance from a request's body, or all of its problems. Unknown fields are ignored, as in
 * Curator.
 *
 * @param at id and name in the path, which the body must repeat
 * @param nowMs default of the registration time
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
  /** A valid field; `otherwise` if it is missing and optional. */
  const take = <V>(field: string, rule: Rule<V>, otherwise?: V): V => {
    const value = fields[field] ?? undefined;
    if (value === undefined && otherwise !== undefined) return otherwise;
    if (rule.holds(value)) return value;
    faults.push(`${field}: ${rule.expected} was expected, found ${shown(value)}`);
    // An instance with a fault is not made.
    return undefined as V;
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
  if (faults.length > 0) return { kind: "faults", faults };
  return {
    kind: "instance",
    instance: {
      name,
      id,
      address,
      port,
      sslPort,
      registeredAtMs,
      uriSpec,
      enabled,
      serviceType: serviceType === "STATIC" ? "static" : "permanent",
      // The type is not checked, as with every JSON codec.
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
/** A dynamic instance would need a session, which HTTP clients do not have. */
const LASTING: Rule<"STATIC" | "PERMANENT"> = {
  expected: '"STATIC" or "PERMANENT"',
  holds: (value): value is "STATIC" | "PERMANENT" => value === "STATIC" || value === "PERMANENT",
};
/** A client that could name a class here could choose the class that Java's readers instantiate. */
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
