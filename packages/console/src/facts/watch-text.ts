import { linesOf, type Steps } from "./in-slices.ts";

const SESSION = /^(0x[0-9a-f]+)\s*$/;
const PATH = /^\t(.+)$/;
const CUT_OFF = "... truncated";

/** The watches of a session. */
export interface WatchedPaths {
  /** One page of them. */
  readonly paths: readonly string[];
  readonly total: number;
  /** The server left paths out. */
  readonly isCut: boolean;
}

export interface PathsPage {
  /** The paths before the page. */
  readonly from: number;
  readonly countMax: number;
}

/**
 * The paths that one session watches for data, from the members' answers to the four-letter word
 * `wchc`.
 */
export function* watchesOf(
  texts: readonly string[],
  session: string,
  { from, countMax }: PathsPage,
): Steps<WatchedPaths> {
  const paths: string[] = [];
  let total = 0;
  let isCut = false;
  for (const text of texts) {
    let isOwn = false;
    for (const line of linesOf(text)) {
      yield;
      const id = SESSION.exec(line)?.[1];
      if (id !== undefined) isOwn = id === session;
      else if (line === CUT_OFF) isCut = true;
      else if (isOwn) {
        const path = PATH.exec(line)?.[1];
        if (path === undefined) continue;
        if (total >= from && paths.length < countMax) paths.push(path);
        total++;
      }
    }
  }
  return { paths, total, isCut };
}
