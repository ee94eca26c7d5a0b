/**
 * The content of a quota node's text, in the form that ZooKeeper's own tools write and read:
 *
 * ```
 * count=5,bytes=-1=;byteHardLimit=1000;countHardLimit=-1
 * ```
 *
 * The `=` before the first `;` is on purpose: it keeps parsers of older versions from what stands
 * behind it. A value that is not there, and -1, say "no limit".
 */
export interface QuotaText {
  count: number;
  bytes: number;
  readonly countHardLimit: number;
  readonly byteHardLimit: number;
  /** The text behind count and bytes, ready to be written again; empty where there is none. */
  readonly rest: string;
}

const COUNT = "count";
const BYTES = "bytes";
const LONG = /^[+-]?\d{1,19}$/;
const LONG_MAX = 2n ** 63n - 1n;

/** Undefined for a text that ZooKeeper itself cannot read. */
export function parseQuotaText(text: string): QuotaText | undefined {
  const values = new Map<string, bigint>();
  for (const pair of pairsOf(text)) {
    const [key = "", value] = dropEmptyEnd(pair.split("="));
    const number = value === "" ? -1n : parseLong(value);
    if (number === undefined) return undefined;
    values.set(key, number);
  }
  const numberOf = (key: string): number => Number(values.get(key) ?? -1n);
  const others = [...values.keys()].filter((key) => key !== COUNT && key !== BYTES).sort();
  return {
    count: numberOf(COUNT),
    bytes: numberOf(BYTES),
    countHardLimit: numberOf("countHardLimit"),
    byteHardLimit: numberOf("byteHardLimit"),
    rest: others.length === 0 ? "" : `=${others.map((key) => `;${key}=${values.get(key)}`).join("")}`,
  };
}

export function formatQuotaText({ count, bytes, rest }: QuotaText): string {
  return `${COUNT}=${count},${BYTES}=${bytes}${rest}`;
}

function pairsOf(text: string): string[] {
  return text === "" ? [] : dropEmptyEnd(text.split(/[,;]+/));
}

/**
 * Java's split leaves empty parts at the end out; what is a number and what is missing follows from
 * it.
 */
function dropEmptyEnd(parts: string[]): string[] {
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

function parseLong(text: string | undefined): bigint | undefined {
  if (text === undefined || !LONG.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return value > LONG_MAX || value < -LONG_MAX - 1n ? undefined : value;
}
