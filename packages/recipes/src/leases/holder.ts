import { hostname } from "node:os";

/** The holder of an exclusive node, by the node's data. */
export interface Holder {
  /** The holder's id; a UUID if it has set none. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

/** The node's data; `grant` is unique to one grant. */
export function holderData(id: string | undefined): Buffer {
  const grant = crypto.randomUUID();
  const holder: Holder & { readonly grant: string } = { id: id ?? grant, host: hostname(), pid: process.pid, grant };
  return Buffer.from(JSON.stringify(holder));
}

/** Null for other data. */
export function readHolder(data: Uint8Array | null): Holder | null {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(data ?? []).toString());
  } catch {
    return null;
  }
  if (typeof read !== "object" || read === null) return null;
  const { id, host, pid } = read as { readonly [field in keyof Holder]?: unknown };
  if (typeof id !== "string" || typeof host !== "string" || typeof pid !== "number") return null;
  return { id, host, pid };
}
