import { emptySlice, sliceText } from "@zooid/model";
import type { TreeState } from "./tree-state.ts";

export const CONFIG_PATH = "/zookeeper/config";
const CONFIG_PATH_BYTES = Buffer.from(CONFIG_PATH);

/**
 * Shows the ensemble's configuration without its comments. They are for the servers, which know the
 * configuration from their logs: clients see the lines that Apache ZooKeeper has.
 */
export function showWithoutComments({ store, shown }: TreeState, node: number): void {
  const slice = emptySlice();
  store.data(node, slice);
  const text = sliceText(slice);
  const kept = withoutComments(text);
  if (kept.length < text.length) shown.show(node, { data: Buffer.from(kept) });
}

/** The same for data that the node at a path had in the past. */
export function shownPastData(path: Uint8Array, data: Uint8Array | null): Uint8Array | null {
  if (data === null || !CONFIG_PATH_BYTES.equals(path)) return data;
  return Buffer.from(withoutComments(Buffer.from(data).toString()));
}

export function withoutComments(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
}
