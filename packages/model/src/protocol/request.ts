import { type ByteSlice, emptySlice } from "../byte-slice.ts";
import type { Acl } from "../tree/acl-entry.ts";

/**
 * A client's request as the decoder left it: one structure for every operation, filled again for
 * each request, so that the hot ways allocate nothing. Slices lie in the frame that was decoded.
 * Which fields hold anything depends on `op`.
 */
export interface Request {
  xid: number;
  op: number;
  /** False for the protocol's null string. */
  hasPath: boolean;
  path: ByteSlice;
  watch: boolean;
  hasData: boolean;
  data: ByteSlice;
  /** As the client sent it, not yet checked; undefined for a null list. */
  acl: Acl | undefined;
  /** Creates: the mode's number. */
  flags: number;
  /** Creates with a time to live: milliseconds, -1 elsewhere. */
  ttlMs: number;
  /** Expected version; -1 matches any. */
  version: number;
  /** addWatch's mode, checkWatches' and removeWatches' type, or the unit of getPast's moment. */
  mode: number;
  /**
   * setWatches: the last zxid that the client saw. getPast and getChanges: the transaction of the
   * state, and the one to begin behind.
   */
  relativeZxid: number;
  /** The change of members that a reconfig requests. */
  change: ChangeRequest | undefined;
}

/**
 * A client's change of the ensemble's configuration; an absent text is the protocol's null string.
 */
export interface ChangeRequest {
  readonly joining: string | undefined;
  readonly leaving: string | undefined;
  /** All members: where it is set, the others mean nothing. */
  readonly members: string | undefined;
  /** The version that is changed; -1 is any. */
  readonly fromVersion: number;
}

export function newRequest(): Request {
  return {
    xid: 0,
    op: 0,
    hasPath: false,
    path: emptySlice(),
    watch: false,
    hasData: false,
    data: emptySlice(),
    acl: undefined,
    flags: 0,
    ttlMs: -1,
    version: -1,
    mode: 0,
    relativeZxid: 0,
    change: undefined,
  };
}

/** The modes that a create's flags name. */
export const CreateMode = {
  PERSISTENT: 0,
  EPHEMERAL: 1,
  PERSISTENT_SEQUENTIAL: 2,
  EPHEMERAL_SEQUENTIAL: 3,
  CONTAINER: 4,
  PERSISTENT_WITH_TTL: 5,
  PERSISTENT_SEQUENTIAL_WITH_TTL: 6,
} as const;
export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode];

export function isEphemeralMode(flags: number): boolean {
  return flags === CreateMode.EPHEMERAL || flags === CreateMode.EPHEMERAL_SEQUENTIAL;
}

export function isSequentialMode(flags: number): boolean {
  return (
    flags === CreateMode.PERSISTENT_SEQUENTIAL ||
    flags === CreateMode.EPHEMERAL_SEQUENTIAL ||
    flags === CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL
  );
}

export function isTtlMode(flags: number): boolean {
  return flags === CreateMode.PERSISTENT_WITH_TTL || flags === CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL;
}

/**
 * Turns frames into requests. Implemented by `@zooid/wire`; handed to the core, which knows no
 * bytes. One decoder serves all connections, one frame after another.
 */
export interface RequestDecoder {
  /**
   * Opens a frame and fills `xid` and `op`. Throws a `WireError` when even these cannot be read,
   * which ends the connection.
   */
  open(bytes: Uint8Array, start: number, end: number, request: Request): void;
  /**
   * Fills the fields that the opened request's `op` has. Throws a `WireError` when the body cannot
   * be read.
   */
  body(request: Request): void;
  /**
   * Begins, or begins again, with the parts of the opened request: the ops of a multi, the paths of
   * setWatches.
   */
  rewindParts(): void;
  /**
   * Fills the next part and returns true, or returns false after the last. A multi's part is a
   * request of its own; a part of setWatches has `path`, and in `mode` the place of its list: data
   * 0, exists 1, child 2, persistent 3, recursive 4. Throws when it cannot be read.
   */
  nextPart(part: Request): boolean;
  /** A copy of the opened frame. */
  copyFrame(): Uint8Array;
  /** How far {@link nextPart} has come in the opened request. */
  partsPosition(): PartsPosition;
  /**
   * Continues behind the parts that were read at this position, in the same request opened
   * again, in other bytes too.
   */
  goToPart(position: PartsPosition): void;
}

/**
 * How far the parts of a request were read: bytes from the frame's start, and the list of a
 * setWatches with what is left of it.
 */
export interface PartsPosition {
  readonly offset: number;
  readonly list: number;
  readonly leftInList: number;
}
