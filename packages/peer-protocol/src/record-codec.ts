import {
  type Chain,
  copyRange,
  type LevelRaise,
  type LevelRange,
  type LogPosition,
  type NamedState,
  type ServerId,
  type Vote,
  WireError,
  type Zxid,
  zxidFromHalves,
} from "@zooid/model";
import Long from "long";
import type { zooid } from "../gen/peer.js";
import type { BoundedReader } from "./bounded-reader.ts";
import type { EnvelopeMessage } from "./envelope-message.ts";
import type { InPlaceWriter } from "./in-place-writer.ts";

/**
 * The messages of every write, which `hot-decoder.ts` and `hot-writer.ts` read and write by hand.
 */
export type HotKind = "entries" | "forward" | "ack" | "commit";
export type RecordKind = Exclude<EnvelopeMessage["kind"], HotKind>;
export type MessageOf<K extends EnvelopeMessage["kind"]> = Extract<EnvelopeMessage, { readonly kind: K }>;

/**
 * Between a message and its record: the class that protobufjs generates for a type of `peer.proto`.
 *
 * Where their fields have the same names and types, a message is encoded as it is. A record that
 * was decoded has its defaults in its prototype, so each field of a message is named.
 *
 * Servers of neighbouring versions are in one ensemble during an upgrade. A message may get a
 * further field if
 *
 * - the field has a number of its own, since older servers skip what they do not know;
 * - the ensemble works while the older half skips it;
 * - protobuf's default, which is what an older server seems to send, means that the sender does not
 *   say: an empty disk id, a highest level of 0. `optional` in `peer.proto` is for fields where
 *   empty and absent differ, such as a configuration.
 *
 * Everything else, and each further message, needs a feature level (`FEATURE_LEVELS` of the model):
 * it is sent only once all members know it.
 */
export interface RecordCodec<K extends RecordKind> {
  /** The member of an envelope that carries the message. */
  readonly member: Exclude<keyof zooid.Envelope.$Properties, "$unknowns">;
  /**
   * Most texts, numbers of 32 bits and inner messages that are read; {@link ELEMENTS_MAX} unless
   * set.
   */
  readonly elementsMax?: number;
  encode(message: MessageOf<K>, writer: InPlaceWriter): void;
  /**
   * @throws WireError for bytes that are no such record, or have a value that the message cannot
   *   have
   */
  decode(reader: BoundedReader): MessageOf<K>;
}

/** Far more than is sent: a pong has up to 10,000 touches, all else up to 64 elements. */
export const ELEMENTS_MAX: number = 2 ** 16;
/** There are no more epochs: a zxid has 21 bits for them. */
export const EPOCHS_MAX: number = 2 ** 21;

/** Far above every level that there will be. */
const LEVEL_MAX = 2 ** 16;
/** A new one has 16. */
const ENSEMBLE_ID_CHARS_MAX = 256;
const ZXID_HIGH_MAX = 2 ** 21 - 1;

/** A number as protobufjs has it, which cannot know that all of ours are below 2^53. */
export type RecordNumber = number | Long | null | undefined;

export function whole(value: RecordNumber): number {
  return typeof value === "number" ? value : (value?.toNumber() ?? 0);
}

export function zxidOf(value: RecordNumber): Zxid {
  const { high, low } = halves(value);
  if (high < 0 || high > ZXID_HIGH_MAX) throw new WireError("VALUE", `a zxid's epoch is ${high >>> 0}`);
  return zxidFromHalves(high, low);
}

/** The id of an ensemble: it is kept, and each hello has it. */
export function ensembleIdOf(id: string): string {
  if (id.length > ENSEMBLE_ID_CHARS_MAX) {
    throw new WireError(
      "LENGTH",
      `an ensemble's id has at most ${ENSEMBLE_ID_CHARS_MAX} characters, found ${id.length}`,
    );
  }
  return id;
}

