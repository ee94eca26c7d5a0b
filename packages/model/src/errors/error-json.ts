/**
 * Errors as JSON. `JSON.stringify` leaves out the message of an error and its cause, and writes
 * each byte of what an error carries: a log line of it would say nothing, or hold megabytes.
 */

/** Characters of all texts in one error's JSON. */
const CHARS_MAX = 32 * 1024;
/** Characters of one text: a path has as many. */
const TEXT_CHARS_MAX = 16 * 1024;
/** Bytes of data that are shown. */
const SHOWN_BYTES = 64;
const ITEMS_MAX = 100;
const DEPTH_MAX = 4;
const CAUSES_MAX = 4;

/**
 * Data in an error's JSON: its size, and its first 64 bytes as text where they are UTF-8, else in
 * base64.
 */
export type DataPreview =
  | { readonly bytes: number; readonly text: string }
  | { readonly bytes: number; readonly base64: string };

/**
 * An error as an object for JSON, for `toJSON` of its class: name, code, message, its own fields,
 * and its causes by name, code and message. It has a bounded size: longer texts and lists are cut,
 * and data is a {@link DataPreview}.
 *
 * @param more fields that are not enumerable
 */
export function errorJson(
  error: Error,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const room: Room = { chars: CHARS_MAX };
  const json: Record<string, unknown> = headJson(error, room);
  for (const [name, value] of Object.entries({ ...error, ...more })) {
    if (HEAD.has(name)) continue;
    const shown = valueJson(value, room, DEPTH_MAX);
    if (shown !== undefined) json[name] = shown;
  }
  const cause = causeJson(error.cause, room, CAUSES_MAX);
  return cause === undefined ? json : { ...json, cause };
}

const HEAD: ReadonlySet<string> = new Set(["name", "code", "message", "cause", "stack"]);

/** The room for further texts. */
interface Room {
  chars: number;
}

function headJson(error: Error, room: Room): Record<string, unknown> {
  const code = "code" in error && typeof error.code === "string" ? { code: cut(error.code, room) } : {};
  return { name: cut(error.name, room), ...code, message: cut(error.message, room) };
}

function causeJson(cause: unknown, room: Room, left: number): unknown {
  if (cause === undefined || left === 0) return undefined;
  if (!(cause instanceof Error)) return valueJson(cause, room, 1);
  const next = causeJson(cause.cause, room, left - 1);
  return next === undefined ? headJson(cause, room) : { ...headJson(cause, room), cause: next };
}

function valueJson(value: unknown, room: Room, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return cut(value, room);
    case "bigint":
      // Ids of sessions, as logs have them.
      return `0x${BigInt.asUintN(64, value).toString(16)}`;
    case "object":
      return value === null ? null : objectJson(value, room, depth);
    case "number":
    case "boolean":
      return value;
    default:
      return undefined;
  }
}

function objectJson(value: object, room: Room, depth: number): unknown {
  if (value instanceof Uint8Array) return dataPreview(value);
  if (value instanceof Error) return headJson(value, room);
  if (depth === 0) return Array.isArray(value) ? `${value.length} items` : "an object";
  if (Array.isArray(value)) {
    const items: unknown[] = value.slice(0, ITEMS_MAX).map((item) => valueJson(item, room, depth - 1) ?? null);
    return value.length > ITEMS_MAX ? [...items, `${value.length - ITEMS_MAX} more`] : items;
  }
  const names = Object.keys(value).slice(0, ITEMS_MAX);
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [cut(name, room), valueJson(fields[name], room, depth - 1)]));
}

function dataPreview(data: Uint8Array): DataPreview {
  const shown = data.subarray(0, SHOWN_BYTES);
  try {
    // The last character may be cut: as in a stream, what is missing of it is no fault.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(shown, { stream: true });
    return { bytes: data.length, text };
  } catch {
    return { bytes: data.length, base64: Buffer.from(shown).toString("base64") };
  }
}

function cut(text: string, room: Room): string {
  const shown = text.slice(0, Math.min(room.chars, TEXT_CHARS_MAX));
  room.chars -= shown.length;
  return shown.length === text.length ? text : `${shown}… (${text.length} characters)`;
}
