import { StoreError } from "@zooid/txn-log";
import { type BaseManifest, encodeManifest } from "@zooid/txn-log/archive";
import { basePartName, manifestName } from "../contents/backup-listing.ts";
import { readBackupManifest, readBackupPart } from "../contents/read-backup.ts";
import { type BackupTarget, objectPlace } from "../targets/backup-target.ts";
import type { LocalArchive } from "./local-archive.ts";
import type { Pace } from "./pace.ts";

export interface BaseUpload {
  readonly target: BackupTarget;
  readonly local: LocalArchive;
  readonly pace: Pace;
  /** Called before each part: throws where the upload must end. */
  readonly keep: () => Promise<void>;
}

/**
 * Uploads a base of the archive: its parts, each of which is read back and compared, and then its
 * manifest. A part that is there already is not sent again.
 *
 * @returns bytes of the base
 * @throws StoreError `DAMAGED` for what comes back as something else
 */
export async function uploadBase({ target, local, pace, keep }: BaseUpload, manifest: BaseManifest): Promise<number> {
  let [number, bytes] = [0, 0];
  for (const part of local.partsOf(manifest)) {
    await keep();
    if (!(await isThere(target, manifest, number))) {
      await target.put(basePartName(manifest.position.zxid, number), part);
      await pace.spend(part.length);
      await readBackupPart(target, manifest, number);
    }
    number++;
    bytes += part.length;
  }
  await keep();
  const { zxid } = manifest.position;
  const encoded = encodeManifest(manifest);
  await target.put(manifestName(zxid), encoded);
  if (!encodeManifest(await readBackupManifest(target, zxid)).equals(encoded)) {
    const file = objectPlace(target, manifestName(zxid));
    throw new StoreError({ code: "DAMAGED", file, place: "its content", found: "another manifest than was written" });
  }
  return bytes;
}

async function isThere(target: BackupTarget, manifest: BaseManifest, number: number): Promise<boolean> {
  try {
    await readBackupPart(target, manifest, number);
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}
