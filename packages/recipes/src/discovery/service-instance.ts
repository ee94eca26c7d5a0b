/** An instance of a service as Curator's x-discovery keeps it: one line of JSON, in the order of Curator's properties, nothing left out. */
import type { Codec } from "@zooid/client";
import { RecipeError } from "../recipe-error.ts";
import type { UriSpec } from "./uri-spec.ts";

/** How long a registration lasts: as long as its session, with or without a number behind its id, or until it is taken back. */
export type ServiceType = "dynamic" | "dynamic-sequential" | "static" | "permanent";

export interface ServiceInstance<T = unknown> {
  readonly name: string;
  readonly id: string;
  readonly address: string | null;
  readonly port: number | null;
  readonly sslPort: number | null;
  /** Whatever else its users are to know; JSON. */
  readonly payload: T | null;
  readonly registeredAtMs: number;
  readonly serviceType: ServiceType;
  readonly uriSpec: UriSpec | null;
  /** False: it is there, and is not to be used. */
  readonly enabled: boolean;
}

export interface InstanceFormat {
  /** What a Java reader makes of the payload: the name of its class. Without it, objects become maps and arrays lists there. */
  readonly payloadClass?: string | undefined;
  /** Writes `enabled` too, upon which Curator before 2.8 fails. Default: no, and who is not enabled cannot say so. */
  readonly writeEnabled?: boolean | undefined;
}

/** Classes that Java's writer does not name, since JSON tells them apart. */
const NATURAL = ["java.lang.String", "java.lang.Boolean", "java.lang.Integer", "java.lang.Double"];
const CLASS = "@class";

/** An instance as bytes and back. @throws NOT_OURS where the bytes are no instance */
export function instanceCodec<T>({
  payloadClass,
  writeEnabled = false,
}: InstanceFormat = {}): Codec<ServiceInstance<T>> {
  return {
    encode(instance) {
      const { name, id, address, port, sslPort, payload, registeredAtMs, serviceType, uriSpec, enabled } = instance;
      const written = {
        name,
        id,
        address,
        port,
        sslPort,
        payload: classed(payload, payloadClass),
        registrationTimeUTC: registeredAtMs,
        serviceType: serviceType.toUpperCase().replaceAll("-", "_"),
        uriSpec: uriSpec === null ? null : { parts: uriSpec.parts.map(({ value, variable }) => ({ value, variable })) },
        ...(writeEnabled ? { enabled } : {}),
      };
      return Buffer.from(asJacksonWrites(JSON.stringify(written)));
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
        // The type is the caller's claim, as with every codec of JSON.
        payload: unclassed(read["payload"]) as T | null,
        registeredAtMs: numberOr(read["registrationTimeUTC"], 0),
        serviceType: serviceTypeOf(read["serviceType"]),
        uriSpec: uriSpecOf(read["uriSpec"]),
        enabled: read["enabled"] !== false,
      };
    },
  };
}

/** With the name of its class, as Java's reader wants it: inside an object, before anything else. */
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

/** Java writes the digits of an escaped character in capitals. */
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

/** Dynamic is what Curator takes one for that does not say. */
function serviceTypeOf(value: unknown): ServiceType {
  switch (value) {
    case "STATIC":
      return "static";
    case "PERMANENT":
      return "permanent";
    case "DYNAMIC_SEQUENTIAL":
      return "dynamic-sequential";
    default:
      return "dynamic";
  }
}

function uriSpecOf(value: unknown): UriSpec | null {
  const { parts } = Object(value) as { readonly parts?: unknown };
  if (!Array.isArray(parts)) return null;
  return { parts: parts.map(({ value, variable }) => ({ value: String(value), variable: variable === true })) };
}
