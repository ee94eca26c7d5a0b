import { type StructuredPatchHunk, structuredPatch } from "diff";

const CONTEXT = 3;
/**
 * Maximum number of lines that are removed or added. Beyond it the whole text counts as replaced:
 * the time is quadratic.
 */
const EDITS_MAX = 4_000;

/**
 * The difference of two texts by lines, in the unified form without its heads:
 *
 *     @@ -1,3 +1,3 @@
 *      same
 *     -old
 *     +new
 *      same
 *
 * @returns no lines for equal texts
 */
export function lineDiff(before: string, after: string): readonly string[] {
  const options = { context: CONTEXT, maxEditLength: EDITS_MAX };
  const patch = structuredPatch("", "", before, after, "", "", options);
  return patch === undefined ? replaced(before, after) : patch.hunks.flatMap(hunkLines);
}

function hunkLines({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): readonly string[] {
  return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines];
}

function replaced(before: string, after: string): readonly string[] {
  const removed = signed("-", before);
  const added = signed("+", after);
  return [`@@ -1,${removed.length} +1,${added.length} @@`, ...removed, ...added];
}

function signed(sign: string, text: string): readonly string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line);
}
