import { hostname } from "node:os";

/** Who has a name that one has at a time, as its node says. */
export interface Holder {
  /** As the holder calls itself; a UUID where it has not said. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

/** What the holder's node says; `grant` is this one's alone. */
export function holderData(id: string | undefined): Buffer {
  const grant = crypto.randomUUID();
  const holder: Holder & { readonly grant: string } = { id: id ?? grant, host: hostname(), pid: process.pid, grant };
  return Buffer.from(JSON.stringify(holder));
}

/** Null where the node says something else. */
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
