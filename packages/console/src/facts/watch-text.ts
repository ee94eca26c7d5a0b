import { linesOf, type Steps } from "./in-slices.ts";

const SESSION = /^(0x[0-9a-f]+)\s*$/;
const PATH = /^\t(.+)$/;
const CUT_OFF = "... truncated";

/** What a session watches. */
export interface WatchedPaths {
  readonly paths: readonly string[];
  /** The server, or the limit here, left paths out. */
  readonly isCut: boolean;
}

/** The paths that one session watches for data, from the four-letter word `wchc`. */
export function* watchesOf(text: string, session: string, countMax: number): Steps<WatchedPaths> {
  const paths: string[] = [];
  let isOwn = false;
  let isCut = false;
  for (const line of linesOf(text)) {
    yield;
    const id = SESSION.exec(line)?.[1];
    if (id !== undefined) isOwn = id === session;
    else if (line === CUT_OFF) isCut = true;
    else if (isOwn) {
      const path = PATH.exec(line)?.[1];
      if (path !== undefined && paths.length < countMax) paths.push(path);
      else if (path !== undefined) isCut = true;
    }
  }
  return { paths, isCut };
}
