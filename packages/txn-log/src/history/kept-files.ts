import { ArchiveFile } from "../archive/archive-file.ts";
import type { ListedFile } from "../archive/archive-folder.ts";

/** The indexes of some 10 million changes. */
const INDEX_BYTES_MAX = 64 * 1024 * 1024;
const FILE_COUNT_MAX = 10_000;

interface KeptFile {
  readonly archive: ArchiveFile;
  readonly listed: ListedFile;
}

/**
 * Files of an archive with their indexes in memory, the ones used last: each file is opened while
 * it is read, and no longer. Without room for any it reads every index again.
 */
export class KeptFiles {
  readonly #bytesMax: number;
  readonly #countMax: number;
  /** By their names, the one used last behind the others. */
  readonly #files = new Map<string, KeptFile>();
  #bytes = 0;

  constructor(limits: { readonly bytesMax?: number; readonly countMax?: number } = {}) {
    this.#bytesMax = limits.bytesMax ?? INDEX_BYTES_MAX;
    this.#countMax = limits.countMax ?? FILE_COUNT_MAX;
  }

  get count(): number {
    return this.#files.size;
  }

  /** The bytes of the indexes in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The caller disposes of it, which closes the file and leaves its index here.
   *
   * @throws StoreError `DAMAGED` or `NEWER_FORMAT`
   */
  open(listed: ListedFile): ArchiveFile {
    const { file, bytes, mtimeMs } = listed;
    const kept = this.#files.get(file);
    const isSame = kept?.listed.bytes === bytes && kept.listed.mtimeMs === mtimeMs;
    if (kept !== undefined) this.#remove(file, kept);
    const archive = kept !== undefined && isSame ? kept.archive : new ArchiveFile(file);
    this.#files.set(file, { archive, listed });
    this.#bytes += archive.indexBytes;
    for (const [name, oldest] of this.#files) {
      if (this.#bytes <= this.#bytesMax && this.#files.size <= this.#countMax) break;
      this.#remove(name, oldest);
    }
    return archive;
  }

  /** Forgets the files that are not there any more. */
  retain(listed: readonly ListedFile[]): void {
    if (this.#files.size === 0) return;
    const names = new Set(listed.map(({ file }) => file));
    for (const [name, kept] of this.#files) if (!names.has(name)) this.#remove(name, kept);
  }

  #remove(name: string, { archive }: KeptFile): void {
    this.#files.delete(name);
    this.#bytes -= archive.indexBytes;
  }
}
