import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApacheSnapshotDecoder, ApacheTree, basesFolderOf, listBases, type Store } from "@zooid/txn-log/sqlite";
import { apacheFilesIn } from "../apache/apache-files.ts";
import { readApache } from "../apache/read-apache.ts";
import { memoryLeft, readSnapshot } from "../apache/read-snapshot.ts";
import { withCopiedStore } from "../copied-store.ts";
import { OfflineError } from "../offline-error.ts";
import { planRestore, type RestoreTarget } from "../restore-plan.ts";
import { withRestoredStore } from "../restored-store.ts";
import { readSurvivor } from "../survivor.ts";

/** A state that can be compared with another one. */
export interface TreePlace {
  /**
   * A snapshot of Apache's, a data directory of an Apache server, one of a stopped server, or an
   * archive or a data directory that has one.
   */
  readonly path: string;
  /** A moment of the archive. */
  readonly target?: RestoreTarget | undefined;
}

/**
 * Reads a whole state into memory. No file is changed; a server's own data are copied to the
 * system's folder for temporary files meanwhile.
 *
 * @throws OfflineError and StoreError
 */
export async function readTree({ path, target }: TreePlace, warn: (text: string) => void): Promise<ApacheTree> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) throw new OfflineError([`${path} does not exist`]);
  if (!facts.isDirectory()) {
    if (target !== undefined) throw new OfflineError([`${path} is a file, which has no other moment`]);
    const tree = new ApacheTree();
    await readSnapshot(path, tree, memoryLeft());
    return tree;
  }
  if (target === undefined && apacheFilesIn(path).length > 0) return (await readApache({ dataDir: path }, warn)).tree;
  const archive = [join(path, "archive"), path].find((each) => listBases(basesFolderOf(each)).length > 0);
  const copy = mkdtempSync(join(tmpdir(), "zooid-inspect-"));
  try {
    // A folder that is an archive has no log of its own.
    if (target !== undefined || archive === path) {
      const plan = planRestore(archive ?? path, target);
      return await withRestoredStore(plan, { copy: join(copy, "data"), warn }, treeOf);
    }
    const survivor = readSurvivor({ dataDir: path });
    return await withCopiedStore(survivor, { copy: join(copy, "data"), takesDamaged: false, warn }, treeOf);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function treeOf(store: Store): Promise<ApacheTree> {
  const tree = new ApacheTree();
  const decoder = new ApacheSnapshotDecoder(tree);
  await using snapshot = await store.exportSnapshot();
  for (let piece = await snapshot.next(); piece !== undefined; piece = await snapshot.next()) {
    decoder.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
  }
  decoder.end();
  return tree;
}
