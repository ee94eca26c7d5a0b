import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file that is whole after a crash: it has its old text, or the new one. */
export function replaceFile(file: string, text: string, mode: number): void {
  const aside = `${file}.tmp`;
  rmSync(aside, { force: true });
  const fd = openSync(aside, "wx", 0o600);
  try {
    fchmodSync(fd, mode);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(aside, file);
  const directory = openSync(dirname(file), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
