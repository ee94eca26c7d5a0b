import { type ArrayChange, diffArrays } from "diff";

const CONTEXT = 3;

/**
 * The lines in which two transcripts differ, with equal ones around them; empty when nothing
 * differs.
 */
export function printDiff(before: readonly string[], after: readonly string[], context: number = CONTEXT): string {
  const lines = diffArrays([...before], [...after]).flatMap((part) =>
    part.value.map((text) => ({ sign: signOf(part), text })),
  );
  const differing = lines.flatMap(({ sign }, index) => (sign === " " ? [] : [index]));
  const isNear = (index: number): boolean => differing.some((place) => Math.abs(place - index) <= context);
  const shown: string[] = [];
  for (const [index, { sign, text }] of lines.entries()) {
    if (isNear(index)) shown.push(`${sign} ${text}`);
    else if (index > 0 && isNear(index - 1)) shown.push("  ...");
  }
  return shown.join("\n");
}

function signOf({ added, removed }: ArrayChange<string>): " " | "-" | "+" {
  if (added) return "+";
  return removed ? "-" : " ";
}
