/** Data as something to read. All of it is text; nothing is markup. */
import type { DataJson } from "../../../src/api/shapes.ts";
import { parseProperties } from "./properties-text.ts";
import { problemsOf } from "./text-checks.ts";

export const FORMATS = ["text", "json", "yaml", "xml", "properties", "hex", "base64", "gzip"] as const;
export type Format = (typeof FORMATS)[number];

/** More is cut in the view; a download has all of it. */
export const SHOWN_CHARS_MAX = 256 * 1024;
const ROW_BYTES = 16;

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** The format that shows most of it. */
export function bestFormat(data: DataJson): Format {
  if (data.text === undefined) return data.base64.startsWith("H4sI") ? "gzip" : "hex";
  return /^\s*[[{]/.test(data.text) && prettyJson(data.text) !== undefined ? "json" : "text";
}

/** Undefined for a text that is not JSON. Numbers keep all of their digits. */
export function prettyJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return indented(text);
}

/** The data in a format; undefined: the data has not this format. */
export async function shownAs(data: DataJson, format: Format): Promise<string | undefined> {
  switch (format) {
    case "text":
      return data.text;
    case "json":
      return data.text === undefined ? undefined : prettyJson(data.text);
    case "yaml":
    case "xml":
      return data.text === undefined || (await problemsOf(data.text, format)).length > 0 ? undefined : data.text;
    case "properties":
      return data.text === undefined ? undefined : propertiesTable(data.text);
    case "hex":
      return hexDump(bytesOf(data.base64));
    case "base64":
      return data.base64.replace(/.{76}/g, "$&\n");
    case "gzip":
      return gunzipped(bytesOf(data.base64));
  }
}

/** Keys and values as they are read, without comments; undefined for a text with a wrong escape. */
function propertiesTable(text: string): string | undefined {
  const { properties, problems } = parseProperties(text);
  if (problems.length > 0) return undefined;
  const width = Math.min(40, Math.max(0, ...properties.map(({ key }) => key.length)));
  return properties.map(({ key, value }) => `${key.padEnd(width)} = ${value}`).join("\n");
}

export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  const shown = bytes.subarray(0, SHOWN_CHARS_MAX / 4);
  for (let at = 0; at < shown.length; at += ROW_BYTES) {
    const row = [...shown.subarray(at, at + ROW_BYTES)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    const left = `${hex.slice(0, 8).join(" ")}  ${hex.slice(8).join(" ")}`;
    lines.push(`${at.toString(16).padStart(8, "0")}  ${left.padEnd(49)} ${text}`);
  }
  return lines.join("\n");
}

/** A small file that unpacks to a huge one is cut. */
async function gunzipped(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  try {
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (text.length < SHOWN_CHARS_MAX) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
    return text;
  } catch {
    return undefined;
  }
}

/**
 * Formats JSON by its characters: parsing would lose digits of large numbers, and the order of
 * equal keys.
 */
function indented(text: string): string {
  let [out, depth, isInString] = ["", 0, false];
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (isInString) {
      out += char;
      if (char === "\\") out += text.charAt(++i);
      else if (char === '"') isInString = false;
      continue;
    }
    if (/\s/.test(char)) continue;
    if (char === '"') {
      isInString = true;
      out += char;
    } else if (char === "{" || char === "[") {
      const close = /^\s*[}\]]/.exec(text.slice(i + 1, i + 200))?.[0];
      if (close !== undefined) {
        out += char + close.trim();
        i += close.length;
        continue;
      }
      depth++;
      out += char + line();
    } else if (char === "}" || char === "]") {
      depth--;
      out += line() + char;
    } else if (char === ",") out += char + line();
    else if (char === ":") out += ": ";
    else out += char;
  }
  return out;
}

/**
 * Characters that change the direction of text, and other invisible ones, are shown by their
 * number.
 */
export function visible(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `\u27e8U+${code}\u27e9`;
  });
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

export function timeText(ms: string): string {
  return new Date(Number(ms)).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export function ageText(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
