/**
 * One entry for each kind of request: its number, the encoding of its body, the decoding of its
 * answer.
 */
import {
  type Acl,
  type ChildDetail,
  OpCode,
  type PastChildren,
  type PastMoment,
  type PastNode,
  PastPart,
  type Stat,
} from "@zooid/model";
import {
  type ChangesRequest,
  type ChildPageRequest,
  type ClientInfo,
  decodePastChanges,
  decodePastChildren,
  decodePastNode,
  type JuteReader,
  type JuteWriter,
  type ListedChildren,
  type PartResult,
  readAclEntries,
  readChildPage,
  readClientInfos,
  readData,
  readNames,
  readPartResults,
  readStat,
  readText,
  type ShownChanges,
  type WatchedPaths,
  writeAuth,
  writeChangesRequest,
  writeChildPageRequest,
  writeCreate,
  writeMultiHeader,
  writePastRequest,
  writePathAndInt,
  writePathAndWatch,
  writeSetAcl,
  writeSetData,
  writeSetWatches,
} from "@zooid/wire";
import type { ConfigChange } from "../servers/ensemble-config.ts";
import type { WatchKind } from "../watches/watch-registry.ts";

/** A node's data and Stat, from one read. */
export interface NodeData {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}

export interface Children {
  /** In the server's order, which is not significant. */
  readonly names: string[];
  readonly stat: Stat;
}

export interface Created {
  /** The created path, with its sequence number if it has one. */
  readonly path: string;
  readonly stat: Stat;
}

/**
 * @typeParam B the body beside the path
 * @typeParam T the answer
 */
export interface Operation<B, T> {
  readonly code: number;
  /** The client's method, for messages. */
  readonly name: string;
  /** Whether it changes nothing, and so may be repeated after any failure. */
  readonly isRead: boolean;
  /** Whether it concerns one connection, and so is never repeated on another. */
  readonly isOfConnection?: boolean;
  /** Whether its answer is {@link Created}. */
  readonly creates?: boolean;
  /** The watch that it arms on request. */
  readonly arms?: WatchKind;
  write(writer: JuteWriter, path: string, body: B, watch: boolean): void;
  /** @param body of the request, which bounds some answers */
  read(reader: JuteReader, body: B): T;
  /** The data to write, for operations that write some. */
  dataOf?(body: B): Uint8Array | null;
  /** The steps, for operations that have some. */
  partsOf?(body: B): readonly TransactionPart[];
  /** The result for a node that does not exist, where that is no error. */
  readonly absent?: { readonly value: T; readonly arms?: WatchKind };
}

export interface CreateBody {
  readonly data: Uint8Array | null;
  readonly acl: Acl;
  readonly flags: number;
  readonly ttlMs: number | undefined;
}

const NO_BYTES = new Uint8Array(0);
const ignoreAnswer = (): void => {};

function readNodeData(reader: JuteReader): NodeData {
  const data = readData(reader);
  return { data, stat: readStat(reader) };
}

/** A step of SASL: one token in each direction. */
export const SASL: Operation<Uint8Array, Uint8Array> = {
  code: OpCode.SASL,
  name: "sasl",
  isRead: false,
  isOfConnection: true,
  write: (writer, _path, token) => writer.range(token, 0, token.length),
  read: (reader) => readData(reader) ?? new Uint8Array(),
};

function watchableRead<T>(
  code: number,
  name: string,
  arms: WatchKind,
  read: (reader: JuteReader) => T,
): Operation<undefined, T> {
  const write: Operation<undefined, T>["write"] = (writer, path, _body, watch) =>
    writePathAndWatch(writer, path, watch);
  return { code, name, isRead: true, arms, write, read };
}

export const GET_DATA: Operation<undefined, NodeData> = watchableRead(OpCode.GET_DATA, "get", "data", readNodeData);

export const GET_DATA_OR_NULL: Operation<undefined, NodeData | null> = {
  ...GET_DATA,
  name: "getOrNull",
  absent: { value: null },
};

export const EXISTS: Operation<undefined, Stat | null> = {
  ...watchableRead(OpCode.EXISTS, "exists", "data", readStat),
  absent: { value: null, arms: "exists" },
};

