/**
 * The answers of Zooid's own operations on the history of a server. Each is one buffer of the
 * protocol:
 *
 * ```
 *  node     data · access list · czxid i64 · mzxid i64 · ctime i64 · mtime i64 · version i32 · aversion i32 · owner i64
 *  refusal  first i64 · last i64, 0 where they are not known, and for a time: kind i32 · time i64 · two more i64
 *  children count i32 · (name ustring) …
 *  changes  count i32 · (path ustring · zxid i64 · time i64 · operation i32 · version i32 · whether it is shown bool · data · who ustring) …
 *           begins i64 · count i32 · (zxids of a gap, behind and up to, i64 i64) … · reached i64 · whether it is the last page bool
 * ```
 */
import {
  type Acl,
  ChangesScope,
  MomentUnit,
  type PastChange,
  type PastChanges,
  type PastChildren,
  type PastMoment,
  type PastNode,
  PastPart,
  type PastRefusal,
  type TimeFault,
  WireError,
  type Zxid,
  type ZxidRange,
} from "@zooid/model";
import { writeAcl } from "./acl-codec.ts";
import { JuteReader } from "./jute-reader.ts";
import { JuteWriter } from "./jute-writer.ts";
import { readAclEntries, readData, readNames } from "./reply-reader.ts";

/** A change as a client may see it. */
export interface ShownChange extends Omit<PastChange, "acl" | "path"> {
  readonly path: string;
  /**
   * Whether the client might have read the node then: else its data are left out. False for a
   * change without data where that was not looked up.
   */
  readonly isReadable: boolean;
}

/** A page as a client may see it. */
export interface ShownChanges extends Omit<PastChanges, "changes"> {
  readonly changes: readonly ShownChange[];
}

/** A page before it is encoded. */
export interface PageToShow extends Omit<PastChanges, "changes"> {
  readonly changes: readonly (Omit<PastChange, "acl"> & Pick<ShownChange, "isReadable">)[];
}

const CHANGE_BYTES_MIN = 37;
const GAP_BYTES = 16;
const REACH_BYTES = 16;
const FAULT_BYTES = 28;
const TIME_FAULTS = ["twice", "gap", "before", "behind"] as const satisfies readonly TimeFault["kind"][];

export function encodePastNode(node: PastNode): Uint8Array {
  const writer = new JuteWriter();
  writeBytes(writer, node.data);
  writeAcl(writer, node.acl);
  for (const value of [node.czxid, node.mzxid, node.ctimeMs, node.mtimeMs]) writer.zxid(value);
  writer.int(node.version);
  writer.int(node.aversion);
  writer.long(node.ownerHigh, node.ownerLow);
  return writer.bytes.subarray(0, writer.end);
}

/** @throws WireError */
export function decodePastNode(bytes: Uint8Array): PastNode {
  const reader = readerOf(bytes);
  const data = readData(reader);
  const acl: Acl = readAclEntries(reader);
  const [czxid, mzxid, ctimeMs, mtimeMs] = [reader.zxid(), reader.zxid(), reader.zxid(), reader.zxid()];
  const [version, aversion, ownerHigh, ownerLow] = [reader.int(), reader.int(), reader.int(), reader.int()];
  return { data, acl, czxid, mzxid, ctimeMs, mtimeMs, version, aversion, ownerHigh, ownerLow };
}

export function encodePastChildren({ names }: PastChildren): Uint8Array {
  const writer = new JuteWriter();
  writer.int(names.length);
  for (const name of names) writer.text(name);
  return writer.bytes.subarray(0, writer.end);
}

/** @throws WireError */
export function decodePastChildren(bytes: Uint8Array): PastChildren {
  return { names: readNames(readerOf(bytes)) };
}

/**
 * Pages are written one after another: a buffer for each would be garbage outside of the heap, for
 * which V8 collects all of it again and again.
 */
const PAGES = new JuteWriter();

/** @returns what is lent until the next call */
export function encodePastChanges({ begins, changes, gaps, reached, isLast }: PageToShow): Uint8Array {
  const writer = PAGES;
  writer.clear();
  writer.int(changes.length);
  for (const { path, zxid, timeMs, op, version, isReadable, data, who } of changes) {
    writeBytes(writer, path);
    writer.zxid(zxid);
    writer.zxid(timeMs);
    writer.int(op);
    writer.int(version);
    writer.bool(isReadable);
    writeBytes(writer, data);
    writer.text(who);
  }
  writer.zxid(begins);
  writer.int(gaps.length);
  for (const { after, end } of gaps) {
    writer.zxid(after);
    writer.zxid(end);
  }
  writer.zxid(reached);
  writer.bool(isLast);
  return writer.bytes.subarray(0, writer.end);
}

