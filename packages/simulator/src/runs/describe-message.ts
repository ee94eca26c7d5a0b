import { type ElectionMessage, formatZxid, type PeerMessage, type Zxid } from "@zooid/model";

/** A message for a transcript: without its bytes, zxids in their usual form. */
export function describeMessage(message: PeerMessage | ElectionMessage): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (key === "bytes" || key === "passwordHash") return undefined;
    if (typeof value === "number" && value >= 2 ** 32) return formatZxid(value as Zxid);
    return typeof value === "bigint" ? value.toString(16) : value;
  });
}
