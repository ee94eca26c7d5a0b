import { compareTrees, comparisonText, inspectFiles, readTree } from "@zooid/embedded-server";
import type { CompareCommand, InspectCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/**
 * `zooid-server inspect`: says what is in files of the history, of the log, and of Apache's.
 *
 * @throws StoreError the first of what is damaged, when all files were read
 */
export async function inspect({ paths, ...options }: InspectCommand, output: Output): Promise<void> {
  const [first, ...more] = await inspectFiles(paths, options, output.print);
  for (const { message } of more) output.warn(message);
  if (first !== undefined) throw first;
}

/**
 * `zooid-server inspect --diff`: compares two states by path.
 *
 * @returns whether they are equal
 * @throws OfflineError and StoreError
 */
export async function compare({ places: [one, other], hasData }: CompareCommand, output: Output): Promise<boolean> {
  const trees = [await readTree(one, output.warn), await readTree(other, output.warn)] as const;
  const comparison = compareTrees(trees, hasData, output.print);
  output.print(comparisonText(comparison));
  const { addedCount, changedCount, removedCount } = comparison;
  return addedCount + changedCount + removedCount === 0;
}