/** @throws WireError */
export function decodePastChanges(bytes: Uint8Array): ShownChanges {
  const reader = readerOf(bytes);
  const count = reader.count(CHANGE_BYTES_MIN);
  if (count < 0) throw new WireError("VALUE", "a page of changes is null");
  const changes: ShownChange[] = [];
  for (let i = 0; i < count; i++) {
    const path = reader.text() ?? "";
    const [zxid, timeMs, op, version] = [reader.zxid(), reader.zxid(), reader.int(), reader.int()];
    changes.push({
      path,
      zxid,
      timeMs,
      op,
      version,
      isReadable: reader.bool(),
      data: readData(reader),
      who: reader.text() ?? "",
    });
  }
  const begins = reader.zxid();
  const gaps: ZxidRange[] = [];
  for (let left = reader.count(GAP_BYTES); left > 0; left--) gaps.push({ after: reader.zxid(), end: reader.zxid() });
  return { begins, changes, gaps, reached: reader.zxid(), isLast: reader.bool() };
}

export function encodePastRefusal({ reach, fault }: PastRefusal): Uint8Array {
  const writer = new JuteWriter();
  writer.zxid(reach?.first ?? 0);
  writer.zxid(reach?.last ?? 0);
  if (fault !== undefined) {
    writer.int(TIME_FAULTS.indexOf(fault.kind));
    writer.zxid(fault.askedMs);
    for (const value of valuesOf(fault)) writer.zxid(value);
  }
  return writer.bytes.subarray(0, writer.end);
}

/** The range of the history in a refusal; undefined where it has none. */
export function readPastRefusal(reader: JuteReader): PastRefusal | undefined {
  if (reader.rest < 4 + REACH_BYTES) return undefined;
  const length = reader.int();
  if ((length !== REACH_BYTES && length !== REACH_BYTES + FAULT_BYTES) || reader.rest < length) return undefined;
  const [first, last] = [reader.zxid(), reader.zxid()];
  const reach = last === 0 ? undefined : { first, last };
  return { reach, fault: length === REACH_BYTES ? undefined : readFault(reader) };
}

/** Undefined for a kind of a later version. */
function readFault(reader: JuteReader): TimeFault | undefined {
  const kind = TIME_FAULTS[reader.int()];
  const [askedMs, one, other] = [reader.zxid(), reader.zxid(), reader.zxid()];
  switch (kind) {
    case "twice":
      return { kind, askedMs, first: one, last: other };
    case "gap":
      return { kind, askedMs, after: one, end: other };
    case "before":
    case "behind":
      return { kind, askedMs, zxid: one, timeMs: other };
    default:
      return undefined;
  }
}

function valuesOf(fault: TimeFault): readonly [number, number] {
  switch (fault.kind) {
    case "twice":
      return [fault.first, fault.last];
    case "gap":
      return [fault.after, fault.end];
    case "before":
    case "behind":
      return [fault.zxid, fault.timeMs];
  }
}

/** The body of a request for a node of the past, or for its children. */
export function writePastRequest(writer: JuteWriter, path: string, at: PastMoment, part: number = PastPart.NODE): void {
  writer.text(path);
  writer.zxid("zxid" in at ? at.zxid : at.timeMs);
  writer.int("zxid" in at ? MomentUnit.ZXID : MomentUnit.TIME_MS);
  writer.int(part);
}

export interface ChangesRequest {
  readonly after: Zxid;
  readonly countMax: number;
  /** A {@link ChangesScope}. Default: the node alone. */
  readonly scope?: number;
}

/** The body of a request for a page of changes. */
export function writeChangesRequest(
  writer: JuteWriter,
  path: string,
  { after, countMax, scope = ChangesScope.NODE }: ChangesRequest,
): void {
  writer.text(path);
  writer.zxid(after);
  writer.int(countMax);
  writer.int(scope);
}

function readerOf(bytes: Uint8Array): JuteReader {
  const reader = new JuteReader();
  reader.reset(bytes, 0, bytes.length);
  return reader;
}

function writeBytes(writer: JuteWriter, bytes: Uint8Array | null): void {
  if (bytes === null) writer.null();
  else writer.range(bytes, 0, bytes.length);
}
