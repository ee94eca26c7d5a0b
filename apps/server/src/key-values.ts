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

export function trueOrFalseValue(value: string): Read<boolean> {
  return read(trueOrFalse(value), `is true or false, found "${value}"`);
}

/** Every address is written in several ways. */
export function addressValue(value: string): Read<string> {
  if (value === "") return { problem: "is empty; it names an address" };
  return { value: value === "0.0.0.0" || value === "::" ? ANY_ADDRESS : value };
}

export function textValue(value: string): Read<string> {
  return read(value === "" ? undefined : value, "is empty");
}

export function trueOrFalse(value: string): boolean | undefined {
  const lower = value.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : undefined;
}

/** Whether an address for clients stands for every address; a missing one does. */
export function isAnyHost(host: string | undefined): boolean {
  return host === undefined || host === "0.0.0.0" || host === "::";
}
