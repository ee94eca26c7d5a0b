/**
 * The directory that gets an export. It is written beside its place, under a name that a repeat
 * finds, and gets its place when it is complete:
 *
 * ```
 *  OUT does not exist   .OUT.zooid-return/{version-2, zooid-return.json} ─▶ OUT
 *  OUT is empty         OUT/.zooid-return/{version-2, zooid-return.json} ─▶ OUT/version-2, OUT/zooid-return.json
 * ```
 *
 * An empty directory may be the root of a file system, which nothing beside it could be renamed
 * into.
 */
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseRecord, RECORD_FILE, recordText } from "./export-record.ts";
import type { DirectoryFacts, ExportRecord } from "./facts.ts";

/** Where Apache's servers keep their files, below their data directory. */
const FOLDER = "version-2";
const STAGE = ".zooid-return";
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const RECORD_BYTES_MAX = 65_536;
/** Beside the snapshot there are a few small files. */
const SPARE_BYTES = 65_536;

export class ApacheDirectory {
  readonly #path: string;
  /** Where this process writes, until it is in its place. */
  #stage: string | undefined;
  /** This process's export is in its place, or may be. */
  #isOwn = false;
  #hasMade = false;

  constructor(path: string) {
    this.#path = path;
  }

  async look(): Promise<DirectoryFacts> {
    try {
      const names = await this.#names();
      const place = names === undefined ? await existingAbove(dirname(this.#path)) : this.#path;
      if (names?.some((name) => name !== STAGE) === true) return await this.#complete(names);
      // Rights alone say nothing of a file system that takes no files.
      await rmdir(await mkdtemp(join(place, `${STAGE}-`)));
      return { kind: "free" };
    } catch (error) {
      return { kind: "unusable", text: `--apache ${this.#path} cannot be written: ${textOf(error)}` };
    }
  }

  async #complete(names: readonly string[]): Promise<DirectoryFacts> {
    const file = join(this.#path, RECORD_FILE);
    const isOurs = names.includes(RECORD_FILE) && names.includes(FOLDER);
    const text = isOurs && (await stat(file)).size <= RECORD_BYTES_MAX ? await readFile(file, "utf8") : "";
    const record = parseRecord(text);
    if (record !== undefined) return { kind: "exported", record };
    return {
      kind: "unusable",
      text: `--apache ${this.#path} is not empty, and has no export of a return: name an empty directory, or none`,
    };
  }

  /** Begins an export; what a killed process has left goes. */
  async begin(sizeBytes: number): Promise<StagedExport> {
    const isThere = (await this.#names()) !== undefined;
    const stage = isThere ? join(this.#path, STAGE) : join(dirname(this.#path), `.${basename(this.#path)}${STAGE}`);
    this.#stage = stage;
    this.#hasMade = !isThere;
    await rm(stage, { recursive: true, force: true });
    const folder = join(stage, FOLDER);
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const { bavail, bsize } = await statfs(folder);
    const freeBytes = bavail * bsize;
    if (freeBytes < sizeBytes + SPARE_BYTES)
      throw new Error(`${stage} has room for ${freeBytes} bytes, and the export has ${sizeBytes}`);
    return new StagedExport(stage, folder);
  }

  /** In one step where the directory did not exist, else the record last. */
  async keep(): Promise<void> {
    const stage = this.#stage;
    if (stage === undefined) throw new Error("nothing was exported");
    this.#isOwn = true;
    if (this.#hasMade) {
      await rename(stage, this.#path);
      await syncFolder(dirname(this.#path));
    } else {
      for (const name of [FOLDER, RECORD_FILE]) await rename(join(stage, name), join(this.#path, name));
      await rm(stage, { recursive: true, force: true });
    }
    await syncFolder(this.#path);
    this.#stage = undefined;
  }

  /** Removes what this process has written. */
  async drop(): Promise<void> {
    if (this.#stage !== undefined) await rm(this.#stage, { recursive: true, force: true });
    if (!this.#isOwn) return;
    // The record first: without it the rest is no export.
    for (const name of [RECORD_FILE, FOLDER]) await rm(join(this.#path, name), { recursive: true, force: true });
    if (this.#hasMade) await rm(this.#path, { recursive: true, force: true });
    this.#isOwn = false;
  }

  /** Undefined: it does not exist. */
  async #names(): Promise<readonly string[] | undefined> {
    try {
      return await readdir(this.#path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }
}

/** An export that is being written. */
export class StagedExport {
  readonly #stage: string;
  readonly #folder: string;

  constructor(stage: string, folder: string) {
    this.#stage = stage;
    this.#folder = folder;
  }

  /** Writes the snapshot, in pieces that are on the disk behind the last one. */
  async snapshot(zxid: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await open(join(this.#folder, `snapshot.${zxid.toString(16)}`), "wx", FILE_MODE);
    try {
      for await (const piece of pieces) await writeAll(file, piece);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async finish(record: ExportRecord): Promise<void> {
    for (const name of ["acceptedEpoch", "currentEpoch"])
      await writeFile(join(this.#folder, name), String(record.epoch));
    await writeFile(join(this.#stage, RECORD_FILE), recordText(record));
    await syncFolder(this.#folder);
    await syncFolder(this.#stage);
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await file.write(piece, at);
    at += bytesWritten;
  }
}

async function writeFile(name: string, text: string): Promise<void> {
  const file = await open(name, "wx", FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The nearest directory above that exists. */
async function existingAbove(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    return await existingAbove(dirname(path));
  }
  throw new Error(`${path} is not a directory`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
