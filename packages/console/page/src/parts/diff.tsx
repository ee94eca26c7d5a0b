import { visible } from "../model/formats.ts";
import { type DiffLine, lineDiff } from "../model/line-diff.ts";

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const WORDS = { same: "", removed: "removed: ", added: "added: " } as const;
const CONTEXT = 3;

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label?: string;
}

/** A difference by lines, with three lines around each change. */
export function Diff({ before, after, label = "Difference" }: DiffProps) {
  const lines = lineDiff(before, after);
  const near = lines.map((_line, i) => lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(isChange));
  return (
    <section class="block diff" tabIndex={0} aria-label={label}>
      {lines.map((line, i) =>
        near[i] ? (
          <div key={i} class={line.kind}>
            <span aria-hidden="true">{MARKS[line.kind]} </span>
            <span class="hidden">{WORDS[line.kind]}</span>
            {visible(line.text)}
          </div>
        ) : near[i - 1] ? (
          <div key={i} class="gap">
            ⋯
          </div>
        ) : null,
      )}
    </section>
  );
}

function isChange({ kind }: DiffLine): boolean {
  return kind !== "same";
}
