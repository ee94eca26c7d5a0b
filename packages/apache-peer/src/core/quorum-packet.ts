/**
 * Packets between a leader and its learners, in Jute and without a frame:
 *
 * ```
 *  type i32 · zxid i64 · data (length i32, -1 for null, bytes) · identities (count i32, -1 for null, (scheme · id) …)
 * ```
 *
 * An observer sends five kinds:
 *
 * ```
 *  OBSERVERINFO  zxid (acceptedEpoch, 0)   data sid i64 · 0x10000 i32 · version of the configuration i64
 *  ACKEPOCH      zxid the last one, or -1  data currentEpoch i32, or -1 where the epoch was accepted before
 *  ACK           zxid (epoch, 0)           no data
 *  PING          zxid of the leader's      data (session i64 · timeout i32) …
 *  REQUEST       zxid -1                   data session i64 · number i32 · 9 i32 · path, to be answered by SYNC
 * ```
 */
import { type Zxid, zxidHigh, zxidLow } from "@zooid/model";
import { field, int, long } from "@zooid/wire/apache";

export const PacketType = {
  REQUEST: 1,
  PROPOSAL: 2,
  ACK: 3,
  COMMIT: 4,
  PING: 5,
  REVALIDATE: 6,
  SYNC: 7,
  INFORM: 8,
  NEWLEADER: 10,
  UPTODATE: 12,
  DIFF: 13,
  TRUNC: 14,
  SNAP: 15,
  OBSERVERINFO: 16,
  LEADERINFO: 17,
  ACKEPOCH: 18,
  INFORMANDACTIVATE: 19,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(PacketType).map(([name, type]) => [type, name]));

/** As operators and the protocol's documents call it. */
export function packetName(type: number): string {
  return NAMES.get(type) ?? `type ${type}`;
}

export function isPacketType(type: number): boolean {
  return NAMES.has(type);
}

/** A packet of a leader. */
export interface IncomingPacket {
  readonly type: number;
  readonly zxid: bigint;
  /** A view, valid until the next bytes are taken. */
  readonly data: Buffer | null;
}

/** A session that a client of ours has used since the last ping. */
export interface SessionTouch {
  readonly id: bigint;
  readonly timeoutMs: number;
}

/** A packet of an observer; no other kind exists, so none can be sent. */
export type OutgoingPacket =
  | { readonly kind: "observer-info"; readonly sid: number; readonly acceptedEpoch: number }
  | {
      readonly kind: "ack-epoch";
      /** The last transaction that was followed; undefined asks for a snapshot. */
      readonly position: Zxid | undefined;
      /** Undefined where the leader's epoch was accepted before. */
      readonly currentEpoch: number | undefined;
    }
  | { readonly kind: "ack"; readonly epoch: number }
  | { readonly kind: "ping"; readonly zxid: bigint; readonly touches: readonly SessionTouch[] }
  | { readonly kind: "sync"; readonly cxid: number };

/** A session's touch in a PING. */
export const TOUCH_BYTES = 12;
/** The version that a learner of the present protocol says. */
export const PROTOCOL_VERSION = 0x1_0000;
/** The operation of clients that a leader answers behind everything that is proposed before it. */
const SYNC_OPERATION = 9;
const SYNC_PATH = Buffer.from("/");
const NO_SESSION = 0n;
const NONE = -1n;
/** Version 0 of the configuration: a leader drops a learner that names a later one than its own. */
const NO_CONFIG_VERSION = 0n;

/** A packet as it stands in the link. */
export function encodePacket(packet: OutgoingPacket): Buffer {
  switch (packet.kind) {
    case "observer-info": {
      const info = [long(BigInt(packet.sid)), int(PROTOCOL_VERSION), long(NO_CONFIG_VERSION)];
      return packed(PacketType.OBSERVERINFO, epochZxid(packet.acceptedEpoch), Buffer.concat(info));
    }
    case "ack-epoch": {
      const position = packet.position === undefined ? NONE : zxidLong(packet.position);
      return packed(PacketType.ACKEPOCH, position, int(packet.currentEpoch ?? -1));
    }
    case "ack":
      return packed(PacketType.ACK, epochZxid(packet.epoch), null);
    case "ping":
      return packed(PacketType.PING, packet.zxid, encodeTouches(packet.touches));
    case "sync": {
      const request = [long(NO_SESSION), int(packet.cxid), int(SYNC_OPERATION), field(SYNC_PATH)];
      // A leader reads the identities of a request, so they are not null.
      return packed(PacketType.REQUEST, NONE, Buffer.concat(request), 0);
    }
  }
}

function packed(type: number, zxid: bigint, data: Buffer | null, identities = -1): Buffer {
  return Buffer.concat([int(type), long(zxid), field(data), int(identities)]);
}

function encodeTouches(touches: readonly SessionTouch[]): Buffer {
  const bytes = Buffer.alloc(touches.length * TOUCH_BYTES);
  for (const [i, { id, timeoutMs }] of touches.entries()) {
    bytes.writeBigInt64BE(id, i * TOUCH_BYTES);
    bytes.writeInt32BE(timeoutMs, i * TOUCH_BYTES + 8);
  }
  return bytes;
}

function epochZxid(epoch: number): bigint {
  return BigInt(epoch) << 32n;
}

function zxidLong(zxid: Zxid): bigint {
  return (BigInt(zxidHigh(zxid)) << 32n) | BigInt(zxidLow(zxid) >>> 0);
}
