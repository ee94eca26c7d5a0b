import { inspectHistory } from "@zooid/embedded-server";
import type { InspectCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/**
 * `zooid-server inspect`: says what is in files of the history.
 *
 * @throws StoreError the first of what is damaged, when all files were read
 */
export function inspect({ paths, ...options }: InspectCommand, output: Output): void {
  const [first, ...more] = inspectHistory(paths, options, output.print);
  for (const { message } of more) output.warn(message);
  if (first !== undefined) throw first;
}
