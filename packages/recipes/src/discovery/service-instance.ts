/**
 * An instance in the format of Curator's x-discovery: one line of JSON, in the order of Curator's
 * properties, with all of them.
 */
import type { Codec } from "@zooid/client";
import { checkFit, checkRecord, rules, type Shape, shape } from "@zooid/model";
import { RecipeError } from "../recipe-error.ts";
import { jsonRule } from "./json-value.ts";
import type { UriSpec } from "./uri-spec.ts";

/**
 * Lifetime of a registration: its session, with or without a sequence number in the id, or until it
 * is removed.
 */
export type ServiceType = "dynamic" | "dynamic-sequential" | "static" | "permanent";

export interface ServiceInstance<T = unknown> {
  readonly name: string;
  readonly id: string;
  readonly address: string | null;
  readonly port: number | null;
  readonly sslPort: number | null;
  /** Further data for its users; JSON. */
  readonly payload: T | null;
  readonly registeredAtMs: number;
  readonly serviceType: ServiceType;
  readonly uriSpec: UriSpec | null;
  /** False: it is registered, and must not be used. */
  readonly enabled: boolean;
}

export interface InstanceFormat {
  /** The class name of the payload for Java readers. Without it they get maps and lists. */
  readonly payloadClass?: string | undefined;
  /**
   * Writes `enabled` too, which Curator before 2.8 fails to read. Default: no, and then instances
   * cannot be disabled.
   */
  readonly writeEnabled?: boolean | undefined;
}

/** The rules for {@link InstanceFormat}. */
export const FORMAT: Shape<InstanceFormat> = shape<InstanceFormat>({
  payloadClass: rules.text,
  writeEnabled: rules.flag,
});

const WRITTEN: Shape<{ payload: unknown; enabled: unknown }> = shape({ payload: jsonRule, enabled: rules.flag });
/** Readers take an instance without the field as enabled. */
const ENABLED: typeof WRITTEN = shape({
  payload: jsonRule,
  enabled: { expected: "true, as the format has no writeEnabled", accepts: (value) => value === true },
});

/** Classes that Java's writer does not name, since JSON distinguishes them. */
const NATURAL = ["java.lang.String", "java.lang.Boolean", "java.lang.Integer", "java.lang.Double"];
const CLASS = "@class";

/**
 * Encodes and decodes an instance. @throws NOT_OURS for other bytes; ArgumentError for a payload
 * that is not JSON, and for one that is disabled where the format cannot say so
 */
export function instanceCodec<T>(format: InstanceFormat = {}): Codec<ServiceInstance<T>> {
  checkFit("instanceCodec", format, FORMAT);
  const { payloadClass, writeEnabled = false } = format;
  const written = writeEnabled ? WRITTEN : ENABLED;
  return {
    encode(instance) {
      checkRecord("an instance of a service", { payload: instance.payload, enabled: instance.enabled }, written, []);
      const { name, id, address, port, sslPort, payload, registeredAtMs, serviceType, uriSpec, enabled } = instance;
      const fields = {
        name,
        id,
        address,
        port,
        sslPort,
        payload: classed(payload, payloadClass),
        registrationTimeUTC: registeredAtMs,
        serviceType: writtenType(serviceType),
        uriSpec: uriSpec === null ? null : { parts: uriSpec.parts.map(({ value, variable }) => ({ value, variable })) },
        ...(writeEnabled ? { enabled } : {}),
      };
      return Buffer.from(asJacksonWrites(JSON.stringify(fields)));
    },
    decode(bytes) {
      let read: Readonly<Record<string, unknown>>;
      try {
        read = Object(JSON.parse(Buffer.from(bytes ?? []).toString()));
      } catch (cause) {
        throw new RecipeError("NOT_OURS", "a service's instance was expected, found no JSON", { cause });
      }
      const { name, id } = read;
      if (typeof name !== "string" || typeof id !== "string")
        throw new RecipeError("NOT_OURS", "a service's instance was expected, found no name and id");
      return {
        name,
        id,
        address: textOr(read["address"], null),
        port: numberOr(read["port"], null),
        sslPort: numberOr(read["sslPort"], null),
        // The type is not checked, as with every JSON codec.
        payload: unclassed(read["payload"]) as T | null,
        registeredAtMs: numberOr(read["registrationTimeUTC"], 0),
        serviceType: serviceTypeOf(read["serviceType"]),
        uriSpec: uriSpecOf(read["uriSpec"]),
        enabled: read["enabled"] !== false,
      };
    },
  };
}

/** With the class name first, inside an object, as Java's reader expects. */
function classed(payload: unknown, payloadClass: string | undefined): unknown {
  if (payload === null || payload === undefined) return null;
  if (Array.isArray(payload)) return [payloadClass ?? "java.util.ArrayList", payload];
  if (payloadClass === undefined) return payload;
  if (typeof payload === "object") return { [CLASS]: payloadClass, ...payload };
  return NATURAL.includes(payloadClass) ? payload : [payloadClass, payload];
}

function unclassed(payload: unknown): unknown {
  if (payload === null || payload === undefined) return null;
  if (Array.isArray(payload)) return payload.length === 2 && typeof payload[0] === "string" ? payload[1] : payload;
  if (typeof payload !== "object" || !(CLASS in payload)) return payload;
  const { [CLASS]: _, ...rest } = payload;
  return rest;
}

/** Java writes hexadecimal digits of escapes in capitals. */
function asJacksonWrites(text: string): string {
  return text.replace(/\\(?:u[0-9a-f]{4}|.)/g, (escaped) =>
    escaped.startsWith("\\u") ? `\\u${escaped.slice(2).toUpperCase()}` : escaped,
  );
}

function textOr<F>(value: unknown, otherwise: F): string | F {
  return typeof value === "string" ? value : otherwise;
}

function numberOr<F>(value: unknown, otherwise: F): number | F {
  return typeof value === "number" ? value : otherwise;
}

/** As Curator writes it. */
export function writtenType(type: ServiceType): string {
  return type.toUpperCase().replaceAll("-", "_");
}

const SERVICE_TYPES: readonly ServiceType[] = ["static", "permanent", "dynamic-sequential"];

/** Curator's default is dynamic. */
function serviceTypeOf(value: unknown): ServiceType {
  return SERVICE_TYPES.find((type) => writtenType(type) === value) ?? "dynamic";
}

function uriSpecOf(value: unknown): UriSpec | null {
  const { parts } = Object(value) as { readonly parts?: unknown };
  if (!Array.isArray(parts)) return null;
  return { parts: parts.map(uriPartOf) };
}

function uriPartOf(part: unknown): UriSpec["parts"][number] {
  const { value, variable }: { readonly value?: unknown; readonly variable?: unknown } = Object(part);
  return { value: textOr(value, ""), variable: variable === true };
}
