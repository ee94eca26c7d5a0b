import { readFileSync } from "node:fs";
import { BackupError } from "../backup-error.ts";
import type { BackupTarget } from "../targets/backup-target.ts";
import { openTarget } from "../targets/open-target.ts";
import type { UploadSettings } from "./upload-messages.ts";

/** A target, and the file with its key. */
export type ArchiveSource = Pick<UploadSettings, "target" | "endpoint" | "region" | "credentialsFile" | "env">;

const KEY_BYTES_MAX = 64 * 1024;

/**
 * Opens a server's target, with the key as its file has it now.
 *
 * @throws BackupError where the key cannot be read
 */
export function openUploadTarget(
  { credentialsFile: file, ...settings }: ArchiveSource,
  signal: AbortSignal,
): BackupTarget {
  const credentials = file === undefined ? undefined : { file, text: keyIn(file) };
  return openTarget({ ...settings, credentials }, signal);
}

function keyIn(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    if (text.length <= KEY_BYTES_MAX) return text;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BackupError({ code: "SETTING", problem: `the key of the backup cannot be read: ${reason}` }, { cause });
  }
  throw new BackupError({ code: "SETTING", problem: `${file} is too long for a file with one key` });
}
