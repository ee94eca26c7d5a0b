import type { HistoryAnswer, HistoryQuery } from "@zooid/model/storage";

type ChangesQuery = Extract<HistoryQuery, { readonly kind: "changes" }>;

const BYTES_MAX = 16 * 1024 * 1024;
const COUNT_MAX = 1000;
/** The bytes of a change beside its path and its data, about. */
const CHANGE_BYTES = 256;

/**
 * Pages that were read from the files as they are, the ones asked for last. All streams of a
 * subtree ask for the same page when a file has come, and again until the next one comes.
 */
export class RecentPages {
  readonly #bytesMax: number;
  /** The files that the pages were read from: the same object as long as they do not change. */
  #files: object | undefined;
  readonly #pages = new Map<string, { readonly answer: HistoryAnswer; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  answer(files: object, query: ChangesQuery, read: () => HistoryAnswer): HistoryAnswer {
    if (files !== this.#files) this.#clear(files);
    const key = keyOf(query);
    const kept = this.#pages.get(key);
    if (kept !== undefined) {
      this.#remove(key);
      this.#add(key, kept);
      return kept.answer;
    }
    const answer = read();
    const bytes = bytesOf(answer);
    if (bytes > this.#bytesMax) return answer;
    this.#add(key, { answer, bytes });
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#bytesMax && this.#pages.size <= COUNT_MAX) break;
      this.#remove(oldest);
    }
    return answer;
  }

  #add(key: string, page: { readonly answer: HistoryAnswer; readonly bytes: number }): void {
    this.#pages.set(key, page);
    this.#bytes += page.bytes;
  }

  #remove(key: string): void {
    this.#bytes -= this.#pages.get(key)?.bytes ?? 0;
    this.#pages.delete(key);
  }

  #clear(files: object): void {
    this.#files = files;
    this.#pages.clear();
    this.#bytes = 0;
  }
}

function keyOf({ path, scope, after, countMax }: ChangesQuery): string {
  return `${scope} ${after} ${countMax} ${Buffer.from(path).toString("latin1")}`;
}

function bytesOf(answer: HistoryAnswer): number {
  if (answer.kind !== "changes") return CHANGE_BYTES;
  return answer.changes.reduce(
    (sum, { path, data, who }) => sum + CHANGE_BYTES + path.length + (data?.length ?? 0) + who.length,
    CHANGE_BYTES,
  );
}
