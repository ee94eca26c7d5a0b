import { linesOf, type Steps } from "./in-slices.ts";

const PATH = /^(\/.*)$/;
const SESSION = /^\t(0x[0-9a-f]+)\s*$/;
const CUT_OFF = "... truncated";

/**
 * Sessions that watch each node for data, from the members' answers to the four-letter word `wchp`.
 */
export interface WatchCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** The number of nodes that each session watches, by its id. */
  readonly bySession: ReadonlyMap<string, number>;
  /** The nodes that most sessions watch. */
  readonly top: readonly { readonly path: string; readonly sessions: number }[];
  /** A member left out some, or does not answer. */
  readonly isIncomplete: boolean;
}

export function* watchCountsOf(texts: readonly string[], countMax: number): Steps<WatchCounts> {
  const counts = new Map<string, number>();
  const bySession = new Map<string, number>();
  let isIncomplete = texts.includes("");
  for (const text of texts) {
    let path: string | undefined;
    for (const line of linesOf(text)) {
      yield;
      if (line === CUT_OFF) isIncomplete = true;
      else if (PATH.test(line)) path = line;
      else if (path !== undefined) {
        const session = SESSION.exec(line)?.[1];
        if (session === undefined) continue;
        counts.set(path, (counts.get(path) ?? 0) + 1);
        bySession.set(session, (bySession.get(session) ?? 0) + 1);
      }
    }
  }
  const top: Watched[] = [];
  for (const [path, sessions] of counts) {
    yield;
    insert(top, { path, sessions }, countMax);
  }
  return { counts, bySession, top, isIncomplete };
}

interface Watched {
  readonly path: string;
  readonly sessions: number;
}

/** Keeps the list sorted, with at most `countMax` entries. */
function insert(top: Watched[], watched: Watched, countMax: number): void {
  const last = top.at(-1);
  if (top.length >= countMax && last !== undefined && isBefore(last, watched)) return;
  const place = top.findIndex((other) => isBefore(watched, other));
  top.splice(place === -1 ? top.length : place, 0, watched);
  if (top.length > countMax) top.pop();
}

function isBefore(a: Watched, b: Watched): boolean {
  return a.sessions === b.sessions ? a.path < b.path : a.sessions > b.sessions;
}
