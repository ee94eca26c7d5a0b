import { linesOf, type Steps } from "./in-slices.ts";

const SESSION = /^(0x[0-9a-f]+):\s*$/;
const PATH = /^\t(\/.*)$/;

/** The sessions with ephemeral nodes, and their paths, from the four-letter word `dump`. */
export function* parseDump(text: string): Steps<ReadonlyMap<string, readonly string[]>> {
  const owners = new Map<string, string[]>();
  let paths: string[] | undefined;
  for (const line of linesOf(text)) {
    yield;
    const session = SESSION.exec(line)?.[1];
    const path = PATH.exec(line)?.[1];
    if (session !== undefined) {
      paths = [];
      owners.set(session, paths);
    } else if (path !== undefined && paths !== undefined) paths.push(path);
    else paths = undefined;
  }
  return owners;
}
