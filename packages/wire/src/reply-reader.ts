/**
 * Answers and events as a client reads them. Each function stands behind what it reads when it
 * returns, and throws a WireError where the bytes end too early. The server's side of the same
 * records is `reply-codec.ts`.
 */
import {
  type AclEntry,
  copyBytes,
  formatSessionId,
  OpCode,
  type SessionId,
  type Stat,
  type WatchEventType,
  WireError,
  type Zxid,
  zxidFromHalves,
} from "@zooid/model";
import { intAt, type JuteReader } from "./jute-reader.ts";

const NAME_BYTES_MIN = 5;
/** Permissions and two lengths. */
const ACL_ENTRY_BYTES_MIN = 13;
const CLIENT_INFO_BYTES_MIN = 9;
const STAT_BYTES = 68;
const NO_OWNER = 0n;

/**
 * A Stat that can be written as JSON, which has no bigint: the owner is in hexadecimal, as `0x1`.
 */
class ReadStat implements Stat {
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: Zxid;

  /** @param at where the 68 bytes begin */
  constructor(bytes: Buffer, at: number) {
    const ownerHigh = intAt(bytes, at + 44);
    const ownerLow = intAt(bytes, at + 48);
    this.czxid = longAt(bytes, at);
    this.mzxid = longAt(bytes, at + 8);
    this.ctimeMs = longAt(bytes, at + 16);
    this.mtimeMs = longAt(bytes, at + 24);
    this.version = intAt(bytes, at + 32);
    this.cversion = intAt(bytes, at + 36);
    this.aversion = intAt(bytes, at + 40);
    this.ephemeralOwner =
      ownerHigh === 0 && ownerLow === 0 ? NO_OWNER : (BigInt(ownerHigh) << 32n) | BigInt(ownerLow >>> 0);
    this.dataLength = intAt(bytes, at + 52);
    this.numChildren = intAt(bytes, at + 56);
    this.pzxid = longAt(bytes, at + 60);
  }

  toJSON(): object {
    return { ...this, ephemeralOwner: formatSessionId(this.ephemeralOwner as SessionId) };
  }
}

export function readStat(reader: JuteReader): Stat {
  const { bytes, at } = reader;
  if (at + STAT_BYTES > reader.end) throw new WireError("TRUNCATED", "a Stat reaches past the end of its frame");
  reader.at = at + STAT_BYTES;
  return new ReadStat(bytes, at);
}

/** A copy of a buffer's bytes, or null. */
export function readData(reader: JuteReader): Uint8Array | null {
  const length = reader.int();
  if (length === -1) return null;
  const { at } = reader;
  if (length < 0 || at + length > reader.end) {
    throw new WireError(length < 0 ? "LENGTH" : "TRUNCATED", `${length} bytes are claimed, ${reader.rest} are left`);
  }
  reader.at = at + length;
  const data = new Uint8Array(length);
  copyBytes(reader.bytes, at, at + length, data, 0);
  return data;
}

/** A string that is never null. */
export function readText(reader: JuteReader): string {
  return reader.text() ?? "";
}

/**
 * Names or paths. An empty one is refused: it takes four bytes here and more in memory, and no node
 * has it. The array has its size from the start, since one that grows takes twice as much
 * meanwhile.
 */
export function readNames(reader: JuteReader): string[] {
  const count = Math.max(0, reader.count(NAME_BYTES_MIN));
  const names = new Array<string>(count);
  for (let i = 0; i < count; i++) names[i] = readName(reader);
  return names;
}

function readName(reader: JuteReader): string {
  const name = reader.text();
  if (name === null || name === "") throw new WireError("VALUE", "a name is empty");
  return name;
}

export function readAclEntries(reader: JuteReader): AclEntry[] {
  const count = reader.count(ACL_ENTRY_BYTES_MIN);
  const acl: AclEntry[] = [];
  for (let i = 0; i < count; i++) {
    acl.push({ perms: reader.int(), scheme: readName(reader), id: readText(reader) });
  }
  return acl;
}

/** Most identities of a connection that are read; servers accept far fewer. */
const CLIENT_INFO_COUNT_MAX = 10_000;

/** An identity of a connection, as whoAmI answers it. */
export interface ClientInfo {
  readonly scheme: string;
  readonly user: string;
}

export function readClientInfos(reader: JuteReader): ClientInfo[] {
  const count = reader.count(CLIENT_INFO_BYTES_MIN);
  if (count > CLIENT_INFO_COUNT_MAX) throw new WireError("VALUE", `${count} identities of one connection`);
  const infos: ClientInfo[] = [];
  for (let i = 0; i < count; i++) infos.push({ scheme: readName(reader), user: readText(reader) });
  return infos;
}

export interface WatcherEvent {
  readonly type: WatchEventType;
  readonly path: string;
}

export function readWatcherEvent(reader: JuteReader): WatcherEvent {
  const type = reader.int();
  reader.int(); // The state is always "connected".
  if (type < 1 || type > 4) throw new WireError("VALUE", `an event of type ${type}; 1 to 4 exist`);
  return { type: type as WatchEventType, path: readText(reader) };
}

/** One op's answer inside a multi's or multiRead's. */
export type PartResult =
  | { readonly op: "error"; readonly code: number }
  | { readonly op: "create"; readonly path: string; readonly stat: Stat | undefined }
  | { readonly op: "set"; readonly stat: Stat }
  | { readonly op: "data"; readonly data: Uint8Array | null; readonly stat: Stat }
  | { readonly op: "children"; readonly names: readonly string[] }
  | { readonly op: "done" };

/** Shared: such a result is nine bytes of an answer. */
const DONE: PartResult = Object.freeze({ op: "done" });

/**
 * The answers of a multi or multiRead, in order, up to its end marker.
 *
 * @param countMax the number of its parts: more results are refused
 */
export function readPartResults(reader: JuteReader, countMax: number = Number.POSITIVE_INFINITY): PartResult[] {
  const results: PartResult[] = [];
  for (;;) {
    const op = reader.int();
    const isEnd = reader.bool();
    reader.int();
    if (isEnd) return results;
    if (results.length >= countMax) throw new WireError("VALUE", `more results than the ${countMax} parts`);
    results.push(readPartResult(reader, op));
  }
}

function readPartResult(reader: JuteReader, op: number): PartResult {
  switch (op) {
    case OpCode.ERROR:
      return { op: "error", code: reader.int() };
    case OpCode.CREATE:
      return { op: "create", path: readText(reader), stat: undefined };
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
      return { op: "create", path: readText(reader), stat: readStat(reader) };
    case OpCode.SET_DATA:
      return { op: "set", stat: readStat(reader) };
    case OpCode.GET_DATA:
      return { op: "data", data: readData(reader), stat: readStat(reader) };
    case OpCode.GET_CHILDREN:
      return { op: "children", names: readNames(reader) };
    case OpCode.DELETE:
    case OpCode.CHECK:
      return DONE;
    default:
      throw new WireError("UNKNOWN_TYPE", `a multi's answer holds a result of type ${op}`);
  }
}

function longAt(bytes: Buffer, at: number): Zxid {
  return zxidFromHalves(intAt(bytes, at), intAt(bytes, at + 4));
}
