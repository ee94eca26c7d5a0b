import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { counted, formatZxid, type Zxid } from "@zooid/model";
import type { Store } from "@zooid/txn-log/sqlite";
import { withCopiedStore } from "./copied-store.ts";
import { OfflineError } from "./offline-error.ts";
import type { Survivor } from "./survivor.ts";
import { writeWhole } from "./whole-file.ts";

export interface SnapshotOptions {
  /**
   * The folder that gets the snapshot. Default file name: `snapshot.` and its zxid, as Apache
   * ZooKeeper names them.
   */
  readonly directory: string;
  /** The name in it. */
  readonly name?: string | undefined;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  warn(text: string): void;
}

export interface WrittenSnapshot {
  readonly file: string;
  readonly zxid: Zxid;
  readonly nodeCount: number;
  readonly sizeBytes: number;
}

/**
 * Writes what a stopped server holds, all that is logged, as a snapshot in Apache ZooKeeper's form.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function writeOfflineSnapshot(survivor: Survivor, options: SnapshotOptions): Promise<WrittenSnapshot> {
  const copy = mkdtempSync(join(options.directory, ".zooid-snapshot-"));
  try {
    return await withCopiedStore(survivor, { copy, ...options }, (store) => writeFrom(store, options));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function writeFrom(store: Store, options: SnapshotOptions): Promise<WrittenSnapshot> {
  await using snapshot = await store.exportSnapshot();
  const { nodeCount, position } = snapshot;
  const file = join(options.directory, options.name ?? `snapshot.${position.zxid.toString(16)}`);
  if (existsSync(file)) throw new OfflineError([`${file} exists, and is not written over`]);
  const sizeBytes = await writeWhole(file, () => snapshot.next());
  return { file, zxid: position.zxid, nodeCount, sizeBytes };
}

/** For the line that says what was written. */
export function snapshotText({ file, zxid, nodeCount, sizeBytes }: WrittenSnapshot): string {
  return `${file} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}, ${sizeBytes} bytes`;
}
