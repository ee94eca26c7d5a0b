import { StoreError } from "@zooid/txn-log";

/** An object of a target: a name with slashes, and its size. */
export interface TargetObject {
  readonly name: string;
  readonly bytes: number;
}

/** The end of an object. */
export interface ObjectTail {
  readonly bytes: Buffer;
  /** Bytes of the whole object. */
  readonly size: number;
}

/**
 * A place for backups. Whatever comes from it may be anybody's work: callers give each read a bound
 * and check names and contents.
 *
 * @throws BackupError where the place refuses; StoreError `DAMAGED` for an object beyond the bound
 */
export interface BackupTarget {
  /** As operators wrote it: `s3://bucket/prefix`, or the path of a directory. Has no secret. */
  readonly name: string;
  /** Writes an object, readable by its owner only. It is there whole, or not there. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @returns undefined where there is no such object */
  get(name: string, bytesMax: number): Promise<Buffer | undefined>;
  /** The last bytes of an object, or all of a smaller one. */
  tail(name: string, bytesMax: number): Promise<ObjectTail | undefined>;
  /**
   * All objects whose names begin with a prefix that ends in a slash, by name.
   *
   * @param after only those whose names sort behind this one
   */
  list(prefix: string, after?: string): Promise<readonly TargetObject[]>;
  /** An object that is not there is removed. */
  remove(name: string): Promise<void>;
}

/** More objects than this are refused: their names alone would fill the memory. */
export const OBJECTS_MAX = 1_000_000;

/** The place of an object, for errors. */
export function objectPlace({ name: target }: Pick<BackupTarget, "name">, name: string): string {
  return `${target.replace(/\/$/, "")}/${name}`;
}

/** An object beyond its bound is not the one that was written. */
export function tooLarge(file: string, bytesMax: number): StoreError {
  return new StoreError({ code: "DAMAGED", file, place: "its end", found: `more than ${bytesMax} bytes` });
}
