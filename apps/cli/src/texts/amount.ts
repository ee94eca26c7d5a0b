/** Amounts as `find` of Unix takes them: `+N` more than, `-N` less than, `N` exactly. */
import { usageError } from "../cli-error.ts";

export type Amount = (value: number) => boolean;

const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["k", 1024],
  ["M", 1024 * 1024],
]);
const TIME_UNITS: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Bytes, with `k` and `M` for their multiples of 1024. */
export function readSize(flag: string, text: string): Amount {
  return read(text, SIZE_UNITS, `${flag} takes bytes as [+-]N[k|M]`);
}

/** A whole number. */
export function readCount(flag: string, text: string): Amount {
  return read(text, new Map([["", 1]]), `${flag} takes a number as [+-]N`);
}

/** An age in milliseconds, with one of the units s, m, h and d. */
export function readAge(flag: string, text: string): Amount {
  return read(text, TIME_UNITS, `${flag} takes an age as [+-]N(s|m|h|d)`);
}

function read(text: string, units: ReadonlyMap<string, number>, rule: string): Amount {
  const [, sign = "", digits = "", letter = ""] = /^([+-]?)(\d{1,15})([a-zA-Z]?)$/.exec(text) ?? [];
  const unit = units.get(letter);
  if (digits === "" || unit === undefined) throw usageError(`${rule}, found ${JSON.stringify(text)}`);
  const limit = Number(digits) * unit;
  if (sign === "+") return (value) => value > limit;
  if (sign === "-") return (value) => value < limit;
  // An age is exact to its unit.
  return (value) => Math.floor(value / unit) === Math.floor(limit / unit);
}
