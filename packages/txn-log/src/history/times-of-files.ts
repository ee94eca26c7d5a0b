import type { ListedFile } from "../archive/archive-folder.ts";
import { StoreError } from "../store/store-error.ts";
import { type FileTimes, type TimedFile, timesOf } from "./time-places.ts";

interface KnownTimes extends FileTimes {
  readonly listed: ListedFile;
}

/** The times of an archive's files, each footer read once: some 30 µs each, and 100 bytes. */
export class TimesOfFiles {
  readonly #known = new Map<string, KnownTimes>();

  of(files: readonly ListedFile[]): readonly TimedFile[] {
    return files.map((listed) => ({ ...listed, times: this.#timesOf(listed) }));
  }

  /** Forgets the files that are not there any more. */
  retain(listed: readonly ListedFile[]): void {
    if (this.#known.size === 0) return;
    const names = new Set(listed.map(({ file }) => file));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }

  #timesOf(listed: ListedFile): FileTimes | StoreError {
    const known = this.#known.get(listed.file);
    if (known?.listed.bytes === listed.bytes && known.listed.mtimeMs === listed.mtimeMs) return known;
    const times = timesOf(listed);
    if (!(times instanceof StoreError)) this.#known.set(listed.file, { listed, ...times });
    return times;
  }
}
