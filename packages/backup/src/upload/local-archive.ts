import { readFileSync } from "node:fs";
import { laterOf, ZXID_NONE, type Zxid } from "@zooid/model";
import { type LogPosition, StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  ArchiveListing,
  type BaseManifest,
  basesFolderOf,
  type ListedFile,
  listBases,
  logFolderOf,
  readBasePart,
  readManifest,
} from "@zooid/txn-log/archive";
import { FILE_BYTES_MAX } from "../contents/read-backup.ts";

/** A file of this server's archive that continues what is uploaded. */
export interface NextFile {
  readonly after: LogPosition;
  readonly end: LogPosition;
  readonly bytes: Buffer;
}

/** How the files of an archive lie to the end of a backup. */
export type Continuation =
  /** One of them has that transaction, with the same chain. */
  | { readonly kind: "continues" }
  /** They end before it: another server has archived more. */
  | { readonly kind: "behind" }
  /** They begin after it. */
  | { readonly kind: "gap" }
  /** They have another transaction there, or none, and later ones: a state was restored. */
  | { readonly kind: "other-history"; readonly from: LogPosition };

/** The archive in this server's data directory, while its own thread writes and removes files. */
export class LocalArchive {
  readonly #folder: string;
  readonly #listing: ArchiveListing;

  constructor(folder: string) {
    this.#folder = folder;
    this.#listing = new ArchiveListing(logFolderOf(folder));
  }

  /** How this archive continues a position. */
  continuationOf(end: LogPosition): Continuation {
    const files = this.#files();
    const last = files.at(-1);
    if (last === undefined || last.end < end.zxid) return { kind: "behind" };
    let first: LogPosition | undefined;
    for (const listed of files) {
      if (listed.end < end.zxid) continue;
      const file = open(listed);
      if (file === undefined) continue;
      using opened = file;
      first ??= opened.footer.after;
      if (opened.footer.after.zxid <= end.zxid && opened.chainAt(end.zxid) === end.chain) return { kind: "continues" };
    }
    if (first === undefined) return { kind: "behind" };
    return first.zxid > end.zxid ? { kind: "gap" } : { kind: "other-history", from: first };
  }

  /** Whether this history has a position, as far as the files say; all have the begin, 0. */
  has({ zxid, chain }: LogPosition): boolean {
    if (zxid === 0) return false;
    return this.#files().some((listed) => {
      if (listed.after > zxid || listed.end < zxid) return false;
      const file = open(listed);
      if (file === undefined) return false;
      using opened = file;
      return opened.chainAt(zxid) === chain;
    });
  }

  /** The last zxid that a file or a base has. */
  end(): Zxid {
    const base = this.newestBase()?.position.zxid ?? ZXID_NONE;
    return laterOf(this.#files().at(-1)?.end ?? ZXID_NONE, base);
  }

  /** Where the first file begins; undefined without files. */
  begin(): LogPosition | undefined {
    for (const listed of this.#files()) {
      const file = open(listed);
      if (file === undefined) continue;
      using opened = file;
      return opened.footer.after;
    }
    return undefined;
  }

  /**
   * The next file behind a position, whole and checked.
   *
   * @param from files that begin before it are passed over
   * @param damaged gets what is wrong with files that are passed over
   * @returns one that continues it, or the first one behind a gap; undefined: there is none yet
   */
  next(behind: LogPosition, from: Zxid, damaged: (error: StoreError) => void): NextFile | undefined {
    for (const listed of this.#files()) {
      if (listed.end <= behind.zxid || listed.after < from) continue;
      const file = open(listed, damaged);
      if (file === undefined) continue;
      using opened = file;
      const { after, end } = opened.footer;
      if (after.zxid < behind.zxid && opened.chainAt(behind.zxid) !== behind.chain) continue;
      try {
        opened.verify();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        damaged(error);
        continue;
      }
      if (opened.size > FILE_BYTES_MAX) continue;
      return { after, end, bytes: readFileSync(listed.file) };
    }
    return undefined;
  }

  /** The newest base whose manifest is whole; undefined: there is none. */
  newestBase(): BaseManifest | undefined {
    return this.#bases().at(-1);
  }

  /** The base that stands at a zxid; undefined: there is none that is whole. */
  baseAt(zxid: Zxid): BaseManifest | undefined {
    return this.#bases().find(({ position }) => position.zxid === zxid);
  }

  /** The oldest base from which the files continue: the first state that can be made. */
  firstBase(): BaseManifest | undefined {
    const begin = this.begin()?.zxid ?? 0;
    return this.#bases().find(({ position }) => position.zxid >= begin);
  }

  /** Those whose manifests are whole: others were removed meanwhile, or the server names them. */
  #bases(): readonly BaseManifest[] {
    return listBases(basesFolderOf(this.#folder)).flatMap((base) => {
      try {
        return [readManifest(base)];
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        return [];
      }
    });
  }

  /**
   * The parts of a base, each compared with the manifest.
   *
   * @throws StoreError where it is damaged, or was removed meanwhile
   */
  *partsOf(manifest: BaseManifest): Generator<Buffer, void> {
    const base = listBases(basesFolderOf(this.#folder)).find(({ zxid }) => zxid === manifest.position.zxid);
    if (base === undefined) throw new StoreError({ code: "CLOSED" });
    for (const number of manifest.parts.keys()) yield readBasePart(base, manifest, number);
  }

  #files(): readonly ListedFile[] {
    return this.#listing.files();
  }
}

/** Undefined for a file that was removed, or whose end is damaged. */
function open(listed: ListedFile, damaged?: (error: StoreError) => void): ArchiveFile | undefined {
  try {
    return new ArchiveFile(listed.file);
  } catch (error) {
    if (error instanceof StoreError) damaged?.(error);
    else if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    return undefined;
  }
}
