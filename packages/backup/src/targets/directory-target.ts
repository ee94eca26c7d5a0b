import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StoreError } from "@zooid/txn-log";
import { BackupError } from "../backup-error.ts";
import { type BackupTarget, OBJECTS_MAX, type ObjectTail, type TargetObject, tooLarge } from "./backup-target.ts";

/** The end of a name under which a file is written until it is whole. */
const UNFINISHED = /^\..*\.part$/;
const DEPTH_MAX = 4;
/** A folder that has files, or is gone. */
const NOT_REMOVED: ReadonlySet<string> = new Set(["ENOENT", "ENOTEMPTY", "EEXIST"]);

/**
 * A directory, which may be one of another machine. Its files have the mode 0600, and its folders
 * 0700. It must exist: a disk that is not mounted has no directory.
 */
export class DirectoryTarget implements BackupTarget {
  readonly name: string;
  /** Folders whose names of folders are durable. */
  readonly #synced = new Set<string>();

  constructor(path: string) {
    this.name = path;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const file = this.#place(name);
    const aside = join(dirname(file), `.${randomBytes(6).toString("hex")}.part`);
    await this.#guard(async () => {
      await this.#checkRoot();
      const made = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      try {
        await withFile(aside, "wx", async (handle) => {
          await handle.writeFile(bytes);
          await handle.sync();
        });
        await rename(aside, file);
      } catch (error) {
        await rm(aside, { force: true });
        throw error;
      }
      await withFile(dirname(file), "r", (handle) => handle.sync());
      await this.#syncAbove(dirname(file), made !== undefined);
    });
  }

  /**
   * The names of folders may be new, too, of this process or of one that ended before it synced
   * them. Each sync is a commit of the file system's journal, for which the log of a server on the
   * same disk waits: those that are durable are not synced again.
   */
  async #syncAbove(place: string, isMade: boolean): Promise<void> {
    for (let folder = dirname(place); folder.length >= this.name.length; folder = dirname(folder)) {
      if (isMade || !this.#synced.has(folder)) await withFile(folder, "r", (handle) => handle.sync());
      this.#synced.add(folder);
      if (folder === dirname(folder)) break;
    }
  }

  get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.#read(name, async (handle, { size }, file) => {
      if (size > bytesMax) throw tooLarge(file, bytesMax);
      return readFrom(handle, 0, size);
    });
  }

  tail(name: string, bytesMax: number): Promise<ObjectTail | undefined> {
    return this.#read(name, async (handle, { size }) => {
      const at = Math.max(0, size - bytesMax);
      return { bytes: await readFrom(handle, at, size - at), size };
    });
  }

  async list(prefix: string, after = ""): Promise<readonly TargetObject[]> {
    const objects: TargetObject[] = [];
    await this.#guard(async () => {
      await this.#checkRoot();
      await this.#listInto(prefix.replace(/\/$/, ""), objects, { after, depth: 0 });
    });
    return objects.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<void> {
    const file = this.#place(name);
    await this.#guard(() => rm(file, { force: true }));
    // A folder goes with its last file; others put files into it.
    if (dirname(name).includes("/")) await this.#removeEmpty(dirname(file));
  }

  #place(name: string): string {
    return join(this.name, ...name.split("/"));
  }

  async #removeEmpty(folder: string): Promise<void> {
    try {
      await rmdir(folder);
    } catch (error) {
      if (!NOT_REMOVED.has(codeOf(error))) throw error;
    }
  }

  async #listInto(
    folder: string,
    objects: TargetObject[],
    { after, depth }: { readonly after: string; readonly depth: number },
  ): Promise<void> {
    for (const entry of await entriesIn(this.#place(folder))) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory() && depth < DEPTH_MAX) {
        await this.#listInto(name, objects, { after, depth: depth + 1 });
      } else if (entry.isFile() && !UNFINISHED.test(entry.name) && name > after) {
        const stat = await lstat(this.#place(name)).catch((error: unknown) => absent(error));
        if (stat !== undefined) objects.push({ name, bytes: stat.size });
        if (objects.length > OBJECTS_MAX) throw this.#overfilled();
      }
    }
  }

  /** Reads a regular file; a link or a pipe of that name is no object. */
  async #read<T>(
    name: string,
    read: (handle: FileHandle, stat: Stats, file: string) => Promise<T>,
  ): Promise<T | undefined> {
    const file = this.#place(name);
    return await this.#guard(async () => {
      await this.#checkRoot();
      const stat = await lstat(file).catch((error: unknown) => absent(error));
      if (stat === undefined) return undefined;
      if (!stat.isFile()) throw new StoreError({ code: "DAMAGED", file, place: "its kind", found: "no regular file" });
      return await withFile(file, constants.O_RDONLY | constants.O_NOFOLLOW, async (handle) =>
        read(handle, await handle.stat(), file),
      ).catch((error: unknown) => absent(error));
    });
  }

  async #checkRoot(): Promise<void> {
    const stat = await lstat(`${this.name}/`).catch((error: unknown) => absent(error));
    if (stat?.isDirectory() === true) return;
    const reason = stat === undefined ? "no directory is there; make it, or mount its disk" : "it is no directory";
    throw new BackupError({ code: "NO_TARGET", target: this.name, reason });
  }

  async #guard<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      if (cause instanceof BackupError || cause instanceof StoreError || !(cause instanceof Error)) throw cause;
      throw new BackupError(this.#refusal(codeOf(cause), cause.message), { cause });
    }
  }

  #refusal(code: string, reason: string): ConstructorParameters<typeof BackupError>[0] {
    const target = this.name;
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return { code: "ACCESS_DENIED", target, reason };
    if (code === "ENOSPC" || code === "EDQUOT") return { code: "FULL", target, reason };
    return code === "ENOTDIR" ? { code: "NO_TARGET", target, reason } : { code: "UNREACHABLE", target, reason };
  }

  #overfilled(): BackupError {
    const found = `more than ${OBJECTS_MAX} files`;
    return new BackupError({
      code: "UNEXPECTED_ANSWER",
      target: this.name,
      call: "a listing",
      expected: "fewer",
      found,
    });
  }
}

async function entriesIn(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function withFile<T>(file: string, flags: string | number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

async function readFrom(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

function absent(error: unknown): undefined {
  if (codeOf(error) === "ENOENT" || codeOf(error) === "ELOOP") return undefined;
  throw error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
