import type { Payload } from "@zooid/client";

/** What servers answer for a payload; nothing and none are told apart by nobody here. */
export function payloadBytes(data: Payload): Buffer {
  return typeof data === "string" ? Buffer.from(data) : Buffer.from(data ?? []);
}
