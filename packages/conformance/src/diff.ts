/**
 * Line by line difference of two transcripts, as in `diff -u` without the headers: a longest common
 * subsequence.
 */

export type DiffLine = { readonly kind: "same" | "removed" | "added"; readonly text: string };

export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const lengths = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const removed = before[i];
    const added = after[j];
    if (removed !== undefined && removed === added) {
      lines.push({ kind: "same", text: removed });
      i++;
      j++;
    } else if (removed !== undefined && (added === undefined || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      lines.push({ kind: "removed", text: removed });
      i++;
    } else if (added !== undefined) {
      lines.push({ kind: "added", text: added });
      j++;
    }
  }
  return lines;
}

const SIGNS = { same: " ", removed: "-", added: "+" } as const;

/** The differing lines with `context` equal ones around them; empty when nothing differs. */
export function printDiff(lines: readonly DiffLine[], context = 3): string {
  const differing = lines.flatMap((line, index) => (line.kind === "same" ? [] : [index]));
  const isNear = (index: number): boolean => differing.some((place) => Math.abs(place - index) <= context);
  const shown: string[] = [];
  lines.forEach((line, index) => {
    if (isNear(index)) shown.push(`${SIGNS[line.kind]} ${line.text}`);
    else if (index > 0 && isNear(index - 1)) shown.push("  ...");
  });
  return shown.join("\n");
}

/**
 * `table[i][j]` is the length of the longest common subsequence of before from i on and after from
 * j on.
 */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] =
        before[i] === after[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

function at(table: readonly Uint32Array[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