/** `exists` with its answer in a record, to which a watch can be added. */
export const GET_STAT: Operation<undefined, { readonly stat: Stat | null }> = {
  ...EXISTS,
  absent: { value: { stat: null }, arms: "exists" },
  read: (reader) => ({ stat: readStat(reader) }),
};

export const GET_CHILDREN: Operation<undefined, Children> = watchableRead(
  OpCode.GET_CHILDREN2,
  "children",
  "children",
  (reader) => {
    const names = readNames(reader);
    return { names, stat: readStat(reader) };
  },
);

export const GET_CHILDREN_OR_NULL: Operation<undefined, Children | null> = {
  ...GET_CHILDREN,
  absent: { value: null },
};

/** Zooid's own; see docs/differences.md. */
export function childPageOperation(detail: ChildDetail): Operation<ChildPageRequest, ListedChildren> {
  return {
    code: OpCode.GET_CHILDREN_PAGE,
    name: "childPages",
    isRead: true,
    write: (writer, path, body) => writeChildPageRequest(writer, path, body),
    read: (reader) => readChildPage(reader, detail),
  };
}

/** Zooid's own, of a server with a history. */
export const GET_PAST: Operation<PastMoment, PastNode> = {
  code: OpCode.GET_PAST,
  name: "get",
  isRead: true,
  write: (writer, path, at) => writePastRequest(writer, path, at, PastPart.NODE),
  read: (reader) => decodePastNode(readData(reader) ?? NO_BYTES),
};

export const GET_PAST_CHILDREN: Operation<PastMoment, PastChildren> = {
  code: OpCode.GET_PAST,
  name: "children",
  isRead: true,
  write: (writer, path, at) => writePastRequest(writer, path, at, PastPart.CHILDREN),
  read: (reader) => decodePastChildren(readData(reader) ?? NO_BYTES),
};

export const GET_CHANGES: Operation<ChangesRequest, ShownChanges> = {
  code: OpCode.GET_CHANGES,
  name: "history",
  isRead: true,
  write: writeChangesRequest,
  read: (reader) => decodePastChanges(readData(reader) ?? NO_BYTES),
};

function pathRead<T>(code: number, name: string, read: (reader: JuteReader) => T): Operation<undefined, T> {
  return { code, name, isRead: true, write: (writer, path) => writer.text(path), read };
}

export const GET_ACL: Operation<undefined, { readonly acl: Acl; readonly stat: Stat }> = pathRead(
  OpCode.GET_ACL,
  "getAcl",
  (reader) => {
    const acl = readAclEntries(reader);
    return { acl, stat: readStat(reader) };
  },
);

export const SYNC: Operation<undefined, void> = pathRead(OpCode.SYNC, "sync", ignoreAnswer);
export const GET_EPHEMERALS: Operation<undefined, string[]> = pathRead(
  OpCode.GET_EPHEMERALS,
  "getEphemerals",
  readNames,
);
export const GET_ALL_CHILDREN_NUMBER: Operation<undefined, number> = pathRead(
  OpCode.GET_ALL_CHILDREN_NUMBER,
  "getAllChildrenNumber",
  (reader) => reader.int(),
);

export const WHO_AM_I: Operation<undefined, ClientInfo[]> = {
  code: OpCode.WHO_AM_I,
  name: "whoAmI",
  isRead: true,
  write: ignoreAnswer,
  read: readClientInfos,
};

const createAnswer = (reader: JuteReader): Created => ({ path: readText(reader), stat: readStat(reader) });

function createWith(code: number): Operation<CreateBody, Created> {
  return {
    code,
    name: "create",
    isRead: false,
    creates: true,
    dataOf: ({ data }) => data,
    write: (writer, path, body) => writeCreate(writer, { path, ...body }),
    read: createAnswer,
  };
}

export const CREATE: Operation<CreateBody, Created> = createWith(OpCode.CREATE2);
export const CREATE_CONTAINER: Operation<CreateBody, Created> = createWith(OpCode.CREATE_CONTAINER);
export const CREATE_TTL: Operation<CreateBody, Created> = createWith(OpCode.CREATE_TTL);

export const DELETE: Operation<number, void> = {
  code: OpCode.DELETE,
  name: "delete",
  isRead: false,
  write: writePathAndInt,
  read: ignoreAnswer,
};

