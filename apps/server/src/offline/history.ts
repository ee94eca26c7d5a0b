import { printChanges, printPastNode } from "@zooid/embedded-server";
import type { HistoryCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";
import { archiveOf } from "./source-directory.ts";

/**
 * `zooid-server history`: prints the changes of a node, or the node at a moment of the past.
 *
 * @throws OfflineError and StoreError
 */
export function history({ from, at, ...options }: HistoryCommand, output: Output): void {
  const archive = archiveOf(from);
  if (at === undefined) printChanges(archive, options, output);
  else printPastNode(archive, { at, path: options.path, hasData: options.hasData }, output);
}
