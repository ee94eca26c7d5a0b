import { emptySlice, sliceText } from "@zooid/model";
import type { TreeState } from "./tree-state.ts";

/**
 * Shows the ensemble's configuration without its comments. They are for the servers, which know the
 * configuration from their logs: clients see the lines that Apache ZooKeeper has.
 */
export function showWithoutComments({ store, shown }: TreeState, node: number): void {
  const slice = emptySlice();
  store.data(node, slice);
  const lines = sliceText(slice).split("\n");
  const kept = lines.filter((line) => !line.startsWith("#"));
  if (kept.length < lines.length) shown.show(node, { data: Buffer.from(kept.join("\n")) });
}
