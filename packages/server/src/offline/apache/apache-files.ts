import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OfflineError } from "../offline-error.ts";

/** Where the data of one Apache server lies. */
export interface ApacheDirectories {
  /** Its `dataDir`, or the folder `version-2` in it. */
  readonly dataDir: string;
  /** Its `dataLogDir`, if it has one. */
  readonly logDir?: string | undefined;
}

/** A file whose name ends with a zxid. */
export interface ApacheFile {
  readonly path: string;
  readonly zxid: bigint;
}

export interface ApacheFiles {
  /** Newest first. */
  readonly snapshots: readonly ApacheFile[];
  /** Oldest first. */
  readonly logs: readonly ApacheFile[];
}

const SNAPSHOT = /^snapshot\.([0-9a-f]{1,16})(?:\.gz|\.snappy)?$/;
const OWN_FILE = /^(?:log-\d{8}-[0-9a-f]{16}|state-\d+)\.db$/;
const LOG = /^log\.([0-9a-f]{1,16})$/;

/** @throws OfflineError if there are none */
export function apacheFiles({ dataDir, logDir = dataDir }: ApacheDirectories): ApacheFiles {
  const snapshots = filesIn(folderOf(dataDir), SNAPSHOT).reverse();
  const logs = filesIn(folderOf(logDir), LOG);
  if (snapshots.length > 0 || logs.length > 0) return { snapshots, logs };
  const places = [...new Set([dataDir, logDir])].join(" or ");
  throw new OfflineError([
    `${places} is no data directory of Apache ZooKeeper: there is no snapshot.ZXID and no log.ZXID, nor in version-2`,
  ]);
}

/** The paths of the files in a directory, as {@link apacheFiles} finds them; none in others. */
export function apacheFilesIn(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const folder = folderOf(path);
  return [...filesIn(folder, SNAPSHOT), ...filesIn(folder, LOG)].map((file) => file.path);
}

/** Where the files of a data directory lie. */
export function folderOf(directory: string): string {
  if (!existsSync(directory)) throw new OfflineError([`${directory} does not exist`]);
  const below = join(directory, "version-2");
  return existsSync(below) ? below : directory;
}

/** Oldest first. */
function filesIn(folder: string, name: RegExp): ApacheFile[] {
  const files: ApacheFile[] = [];
  const names = readdirSync(folder);
  // One of ours has a file log.db, which is no log of Apache's that begins at zxid 0xdb.
  if (names.some((each) => OWN_FILE.test(each))) return files;
  for (const each of names) {
    const zxid = name.exec(each)?.[1];
    if (zxid !== undefined) files.push({ path: join(folder, each), zxid: BigInt(`0x${zxid}`) });
  }
  return files.sort((a, b) => (a.zxid < b.zxid ? -1 : 1));
}
