const PATH = /^(\/.*)$/;
const SESSION = /^\t0x[0-9a-f]+\s*$/;
const CUT_OFF = "... truncated";

/** Sessions that watch each node for data, from the members' answers to the four-letter word `wchp`. */
export interface WatchCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** The nodes that most sessions watch. */
  readonly top: readonly { readonly path: string; readonly sessions: number }[];
  /** A member left out some, or does not answer. */
  readonly isIncomplete: boolean;
}

export function watchCountsOf(texts: readonly string[], countMax: number): WatchCounts {
  const counts = new Map<string, number>();
  let isIncomplete = texts.includes("");
  for (const text of texts) {
    let path: string | undefined;
    for (const line of text.split("\n")) {
      if (line === CUT_OFF) isIncomplete = true;
      else if (PATH.test(line)) path = line;
      else if (path !== undefined && SESSION.test(line)) counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  const top = [...counts]
    .map(([path, sessions]) => ({ path, sessions }))
    .sort((a, b) => b.sessions - a.sessions || (a.path < b.path ? -1 : 1))
    .slice(0, countMax);
  return { counts, top, isIncomplete };
}
