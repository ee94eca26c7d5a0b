import { SHOWN_CHARS_MAX, visible } from "../model/formats.ts";
import { type DiffLine, lineDiff } from "../model/line-diff.ts";

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const WORDS = { same: "", removed: "removed: ", added: "added: " } as const;
const CONTEXT = 3;
/** A megabyte may have half a million lines, and the browser draws each. */
const SHOWN_MAX = 2_000;

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label?: string;
}

/** A difference by lines, with three lines around each change. */
export function Diff({ before, after, label = "Difference" }: DiffProps) {
  const lines = lineDiff(before, after);
  const rows = shownRows(lines);
  return (
    <section class="block diff" tabIndex={0} aria-label={label}>
      {rows.slice(0, SHOWN_MAX).map((line, i) =>
        line === undefined ? (
          <div key={i} class="gap">
            ⋯
          </div>
        ) : (
          <div key={i} class={line.kind}>
            <span aria-hidden="true">{MARKS[line.kind]} </span>
            <span class="hidden">{WORDS[line.kind]}</span>
            {visible(line.text.slice(0, SHOWN_CHARS_MAX))}
          </div>
        ),
      )}
      {rows.length > SHOWN_MAX && (
        <p class="hint">Only the first {SHOWN_MAX.toLocaleString()} lines of the difference are shown.</p>
      )}
    </section>
  );
}

/** The changes with the lines around them; undefined stands for lines that are left out. */
function shownRows(lines: readonly DiffLine[]): readonly (DiffLine | undefined)[] {
  const near = new Uint8Array(lines.length);
  for (const [i, line] of lines.entries()) {
    if (isChange(line)) near.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  }
  const rows: (DiffLine | undefined)[] = [];
  for (let i = 0; i < lines.length && rows.length <= SHOWN_MAX; i++) {
    if (near[i] === 1) rows.push(lines[i]);
    else if (near[i - 1] === 1) rows.push(undefined);
  }
  return rows;
}

function isChange({ kind }: DiffLine): boolean {
  return kind !== "same";
}
