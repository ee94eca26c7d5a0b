import { readFileSync } from "node:fs";

/** The traces of the page, by their letters. */
export const TRACE_LETTERS = {
  W: "write",
  R: "read",
  A: "watch",
  E: "event",
  L: "leader",
  F: "follower",
} as const;

export type TraceLetter = keyof typeof TRACE_LETTERS;

const PAGE = new URL("../../../../docs/architecture.md", import.meta.url);
const SECTION = /^## One request, function by function$([\s\S]*?)^## /m;
const ROW = /^\| ([WRAELF]+) \| (.+) \| .+ \|$/gm;
const SPAN = /`(?:([\w./-]+\.ts):)?([^`]+)`/g;

/** The functions of each trace in docs/architecture.md, as `file:name`. */
export function tracesOfPage(page: string = readFileSync(PAGE, "utf8")): ReadonlyMap<TraceLetter, ReadonlySet<string>> {
  const section = SECTION.exec(page)?.[1] ?? "";
  const traces = new Map<TraceLetter, Set<string>>();
  for (const letter of Object.keys(TRACE_LETTERS) as TraceLetter[]) traces.set(letter, new Set());
  for (const [, letters = "", cells = ""] of section.matchAll(ROW)) {
    let file = "";
    for (const [, named, name = ""] of cells.matchAll(SPAN)) {
      file = named ?? file;
      for (const letter of letters) traces.get(letter as TraceLetter)?.add(`${file}:${name}`);
    }
  }
  return traces;
}
