import type { Payload } from "@zooid/client";

/** The bytes that servers return for a payload; empty and null are not distinguished here. */
export function payloadBytes(data: Payload): Buffer {
  return typeof data === "string" ? Buffer.from(data) : Buffer.from(data ?? []);
}
