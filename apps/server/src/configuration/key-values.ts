import { isIP } from "node:net";
import { resolve } from "node:path";

/* How the values of keys are read: true or false, numbers, addresses. */

/** Apache listens on every address unless a file names one. */
export const ANY_ADDRESS = "*";

/** A value, or what is wrong with it. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

export function read<T>(value: T | undefined, problem: string): Read<T> {
  return value === undefined ? { problem } : { value };
}

export function wholeValue(value: string): Read<number> {
  return read(/^[+-]?\d+$/.test(value) ? Number(value) : undefined, `is a whole number, found "${value}"`);
}

export function countValue(value: string): Read<number> {
  return read(/^\+?\d+$/.test(value) ? Number(value) : undefined, `is a whole number, 0 or more, found "${value}"`);
}

export function decimalValue(value: string): Read<number> {
  return read(/^[+-]?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined, `is a number, found "${value}"`);
}

const PORT_MAX = 65_535;

export function portValue(value: string): Read<number> {
  const isPort = /^\+?\d+$/.test(value) && Number(value) <= PORT_MAX;
  return read(isPort ? Number(value) : undefined, `is a port, 0 to ${PORT_MAX}, found "${value}"`);
}

export function trueOrFalseValue(value: string): Read<boolean> {
  return read(trueOrFalse(value), `is true or false, found "${value}"`);
}

/** Every address is written in several ways; IPv6 addresses may have brackets. */
export function addressValue(value: string): Read<string> {
  if (value === "") return { problem: "is empty; it names an address" };
  const inBrackets = /^\[(.*)\]$/.exec(value)?.[1];
  const bare = inBrackets ?? value;
  const problem =
    inBrackets === undefined || isIP(inBrackets) === 6 ? hostProblem(bare) : `is no IPv6 address, found "${value}"`;
  if (problem !== undefined) return { problem };
  return { value: isAnyHost(bare) ? ANY_ADDRESS : bare };
}

/**
 * The problem of a host. A name that does not resolve may do so later; a numeric address that is
 * malformed never will.
 */
export function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0 || host === ANY_ADDRESS) return undefined;
  if (host.includes(":")) return `is no IPv6 address, found "${host}"`;
  if (/^[\d.]+$/.test(host)) return `is no IPv4 address, found "${host}"`;
  if (/^["'].*["']$/.test(host)) return `is an address or a name without quotes, found ${host}`;
  if (!/^[\p{L}\p{N}._-]+$/u.test(host)) return `is an address or a name, found "${host}"`;
  return undefined;
}

/** Placeholders of shells and templates, left as they are. */
const UNREPLACED = /\$\{|\$\(|\{\{|^\$[A-Z_]|^~|^%[A-Z_]+%/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no path that was meant has them
const CONTROL = /[\u0000-\u001f\u007f]/;
const DRIVE = /^[a-z]:/i;

/**
 * A path, made absolute. Nothing replaces anything in it, so that a path which was meant for a
 * shell, a template or another system would silently be another directory, below the one in which
 * the process was started.
 */
export function pathValue(value: string, what: "file" | "directory" = "file"): Read<string> {
  if (value === "") return { problem: `is empty; it names a ${what}` };
  if (CONTROL.test(value))
    return { problem: `has a control character in the name of a ${what}; a backslash is written twice` };
  if (/^["'].*["']$/.test(value)) return { problem: `names a ${what} without quotes, found ${value}` };
  if (UNREPLACED.test(value))
    return { problem: `names a ${what} as it is, and nothing is replaced in it, found "${value}"` };
  if (DRIVE.test(value) && (process.platform !== "win32" || !/^.:[\\/]/.test(value)))
    return { problem: `names a drive, and no ${what} here; a backslash is written twice, found "${value}"` };
  return { value: resolve(value) };
}

export function textValue(value: string): Read<string> {
  return read(value === "" ? undefined : value, "is empty");
}

export function anyValue(value: string): Read<string> {
  return { value };
}

/** Values between commas, without the blanks around them. */
export function listValue(value: string): Read<readonly string[]> {
  return { value: value.split(",").map((one) => one.trim()) };
}

/** One of two words; the first is the default where `hasDefault`. */
export function oneOf<W extends string>(
  [first, second]: readonly [W, W],
  hasDefault = false,
): (value: string) => Read<W> {
  const words = `${first}${hasDefault ? " (the default)" : ""} or ${second}`;
  return (value) =>
    read(
      [first, second].find((word) => word === value),
      `is ${words}, found "${value}"`,
    );
}

export function trueOrFalse(value: string): boolean | undefined {
  const lower = value.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : undefined;
}

/** Whether an address for clients stands for every address; a missing one does. */
export function isAnyHost(host: string | undefined): boolean {
  return host === undefined || host === "0.0.0.0" || host === "::";
}
