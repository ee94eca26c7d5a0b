import { statSync } from "node:fs";
import { join } from "node:path";
import { counted, formatZxid } from "@zooid/model";
import type { StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  basesFolderOf,
  gapsIn,
  type ListedBase,
  listArchive,
  listBases,
  readBase,
  readManifest,
} from "@zooid/txn-log/sqlite";
import { guarded } from "./guarded.ts";
import { changePrinter, ensembleText, timesText } from "./inspect-lines.ts";
import type { InspectOptions } from "./inspect-options.ts";

/** Where a folder's files are, below a data directory or an archive. */
const FOLDERS: readonly string[] = ["archive/log", "log", "."];

/**
 * Says what is in files of the history: those named, and those of folders named, which may be a
 * data directory or its `archive`. Nothing is changed.
 *
 * @param print takes a line
 * @returns what is damaged, or no file of a history; a sentence each
 */
export function inspectHistory(
  paths: readonly string[],
  options: InspectOptions,
  print: (line: string) => void,
): readonly StoreError[] {
  const faults: StoreError[] = [];
  for (const path of paths) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const files = isFolder ? filesIn(path) : [path];
    for (const file of files) {
      const fault = inspectFile(file, options, print);
      if (fault !== undefined) faults.push(fault);
    }
    if (!isFolder) continue;
    for (const base of basesIn(path)) {
      const fault = guarded(base.folder, () => inspectBase(base, options, print));
      if (fault !== undefined) faults.push(fault);
    }
    reportFolder(path, files, print);
  }
  return faults;
}

function filesIn(path: string): readonly string[] {
  const folder = folderOf(path);
  return folder === undefined ? [] : listArchive(folder).map(({ file }) => file);
}

function folderOf(path: string): string | undefined {
  return FOLDERS.map((below) => join(path, below)).find((folder) => listArchive(folder).length > 0);
}

function reportFolder(path: string, files: readonly string[], print: (line: string) => void): void {
  const folder = folderOf(path);
  if (folder === undefined) return print(`${path} has no files of a history`);
  const listed = listArchive(folder);
  for (const { after, end } of gapsIn(listed)) {
    print(`${folder} lacks the transactions after ${formatZxid(after)} and up to ${formatZxid(end)}`);
  }
  const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
  print(`${folder}: ${counted(files.length, "file")}, ${counted(bytes, "byte")}`);
}

function inspectFile(
  file: string,
  { hasEntries, isVerified, hasData }: InspectOptions,
  print: (line: string) => void,
): StoreError | undefined {
  return guarded(file, () => {
    using archive = new ArchiveFile(file);
    if (isVerified) archive.verify();
    print(`${file}: ${summary(archive)}${isVerified ? "; whole" : ""}`);
    if (hasEntries) printEntries(archive, hasData, print);
  });
}

function basesIn(path: string): readonly ListedBase[] {
  const archive = [join(path, "archive"), path].find((each) => listBases(basesFolderOf(each)).length > 0);
  return archive === undefined ? [] : listBases(basesFolderOf(archive));
}

function inspectBase(base: ListedBase, { isVerified }: InspectOptions, print: (line: string) => void): void {
  const manifest = readManifest(base);
  const { nodeCount, sessionCount, takenMs, parts } = manifest;
  if (isVerified) for (const _ of readBase(base, manifest));
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const content = `${counted(nodeCount, "znode")} and ${counted(sessionCount, "session")}, ${counted(bytes, "byte")}`;
  const taken = `taken ${new Date(takenMs).toISOString()}`;
  print(`${base.folder}: the state at ${formatZxid(base.zxid)}, ${content}, ${taken}${isVerified ? "; whole" : ""}`);
}

function summary({ footer, size }: ArchiveFile): string {
  const { after, end, entryCount, frameBytes, ensembleId } = footer;
  const range = `after ${formatZxid(after.zxid)} and up to ${formatZxid(end.zxid)}`;
  const bytes = `${counted(size, "byte")} for ${frameBytes}`;
  return `${counted(entryCount, "transaction")} ${range}, ${timesText(footer)}, ${bytes}, of ${ensembleText(ensembleId)}`;
}

function printEntries(archive: ArchiveFile, hasData: boolean, print: (line: string) => void): void {
  archive.walk(archive.footer.after.zxid, changePrinter(hasData, print));
}
