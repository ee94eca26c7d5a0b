import { formatSessionId, type SessionId, sliceText } from "@zooid/model";
import type { AdminView } from "./admin-view.ts";

/** Limit of a listing of watches; the rest is cut off, and the last line says so. */
const TEXT_BYTES_MAX = 8 * 1024 * 1024;
const CUT_OFF = "... truncated\n";

/** Sessions, each with the paths that it watches. Child watches are not included, as in Apache. */
export function watchesBySession(view: AdminView): string {
  const text = new CappedText();
  let last: SessionId | undefined;
  forEachBySession(view, (session, path) => {
    if (session !== last) text.add(`${formatSessionId(session)}\n`);
    last = session;
    text.add(`\t${printable(path)}\n`);
    return !text.isFull;
  });
  return text.toString();
}

/** Paths, each with the sessions that watch it. */
export function watchesByPath(view: AdminView): string {
  const text = new CappedText();
  let last: string | undefined;
  forEachByPath(view, (path, session) => {
    if (path !== last) text.add(`${printable(path)}\n`);
    last = path;
    text.add(`\t${formatSessionId(session)}\n`);
    return !text.isFull;
  });
  return text.toString();
}

/** @param visit returns whether it wants more */
export function forEachBySession({ driver }: AdminView, visit: (session: SessionId, path: string) => boolean): void {
  const { replica } = driver;
  replica.watches.forEachByConnection(({ connection, path, dataModes }) => {
    const session = dataModes === 0 ? undefined : replica.connection(connection)?.session;
    return session === undefined || visit(session.id, sliceText(path));
  });
}

/** @param visit returns whether it wants more */
export function forEachByPath({ driver }: AdminView, visit: (path: string, session: SessionId) => boolean): void {
  const { replica } = driver;
  replica.watches.forEachByPath(({ connection, path, dataModes }) => {
    const session = dataModes === 0 ? undefined : replica.connection(connection)?.session;
    return session === undefined || visit(sliceText(path), session.id);
  });
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

class CappedText {
  readonly #parts: string[] = [];
  #length = 0;

  get isFull(): boolean {
    return this.#length > TEXT_BYTES_MAX;
  }

  add(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  toString(): string {
    return this.#parts.join("") + (this.isFull ? CUT_OFF : "");
  }
}
