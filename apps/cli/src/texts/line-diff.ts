/**
 * The difference of two texts by lines, in the unified form without its heads:
 *
 *     @@ -1,3 +1,3 @@
 *      same
 *     -old
 *     +new
 *      same
 */

const CONTEXT = 3;
/** Cells of the table of common subsequences; beyond it a changed part is replaced as a whole. */
const CELLS_MAX = 4_000_000;

interface Step {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** @returns no lines for equal texts */
export function lineDiff(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const steps = stepsOf(linesOf(before), linesOf(after));
  return hunksOf(steps);
}

/** The last line is marked where no line end follows it, as in `diff`. */
function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\\ no line end`];
}

function stepsOf(before: readonly string[], after: readonly string[]): readonly Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const same = (line: string): Step => ({ sign: " ", line });
  return [
    ...before.slice(0, start).map(same),
    ...changedPart(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** By the longest common subsequence. */
function changedPart(before: readonly string[], after: readonly string[]): readonly Step[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > CELLS_MAX) {
    return [...before.map((line): Step => ({ sign: "-", line })), ...after.map((line): Step => ({ sign: "+", line }))];
  }
  const lengths = new Uint32Array((before.length + 1) * width);
  const length = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [left, right] = [before[i], after[j]];
    if (left !== undefined && left === right) {
      steps.push({ sign: " ", line: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || length(i + 1, j) >= length(i, j + 1))) {
      steps.push({ sign: "-", line: left });
      i++;
    } else {
      steps.push({ sign: "+", line: right ?? "" });
      j++;
    }
  }
  return steps;
}

function hunksOf(steps: readonly Step[]): readonly string[] {
  const isShown = new Uint8Array(steps.length);
  for (const [at, { sign }] of steps.entries()) {
    if (sign !== " ") isShown.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  }
  const lines: string[] = [];
  let [before, after] = [1, 1];
  for (let at = 0; at < steps.length; ) {
    let end = at;
    while (end < steps.length && isShown[end] === isShown[at]) end++;
    const part = steps.slice(at, end);
    const removed = part.filter(({ sign }) => sign !== "+").length;
    const added = part.filter(({ sign }) => sign !== "-").length;
    if (isShown[at] === 1) {
      lines.push(`@@ -${before},${removed} +${after},${added} @@`);
      for (const { sign, line } of part) lines.push(`${sign}${line}`);
    }
    before += removed;
    after += added;
    at = end;
  }
  return lines;
}
