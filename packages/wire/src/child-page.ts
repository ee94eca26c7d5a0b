/**
 * The request and the answer of Zooid's own operation that lists children in pages, as a client
 * writes and reads them:
 *
 * ```
 *  request   path │ after, or null │ the most children i32 │ detail i32
 *  answer    count i32 │ child … │ whether it is the last page bool │ Stat of the parent
 *  child     name │ whether it may be read bool │ data │ Stat
 * ```
 *
 * For names alone a child is its name; without data the buffer is missing; and one that may not be
 * read ends behind its boolean.
 */
import { ChildDetail, type Stat, WireError } from "@zooid/model";
import type { JuteReader } from "./jute-reader.ts";
import type { JuteWriter } from "./jute-writer.ts";
import { readData, readStat } from "./reply-reader.ts";

export interface ChildPageRequest {
  /** The last name of the page before; undefined for the first page. */
  readonly after: string | undefined;
  readonly countMax: number;
  readonly detail: ChildDetail;
}

export interface ListedChild {
  readonly name: string;
  /** Null where it was not requested, or the client may not read the child. */
  readonly stat: Stat | null;
  /**
   * Null where it was not requested, where the client may not read the child, and for null data.
   */
  readonly data: Uint8Array | null;
}

export interface ListedChildren {
  readonly children: ListedChild[];
  readonly isLast: boolean;
  /** The Stat of the parent itself. */
  readonly stat: Stat;
}

/** Most children of a page that a client asks for, and that a server may answer with. */
export const CHILD_PAGE_COUNT_MAX = 1_000;

/** An entry is at least a name's length and a letter. */
const ENTRY_BYTES_MIN = 5;

export function writeChildPageRequest(
  writer: JuteWriter,
  path: string,
  { after, countMax, detail }: ChildPageRequest,
): void {
  writer.text(path);
  if (after === undefined) writer.null();
  else writer.text(after);
  writer.int(countMax);
  writer.int(detail);
}

/**
 * More children than a client asks for are refused: without details, one takes twelve times as many
 * bytes in memory as in the answer.
 *
 * @throws WireError for anything else than a page of that detail
 */
export function readChildPage(reader: JuteReader, detail: ChildDetail): ListedChildren {
  const count = reader.count(ENTRY_BYTES_MIN);
  if (count < 0) throw new WireError("VALUE", "a page of children is null");
  if (count > CHILD_PAGE_COUNT_MAX)
    throw new WireError("VALUE", `a page has ${count} children, at most ${CHILD_PAGE_COUNT_MAX}`);
  const children: ListedChild[] = [];
  for (let i = 0; i < count; i++) children.push(readChild(reader, detail));
  const isLast = reader.bool();
  return { children, isLast, stat: readStat(reader) };
}

function readChild(reader: JuteReader, detail: ChildDetail): ListedChild {
  const name = reader.text();
  if (name === null || name === "") throw new WireError("VALUE", "a child's name is empty");
  if (detail === ChildDetail.NAME || !reader.bool()) return { name, stat: null, data: null };
  const data = detail === ChildDetail.DATA ? readData(reader) : null;
  return { name, data, stat: readStat(reader) };
}