/** The id of a disk: it becomes a part of the configuration. */
export function diskIdOf(id: string): string {
  if (!/^[0-9a-f]{1,32}$/.test(id)) throw new WireError("VALUE", "a disk's id is up to 32 hexadecimal digits");
  return id;
}

/** The feature levels that a server knows; one that names none knows level 1. */
export function levelsOf(lowest: number, highest: number): LevelRange {
  if (highest === 0) return { lowest: 1, highest: 1 };
  if (lowest > 0 && lowest <= highest && highest <= LEVEL_MAX) return { lowest, highest };
  throw new WireError("VALUE", `feature levels from ${lowest} to ${highest}`);
}

export function levelRaiseOf(record: zooid.LevelRaise.$Properties): LevelRaise {
  const { level = 0, replaced = 0 } = record;
  if (level !== null && replaced !== null && replaced > 0 && replaced <= level && level <= LEVEL_MAX) {
    return { level, zxid: zxidOf(record.zxid), replaced };
  }
  throw new WireError("VALUE", `feature level ${level} replaces ${replaced}`);
}

/** The version of a server, which operators are shown. */
export function versionOf(version: string): string {
  if (/^[0-9A-Za-z.+-]{1,64}$/.test(version)) return version;
  throw new WireError("VALUE", "a server's version has up to 64 letters, digits, dots, dashes and plus signs");
}

export function serverIdOf(value: RecordNumber): ServerId {
  const id = whole(value);
  if (id > 254) throw new WireError("VALUE", `a server id is from 0 to 254, found ${id}`);
  return id as ServerId;
}

export function sessionOf(value: RecordNumber): { readonly sessionHigh: number; readonly sessionLow: number } {
  const { high, low } = halves(value);
  return { sessionHigh: high, sessionLow: low };
}

export function sessionBits({ sessionHigh, sessionLow }: ReturnType<typeof sessionOf>): Long {
  return Long.fromBits(sessionLow, sessionHigh);
}

function halves(value: RecordNumber): { readonly high: number; readonly low: number } {
  return typeof value === "object" && value !== null ? value : { high: 0, low: 0 };
}

/** An enum's value is its place in a list of choices. */
export function choiceOf<T extends string>(choices: readonly T[], number: number): T {
  const value = choices[number];
  if (value === undefined) throw new WireError("VALUE", `${number} is none of ${choices.join(", ")}`);
  return value;
}

/** A copy, which the message may keep. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return copyRange(bytes, 0, bytes.length);
}

/** Undefined where the field is absent, which is something else than empty. */
export function optionalCopyOf(bytes: Uint8Array | null | undefined): Uint8Array | undefined {
  return bytes === null || bytes === undefined ? undefined : copyOf(bytes);
}

/** Bytes that stay where they lie: the message lasts as long as they do. */
export function inPlace(bytes: Uint8Array): {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
} {
  return { bytes, start: 0, end: bytes.length };
}

export function positionOf(record: zooid.Position.$Properties | null | undefined): LogPosition {
  const { high, low } = halves(record?.chain);
  const chain = ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)) as Chain;
  return { zxid: zxidOf(record?.zxid), chain };
}

export function positionRecord({ zxid, chain }: LogPosition): zooid.Position.$Properties {
  return { zxid, chain: Long.fromBits(Number(BigInt.asIntN(32, chain)), Number(BigInt.asIntN(32, chain >> 32n))) };
}

export function namedStateOf(record: zooid.NamedState.$Properties): NamedState {
  const { high, low } = halves(record.digest);
  return { ...positionOf(record.position), digestHigh: high, digestLow: low };
}

export function namedStateRecord(state: NamedState): zooid.NamedState.$Properties {
  const { digestHigh, digestLow } = state;
  return { position: positionRecord(state), digest: Long.fromBits(digestLow, digestHigh) };
}

export function voteOf(record: zooid.Vote.$Properties | null | undefined): Vote | undefined {
  if (record === null || record === undefined) return undefined;
  return {
    leader: serverIdOf(record.leader),
    zxid: zxidOf(record.zxid),
    peerEpoch: whole(record.peerEpoch),
  };
}
