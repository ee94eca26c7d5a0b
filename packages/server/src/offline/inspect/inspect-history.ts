import { statSync } from "node:fs";
import { join } from "node:path";
import {
  type Acl,
  counted,
  errorName,
  formatSessionId,
  formatZxid,
  newTxnHeader,
  newTxnOp,
  OpCode,
  opName,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  type ArchiveFooter,
  basesFolderOf,
  gapsIn,
  type ListedBase,
  listArchive,
  listBases,
  readBase,
  readManifest,
} from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";

/** What of files of the history is wanted. */
export interface InspectOptions {
  /** A line for each change. */
  readonly hasEntries: boolean;
  /** Whether everything is read against its sums. */
  readonly isVerified: boolean;
  /** Values and access lists are shown too: they may be secrets. */
  readonly hasData: boolean;
}

/** Where a folder's files are, below a data directory or an archive. */
const FOLDERS: readonly string[] = ["archive/log", "log", "."];
const DATA_CHARS_MAX = 200;
const WITH_ACL: ReadonlySet<number> = new Set([
  OpCode.CREATE,
  OpCode.CREATE2,
  OpCode.CREATE_CONTAINER,
  OpCode.CREATE_TTL,
  OpCode.SET_ACL,
]);

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

/** @returns what is wrong with a file, if the act finds it out */
function guarded(file: string, act: () => void): StoreError | undefined {
  try {
    act();
    return undefined;
  } catch (cause) {
    if (cause instanceof StoreError) return cause;
    if (cause instanceof Error && "code" in cause) {
      return new StoreError({ code: "UNREADABLE", file, reason: cause.message }, { cause });
    }
    throw cause;
  }
}

function summary({ footer, size }: ArchiveFile): string {
  const { after, end, entryCount, frameBytes, ensembleId } = footer;
  const range = `after ${formatZxid(after.zxid)} and up to ${formatZxid(end.zxid)}`;
  const bytes = `${counted(size, "byte")} for ${frameBytes}`;
  const owner = ensembleId === "" ? "a server without an ensemble" : `ensemble ${ensembleId}`;
  return `${counted(entryCount, "transaction")} ${range}, ${times(footer)}, ${bytes}, of ${owner}`;
}

function times({ firstMs, lastMs }: ArchiveFooter): string {
  return `${new Date(firstMs).toISOString()} to ${new Date(lastMs).toISOString()}`;
}

function printEntries(archive: ArchiveFile, hasData: boolean, print: (line: string) => void): void {
  const [decoder, header, op] = [new TxnReader(), newTxnHeader(), newTxnOp()];
  archive.walk(archive.footer.after.zxid, (zxid, bytes, start, end) => {
    decoder.open(bytes, start, end, header);
    while (decoder.next(op)) print(`${zxidAndTime(zxid, header)} ${changeText(op, hasData)}`);
  });
}

function zxidAndTime(zxid: Zxid, { sessionHigh, sessionLow, timeMs }: Readonly<TxnHeader>): string {
  const session = sessionIdFromHalves(sessionHigh, sessionLow);
  return `${formatZxid(zxid)} ${new Date(timeMs).toISOString()} ${formatSessionId(session)}`;
}

function changeText(op: Readonly<TxnOp>, hasData: boolean): string {
  const name = opName(op.op) ?? `OP_${op.op}`;
  const path = sliceText(op.path);
  const size = op.hasData ? ` ${counted(op.data.end - op.data.start, "byte")}` : "";
  const code = op.code === 0 ? "" : ` ${errorName(op.code) ?? op.code}`;
  // JSON writes what would move a terminal's cursor as an escape.
  const where = path === "" ? "" : ` ${JSON.stringify(path)}`;
  return `${name}${where}${size}${code}${hasData ? secrets(op) : ""}`;
}

function secrets({ op, hasData, data, acl }: Readonly<TxnOp>): string {
  const value = hasData ? ` ${JSON.stringify(sliceText(data).slice(0, DATA_CHARS_MAX))}` : "";
  return WITH_ACL.has(op) ? `${value} ${aclText(acl)}` : value;
}

function aclText(acl: Acl): string {
  return acl.map(({ scheme, id, perms }) => `${scheme}:${JSON.stringify(id)}:${perms}`).join(",");
}