export const DELETE_IF_PRESENT: Operation<number, void> = { ...DELETE, absent: { value: undefined } };

export const SET_DATA: Operation<{ readonly data: Uint8Array | null; readonly version: number }, Stat> = {
  code: OpCode.SET_DATA,
  name: "set",
  isRead: false,
  dataOf: ({ data }) => data,
  write: (writer, path, { data, version }) => writeSetData(writer, path, data, version),
  read: readStat,
};

export const SET_ACL: Operation<{ readonly acl: Acl; readonly version: number }, Stat> = {
  code: OpCode.SET_ACL,
  name: "setAcl",
  isRead: false,
  write: (writer, path, { acl, version }) => writeSetAcl(writer, path, acl, version),
  read: readStat,
};

/** One encoded op of a transaction. */
export interface TransactionPart {
  readonly code: number;
  /** The builder's method, for messages. */
  readonly name: string;
  readonly path: string;
  /** The server's path. */
  readonly fullPath: string;
  /** The data of a create or a set. */
  readonly data?: Uint8Array | null;
  write(writer: JuteWriter): void;
}

export const MULTI: Operation<readonly TransactionPart[], PartResult[]> = {
  code: OpCode.MULTI,
  name: "transaction",
  isRead: false,
  partsOf: (parts) => parts,
  write: (writer, _path, parts) => {
    for (const part of parts) {
      writeMultiHeader(writer, part.code, false);
      part.write(writer);
    }
    writeMultiHeader(writer, -1, true);
  },
  read: (reader, parts) => readPartResults(reader, parts.length),
};

export const MULTI_READ: Operation<readonly TransactionPart[], PartResult[]> = {
  ...MULTI,
  code: OpCode.MULTI_READ,
  name: "reads",
  isRead: true,
};

export const ADD_PERSISTENT_WATCH: Operation<number, void> = {
  code: OpCode.ADD_WATCH,
  name: "events$",
  isRead: true,
  arms: "persistent",
  write: writePathAndInt,
  read: ignoreAnswer,
};

export const ADD_RECURSIVE_WATCH: Operation<number, void> = { ...ADD_PERSISTENT_WATCH, arms: "recursive" };

export const REMOVE_WATCHES: Operation<number, void> = {
  code: OpCode.REMOVE_WATCHES,
  name: "removeWatches",
  isRead: true,
  isOfConnection: true,
  write: writePathAndInt,
  read: ignoreAnswer,
};

export const SET_WATCHES: Operation<{ readonly paths: WatchedPaths; readonly zxid: number }, void> = {
  code: OpCode.SET_WATCHES,
  name: "setWatches",
  isRead: true,
  isOfConnection: true,
  write: (writer, _path, { paths, zxid }) => writeSetWatches(writer, zxid, paths, false),
  read: ignoreAnswer,
};

export const SET_WATCHES2: Operation<{ readonly paths: WatchedPaths; readonly zxid: number }, void> = {
  ...SET_WATCHES,
  code: OpCode.SET_WATCHES2,
  write: (writer, _path, { paths, zxid }) => writeSetWatches(writer, zxid, paths, true),
};

export const RECONFIG: Operation<ConfigChange, NodeData> = {
  code: OpCode.RECONFIG,
  name: "reconfig",
  isRead: false,
  write: (writer, _path, { joining, leaving, members, fromVersion = -1n }) => {
    for (const list of [joining, leaving, members]) {
      if (list === undefined) writer.null();
      else writer.text(list.join(","));
    }
    writer.long(Number(BigInt.asIntN(32, fromVersion >> 32n)), Number(BigInt.asIntN(32, fromVersion)));
  },
  read: readNodeData,
};

export const AUTH: Operation<{ readonly scheme: string; readonly auth: Uint8Array }, void> = {
  code: OpCode.AUTH,
  name: "addAuth",
  isRead: true,
  write: (writer, _path, { scheme, auth }) => writeAuth(writer, scheme, auth),
  read: ignoreAnswer,
};

export const CLOSE_SESSION: Operation<undefined, void> = {
  code: OpCode.CLOSE_SESSION,
  name: "close",
  isRead: false,
  isOfConnection: true,
  write: ignoreAnswer,
  read: ignoreAnswer,
};
