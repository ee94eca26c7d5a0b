import { formatSessionId, type SessionId, sliceText } from "@zooid/model";
import type { AdminView } from "./admin-view.ts";

/** Limit of a listing of watches; the rest is cut off, and the last line says so. */
const TEXT_CHARS_MAX = 8 * 1024 * 1024;
const CUT_OFF = "... truncated\n";

/** A watch for data; undefined stands for a step that met none. */
export type ListedWatch = { readonly session: SessionId; readonly path: string } | undefined;

/** Sessions, each with the paths that it watches. Child watches are not included, as in Apache. */
export function* watchesBySession(view: AdminView): Generator<string, void, undefined> {
  yield* capped(
    grouped(view, "connections", ({ session, path }) => ({
      group: formatSessionId(session),
      line: `\t${printable(path)}\n`,
    })),
  );
}

/** Paths, each with the sessions that watch it. */
export function* watchesByPath(view: AdminView): Generator<string, void, undefined> {
  yield* capped(
    grouped(view, "paths", ({ session, path }) => ({
      group: printable(path),
      line: `\t${formatSessionId(session)}\n`,
    })),
  );
}

/** Between two of them the watches may change. */
export function* dataWatches(
  { driver }: AdminView,
  order: "paths" | "connections",
): Generator<ListedWatch, void, undefined> {
  const { replica } = driver;
  for (const watch of replica.watches.list(order)) {
    const isForData = watch !== undefined && watch.dataModes !== 0;
    const session = isForData ? replica.connection(watch.connection)?.session : undefined;
    yield isForData && session !== undefined ? { session: session.id, path: sliceText(watch.path) } : undefined;
  }
}

function* grouped(
  view: AdminView,
  order: "paths" | "connections",
  shown: (watch: NonNullable<ListedWatch>) => { readonly group: string; readonly line: string },
): Generator<string, void, undefined> {
  let last: string | undefined;
  for (const watch of dataWatches(view, order)) {
    if (watch === undefined) {
      yield "";
      continue;
    }
    const { group, line } = shown(watch);
    yield group === last ? line : `${group}\n${line}`;
    last = group;
  }
}

/** @internal As much of a listing as is shown. */
export function* capped(pieces: Iterable<string>): Generator<string, void, undefined> {
  let length = 0;
  for (const piece of pieces) {
    yield piece;
    length += piece.length;
    if (length > TEXT_CHARS_MAX) {
      yield CUT_OFF;
      return;
    }
  }
}

/**
 * A watched path need not be a valid path: line ends and terminal control characters are escaped.
 */
function printable(path: string): string {
  return path.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
