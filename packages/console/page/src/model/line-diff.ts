import { diffArrays } from "diff";

/** The difference of two texts by lines. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/**
 * Maximum number of lines that are removed or added. Beyond it the whole text counts as replaced:
 * the time is quadratic.
 */
const EDITS_MAX = 4_000;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const parts = diffArrays(a, b, { maxEditLength: EDITS_MAX });
  if (parts === undefined) return [...linesOf("removed", a), ...linesOf("added", b)];
  return parts.flatMap(({ value, added, removed }) => linesOf(added ? "added" : removed ? "removed" : "same", value));
}

function linesOf(kind: DiffLine["kind"], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}
