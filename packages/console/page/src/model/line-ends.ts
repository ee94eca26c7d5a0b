/** Line ends of texts that are edited in a text area, which has only `\n`. */

const LINE_END = /\r\n|\r|\n/g;

/** The text as a text area has it. */
export function withNewlines(text: string): string {
  return text.replace(LINE_END, "\n");
}

/**
 * An edited text with the line ends of the text that it began as: lines that are unchanged at its
 * beginning and at its end keep their own, and all others have the most frequent one.
 *
 * @param edited with `\n` alone
 */
export function withLineEndsOf(original: string, edited: string): string {
  const ends = original.match(LINE_END) ?? [];
  if (ends.every((end) => end === "\n")) return edited;
  const before = withNewlines(original).split("\n");
  const after = edited.split("\n");
  const most = mostFrequent(ends);
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same++;
  let sameAtEnd = 0;
  while (sameAtEnd < shorter - same && before.at(-1 - sameAtEnd) === after.at(-1 - sameAtEnd)) sameAtEnd++;
  const endOf = (line: number): string => {
    const fromEnd = after.length - 1 - line;
    if (line < same) return ends[line] ?? most;
    return (fromEnd <= sameAtEnd ? ends.at(-fromEnd) : undefined) ?? most;
  };
  return after.map((line, i) => (i === after.length - 1 ? line : line + endOf(i))).join("");
}

function mostFrequent(ends: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const end of ends) counts.set(end, (counts.get(end) ?? 0) + 1);
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? "\n";
}
