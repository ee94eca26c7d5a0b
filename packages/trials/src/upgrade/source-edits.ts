/** Changes to copies of the sources, by text that must be there exactly once. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceEdit {
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Adds text behind what is found. */
export function behind(file: string, find: string, added: string): SourceEdit {
  return { file, find, replace: find + added };
}

/** The text of a file after its edits. @throws where one of them does not apply any more */
export function edited(text: string, { file, find, replace }: SourceEdit): string {
  const count = text.split(find).length - 1;
  if (count === 1) return text.replace(find, () => replace);
  throw new Error(
    `${file} has the text ${JSON.stringify(find)} ${count} times, where an edit of the next version needs it once: ` +
      "correct the edit in packages/trials/src/upgrade/next-version.ts",
  );
}

/** Applies edits to a copy of the repository. @throws where one of them does not apply any more */
export function applyEdits(folder: string, edits: readonly SourceEdit[]): void {
  for (const edit of edits) {
    const file = join(folder, edit.file);
    writeFileSync(file, edited(readFileSync(file, "utf8"), edit));
  }
}
