import { readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/** How often a function ran. */
export interface CallCount {
  /** Its file, as `replica/requests/client-writes.ts`. */
  readonly file: string;
  /**
   * `write`, `#take`, `get isOpen`, or the head of an arrow function without a name: `(run) =>`.
   */
  readonly name: string;
  readonly count: number;
}

/** The calls that an interval had, by {@link keyOf}. */
export type CallCounts = ReadonlyMap<string, CallCount>;

const PACKAGES = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCE_FILE = /^([^/]+)\/src\/(.+\.ts)$/;

export function keyOf({ file, name }: Pick<CallCount, "file" | "name">): string {
  return `${file}:${name}`;
}

export function isGetter({ name }: Pick<CallCount, "name">): boolean {
  return name.startsWith("get ");
}

/** Reads V8's answer to `Profiler.takePreciseCoverage`, for the files of the packages. */
export function callCountsOf(coverage: Profiler.TakePreciseCoverageReturnType): CallCounts {
  const counts = new Map<string, CallCount>();
  for (const { url, functions } of coverage.result) {
    const file = fileOf(url);
    if (file === undefined) continue;
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      // The function of a module as a whole begins at 0: it runs when the module is loaded.
      if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
      const name = functionName === "" ? headOf(url, range.startOffset) : functionName;
      const key = keyOf({ file, name });
      counts.set(key, { file, name, count: range.count + (counts.get(key)?.count ?? 0) });
    }
  }
  return counts;
}

/** The calls that all intervals have in common. */
export function common(intervals: readonly CallCounts[]): CallCounts {
  const [first = new Map(), ...others] = intervals;
  const result = new Map<string, CallCount>();
  for (const [key, call] of first) {
    const count = Math.min(call.count, ...others.map((other) => other.get(key)?.count ?? 0));
    if (count > 0) result.set(key, { ...call, count });
  }
  return result;
}

/** The calls that any interval had, as often as the one with most. */
export function union(intervals: readonly CallCounts[]): CallCounts {
  const result = new Map<string, CallCount>();
  for (const [key, call] of intervals.flatMap((calls) => [...calls])) {
    if (call.count > (result.get(key)?.count ?? 0)) result.set(key, call);
  }
  return result;
}

function fileOf(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  const [, folder, path] = SOURCE_FILE.exec(relative(PACKAGES, fileURLToPath(url))) ?? [];
  return folder === undefined ? undefined : `${folder}/${path}`;
}

const sources = new Map<string, string>();

/** The parameters of an arrow function. Stripped types leave all offsets as in the file. */
function headOf(url: string, offset: number): string {
  let source = sources.get(url);
  if (source === undefined) {
    source = readFileSync(fileURLToPath(url), "utf8");
    sources.set(url, source);
  }
  const end = source.indexOf("=>", offset);
  return end === -1 ? "(anonymous)" : source.slice(offset, end + 2).replace(/\s+/g, " ");
}
