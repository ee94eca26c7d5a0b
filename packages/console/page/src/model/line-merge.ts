/** The merge of two edits of one text, by lines. */
import { type DiffLine, lineDiff } from "./line-diff.ts";

export interface Merge {
  /** With both sides of each conflict between marks. */
  readonly text: string;
  readonly conflictCount: number;
}

/** Around the sides of a conflict, as in version control. */
const MARKS = { mine: "<<<<<<< yours", between: "=======", theirs: ">>>>>>> theirs" } as const;

/** Lines of the base that a side has replaced. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * Changes of one side that touch none of the other are taken; changes that touch are a conflict,
 * unless they are equal.
 */
export function mergeLines(base: string, mine: string, theirs: string): Merge {
  const lines = base.split("\n");
  const [left, right] = [hunksOf(lineDiff(base, mine)), hunksOf(lineDiff(base, theirs))];
  const merged: string[] = [];
  let conflictCount = 0;
  let at = 0;
  while (left.length > 0 || right.length > 0) {
    const start = Math.min(left[0]?.start ?? lines.length, right[0]?.start ?? lines.length);
    const { ours, others, end } = touching(left, right, start);
    merged.push(...lines.slice(at, start));
    const [one, other] = [applied(lines, ours, start, end), applied(lines, others, start, end)];
    if (others.length === 0) merged.push(...one);
    else if (ours.length === 0 || areEqual(one, other)) merged.push(...other);
    else {
      merged.push(MARKS.mine, ...one, MARKS.between, ...other, MARKS.theirs);
      conflictCount++;
    }
    at = end;
  }
  return { text: [...merged, ...lines.slice(at)].join("\n"), conflictCount };
}

/** The line of the first mark of a conflict that is not resolved; undefined where there is none. */
export function firstMark(text: string): number | undefined {
  const marks: readonly string[] = [MARKS.mine, MARKS.theirs];
  const line = text.split("\n").findIndex((each) => marks.includes(each));
  return line === -1 ? undefined : line + 1;
}

/** Takes the changes of both sides from a line on, as far as each touches the ones before. */
function touching(
  left: Hunk[],
  right: Hunk[],
  start: number,
): { readonly ours: readonly Hunk[]; readonly others: readonly Hunk[]; readonly end: number } {
  const [ours, others]: [Hunk[], Hunk[]] = [[], []];
  let end = start;
  for (;;) {
    const [hunks, taken] = (left[0]?.start ?? Number.POSITIVE_INFINITY) <= end ? [left, ours] : [right, others];
    const [next] = hunks;
    if (next === undefined || next.start > end) return { ours, others, end };
    hunks.shift();
    taken.push(next);
    end = Math.max(end, next.end);
  }
}

function hunksOf(diff: readonly DiffLine[]): Hunk[] {
  const hunks: Hunk[] = [];
  let at = 0;
  let open: { readonly start: number; readonly lines: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) hunks.push({ start: open.start, end: at, lines: open.lines });
    open = undefined;
  };
  for (const { kind, text } of diff) {
    if (kind === "same") close();
    else open ??= { start: at, lines: [] };
    if (kind === "added") open?.lines.push(text);
    else at++;
  }
  close();
  return hunks;
}

/** The lines of the base from start to end, with these changes. */
function applied(lines: readonly string[], hunks: readonly Hunk[], start: number, end: number): readonly string[] {
  const result: string[] = [];
  let at = start;
  for (const hunk of hunks) {
    result.push(...lines.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
  }
  return [...result, ...lines.slice(at, end)];
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}
