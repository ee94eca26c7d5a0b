/**
 * An observer of an Apache ensemble, on one connection to its leader, or to a follower that takes
 * observers. It knows no socket and no clock: bytes and times are inputs, and sinks are called.
 *
 * ```
 *  observer                                 leader
 *  OBSERVERINFO (accepted epoch)  ────────▶           leader-info
 *                                 ◀────────  LEADERINFO (epoch)
 *  ACKEPOCH (last zxid, or -1)    ────────▶           choice
 *                                 ◀────────  DIFF, TRUNC, or SNAP and a snapshot
 *                                 ◀────────  PROPOSAL, COMMIT, INFORM …         synchronizing
 *                                 ◀────────  NEWLEADER
 *  ACK                            ────────▶           acknowledged: INFORM may come, and pings
 *                                 ◀────────  UPTODATE
 *  ACK                            ────────▶           following
 *                                 ◀───────▶  PING, INFORM, SYNC …
 * ```
 *
 * The rules of this file:
 *
 * - An epoch is durable before ACKEPOCH promises it, and only epochs that this ensemble has named
 *   are sent: a stranger's epoch would raise the ensemble's.
 * - The ACK of NEWLEADER is the first packet behind ACKEPOCH: a leader drops the link at any other
 *   one, at the answer to a ping too.
 * - No transaction is acknowledged.
 * - Zxids are contiguous within an epoch, and an epoch begins with 1. A snapshot is written while
 *   transactions are applied: those that follow it may be contained, and may be older than its zxid.
 * - Until NEWLEADER a snapshot is not a position: older transactions that it needs may be missing.
 */
import { assertNever, composeZxid, counterOf, EPOCH_MAX, epochOf, mayFollow, ZXID_NONE, type Zxid } from "@zooid/model";
import { apacheZxid } from "@zooid/wire/apache";
import { highestVoter, listedServers } from "./ensemble-text.ts";
import { PacketReader } from "./packet-reader.ts";
import { ApachePeerError } from "./peer-error.ts";
import { PendingTouches } from "./pending-touches.ts";
import {
  type IncomingPacket,
  type OutgoingPacket,
  PacketType,
  PROTOCOL_VERSION,
  packetName,
  type SessionTouch,
} from "./quorum-packet.ts";
import { SnapshotStream } from "./snapshot-stream.ts";

export interface ObserverOptions {
  /** Above every voter's, and below 255: a voter's would count in the leader's quorums. */
  readonly sid: number;
  /** The longest data of a packet, and the longest path or data of a node in a snapshot. */
  readonly packetBytesMax: number;
  /** How long a leader may be silent until it has sent UPTODATE, in milliseconds. */
  readonly initTimeoutMs: number;
  /** How long it may be silent from then on. */
  readonly syncTimeoutMs: number;
}

export interface Epochs {
  /** The highest epoch of a leader that was promised to follow; 0 for none. */
  readonly acceptedEpoch: number;
  /** The epoch of the last leader whose history was taken over. */
  readonly currentEpoch: number;
}

/** Where an observer continues. */
export interface ObserverMemory extends Epochs {
  /** The last transaction that was followed; undefined asks for a snapshot. */
  readonly position: Zxid | undefined;
}

/** Bytes are lent for the call. Calls come in the order of the stream. */
export interface ObserverSinks {
  /** Packets leave in the order of these calls. */
  send(packet: OutgoingPacket): void;
  /** Both must be durable when this returns: the next packet promises the accepted one. */
  keepEpochs(epochs: Epochs): void;
  /** A leader was accepted. */
  leaderFound(epoch: number): void;
  /** The history is continued: the next transaction comes behind the position. */
  diffBegins(): void;
  /** The history is replaced: parts of a snapshot come, which ends in front of its zxid. */
  snapshotBegins(zxid: Zxid): void;
  snapshotBytes(bytes: Buffer): void;
  snapshotEnds(zxid: Zxid): void;
  /** A transaction, as Apache's servers log it. Behind a snapshot it may be contained in it. */
  transaction(zxid: Zxid, bytes: Buffer): void;
  /** The leader serves, and everything that it had committed has come. */
  upToDate(epoch: number, servers: string): void;
  /** The answer to {@link ApacheObserver.sync}. */
  synced(): void;
}

type Phase = "leader-info" | "choice" | "snapshot" | "synchronizing" | "acknowledged" | "following";

const EXPECTED: Readonly<Record<Phase, string>> = {
  "leader-info": "LEADERINFO",
  choice: "DIFF, TRUNC or SNAP",
  snapshot: "a snapshot",
  synchronizing: "a transaction or NEWLEADER",
  acknowledged: "a transaction, a ping or UPTODATE",
  following: "a transaction or a ping",
};

/** The designated leader stands before the transaction. */
const ACTIVATE_BYTES = 8;
/** Bytes of proposals that are not committed yet: a leader commits each at once. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** The consumer takes the parts of a snapshot from its bytes; here only its end is looked for. */
const NO_PARTS = { acl: () => {}, node: () => {}, rest: () => {} };
const NOTHING = Buffer.alloc(0);

/**
 * The observer's half of Apache's quorum protocol on one connection: a state machine that knows no
 * socket and no clock.
 */
export class ApacheObserver {
  readonly #options: ObserverOptions;
  readonly #sinks: ObserverSinks;
  readonly #reader: PacketReader;
  readonly #touches: PendingTouches;
  #phase: Phase = "leader-info";
  #epochs: Epochs;
  /** The leader's epoch. */
  #epoch = 0;
  /** The last transaction that came; of a snapshot, its zxid. */
  #last: Zxid | undefined;
  /** Behind a snapshot, until the first newer transaction: the last one that it may contain. */
  #contained: Zxid | undefined;
  /** Whether a snapshot began and NEWLEADER has not confirmed it. */
  #isReplacing = false;
  #snapshot: SnapshotStream | undefined;
  #pending: { readonly zxid: Zxid; readonly bytes: Buffer }[] = [];
  #pendingBytes = 0;
  #servers = "";
  #syncCount = 0;
  #heardMs = 0;

  /** @param touches outlive the connection: those that were not sent go with the next one */
  constructor(
    options: ObserverOptions,
    memory: ObserverMemory,
    sinks: ObserverSinks,
    touches: PendingTouches = new PendingTouches(),
  ) {
    this.#options = options;
    this.#sinks = sinks;
    this.#touches = touches;
    this.#reader = new PacketReader(options.packetBytesMax);
    this.#epochs = { acceptedEpoch: memory.acceptedEpoch, currentEpoch: memory.currentEpoch };
    this.#last = memory.position;
  }

  /** Where the next connection continues. */
  get memory(): ObserverMemory {
    return { ...this.#epochs, position: this.#isReplacing ? undefined : this.#last };
  }

  get isFollowing(): boolean {
    return this.#phase === "following";
  }

  /** The connection is there. */
  begin(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#sinks.send({
      kind: "observer-info",
      sid: this.#options.sid,
      acceptedEpoch: this.#epochs.acceptedEpoch,
    });
  }

  /**
   * Takes what came, in pieces of any size.
   *
   * @throws ApachePeerError after which the connection has to be closed
   */
  take(bytes: Buffer, nowMs: number): void {
    this.#heardMs = nowMs;
    for (let rest = bytes; rest.length > 0; )
      rest = this.#snapshot === undefined ? this.#packets(rest) : this.#part(rest);
  }

  /** @throws ApachePeerError SILENT where the leader has sent nothing for too long */
  tick(nowMs: number): void {
    const { initTimeoutMs, syncTimeoutMs } = this.#options;
    const ms = this.isFollowing ? syncTimeoutMs : initTimeoutMs;
    if (nowMs - this.#heardMs <= ms) return;
    throw new ApachePeerError({ code: "SILENT", ms, expected: EXPECTED[this.#phase] });
  }

  /** These sessions live on: the leader learns it with the next pings. */
  touch(touches: readonly SessionTouch[]): void {
    this.#touches.add(touches);
  }

  /**
   * Asks the leader for an answer behind everything that it has proposed; false where it does not
   * serve yet.
   */
  sync(): boolean {
    if (!this.isFollowing) return false;
    this.#syncCount = (this.#syncCount + 1) | 0;
    this.#sinks.send({ kind: "sync", cxid: this.#syncCount });
    return true;
  }

  /** @returns what belongs to a snapshot that has begun */
  #packets(bytes: Buffer): Buffer {
    this.#reader.push(bytes);
    for (let packet = this.#reader.next(); packet !== undefined; packet = this.#reader.next()) {
      this.#packet(packet);
      if (this.#snapshot !== undefined) return this.#reader.takeRest();
    }
    return NOTHING;
  }

  /** @returns what is behind the snapshot */
  #part(bytes: Buffer): Buffer {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return bytes;
    const length = snapshot.take(bytes);
    this.#sinks.snapshotBytes(bytes.subarray(0, length));
    if (snapshot.isEnded) {
      this.#snapshot = undefined;
      this.#phase = "synchronizing";
      this.#sinks.snapshotEnds(this.#last as Zxid);
    }
    return bytes.subarray(length);
  }

  #packet(packet: IncomingPacket): void {
    switch (this.#phase) {
      case "leader-info":
        return this.#leaderInfo(packet);
      case "choice":
        return this.#choice(packet);
      case "synchronizing":
        return this.#synchronizing(packet);
      case "acknowledged":
        return this.#acknowledged(packet);
      case "following":
        return this.#following(packet);
      case "snapshot":
        throw this.#unexpected(packet);
      default:
        return assertNever(this.#phase);
    }
  }

  #leaderInfo(packet: IncomingPacket): void {
    if (packet.type !== PacketType.LEADERINFO) throw this.#unexpected(packet);
    const version = packet.data !== null && packet.data.length >= 4 ? packet.data.readInt32BE(0) : 0;
    if (version < PROTOCOL_VERSION) throw this.#unexpected(packet, `LEADERINFO of protocol version ${version}`);
    const { acceptedEpoch, currentEpoch } = this.#epochs;
    const epoch = this.#epochStart(packet);
    if (epoch < acceptedEpoch)
      throw new ApachePeerError({ code: "EPOCH_BACKWARDS", accepted: acceptedEpoch, offered: epoch });
    this.#epoch = epoch;
    const isNew = epoch > acceptedEpoch;
    if (isNew) this.#keepEpochs({ acceptedEpoch: epoch, currentEpoch });
    this.#sinks.leaderFound(epoch);
    this.#phase = "choice";
    this.#sinks.send({
      kind: "ack-epoch",
      position: this.#last,
      currentEpoch: isNew ? currentEpoch : undefined,
    });
  }

  #choice(packet: IncomingPacket): void {
    const last = this.#last;
    switch (packet.type) {
      case PacketType.DIFF:
        // A leader of a fresh ensemble may send it to a learner without a tree.
        if (last === undefined) throw this.#unexpected(packet);
        this.#phase = "synchronizing";
        this.#sinks.diffBegins();
        return;
      case PacketType.TRUNC: {
        const leader = this.#zxidOf(packet);
        if (last === undefined) throw this.#unexpected(packet);
        this.#isReplacing = true;
        throw new ApachePeerError({ code: "HISTORY_TAKEN_BACK", last, leader });
      }
      case PacketType.SNAP: {
        const zxid = this.#zxidOf(packet);
        this.#last = zxid;
        this.#contained = ZXID_NONE;
        this.#isReplacing = true;
        this.#snapshot = new SnapshotStream(NO_PARTS, this.#options.packetBytesMax);
        this.#phase = "snapshot";
        this.#sinks.snapshotBegins(zxid);
        return;
      }
      default:
        throw this.#unexpected(packet);
    }
  }

  #synchronizing(packet: IncomingPacket): void {
    // A leader's pings begin before it has sent everything; an answer would end the link.
    if (packet.type === PacketType.PING || this.#transactions(packet)) return;
    if (packet.type !== PacketType.NEWLEADER) throw this.#unexpected(packet);
    const epoch = this.#epochStart(packet);
    if (epoch !== this.#epoch) throw this.#unexpected(packet, `NEWLEADER of epoch ${epoch}`);
    if (this.#pending.length > 0) throw this.#unexpected(packet, "NEWLEADER before the commit of a proposal");
    if (packet.data === null) throw new ApachePeerError({ code: "VERSION_TOO_OLD" });
    this.#servers = packet.data.toString();
    this.#checkSid();
    this.#isReplacing = false;
    this.#keepEpochs({ acceptedEpoch: epoch, currentEpoch: epoch });
    this.#phase = "acknowledged";
    this.#sinks.send({ kind: "ack", epoch });
  }

  #acknowledged(packet: IncomingPacket): void {
    if (packet.type === PacketType.PING || this.#transactions(packet)) return;
    if (packet.type !== PacketType.UPTODATE) throw this.#unexpected(packet);
    this.#phase = "following";
    this.#sinks.send({ kind: "ack", epoch: this.#epoch });
    this.#sinks.upToDate(this.#epoch, this.#servers);
  }

  #following(packet: IncomingPacket): void {
    switch (packet.type) {
      case PacketType.INFORM:
      case PacketType.INFORMANDACTIVATE:
        this.#transactions(packet);
        return;
      case PacketType.PING:
        return this.#sinks.send({ kind: "ping", zxid: packet.zxid, touches: this.#touches.take() });
      case PacketType.SYNC:
        return this.#sinks.synced();
      default:
        throw this.#unexpected(packet);
    }
  }

  /** Whether the packet brings a transaction or commits one. */
  #transactions(packet: IncomingPacket): boolean {
    switch (packet.type) {
      case PacketType.INFORM:
        this.#deliver(this.#zxidOf(packet), packet.data ?? NOTHING);
        return true;
      case PacketType.INFORMANDACTIVATE:
        // Who is to lead next concerns voters: this link ends if the leader leaves.
        this.#deliver(this.#zxidOf(packet), packet.data?.subarray(ACTIVATE_BYTES) ?? NOTHING);
        return true;
      case PacketType.PROPOSAL:
        this.#propose(this.#zxidOf(packet), packet);
        return true;
      case PacketType.COMMIT: {
        const zxid = this.#zxidOf(packet);
        const proposal = this.#pending.shift();
        if (proposal?.zxid !== zxid) throw this.#unexpected(packet, "COMMIT of a transaction that was not proposed");
        this.#pendingBytes -= proposal.bytes.length;
        this.#deliver(zxid, proposal.bytes);
        return true;
      }
      default:
        return false;
    }
  }

  #propose(zxid: Zxid, packet: IncomingPacket): void {
    // The bytes are kept beyond this call.
    const bytes = Buffer.from(packet.data ?? NOTHING);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > PENDING_BYTES_MAX)
      throw this.#unexpected(packet, `${this.#pendingBytes} bytes of proposals without a commit`);
    this.#pending.push({ zxid, bytes });
  }

  #deliver(zxid: Zxid, bytes: Buffer): void {
    const last = this.#last;
    const inBytes = apacheZxid(bytes);
    if (inBytes === undefined || inBytes !== BigInt(zxid))
      throw new ApachePeerError({
        code: "MALFORMED",
        found: `transaction 0x${zxid.toString(16)} with the bytes of ${inBytes === undefined ? "none" : `0x${BigInt.asUintN(64, inBytes).toString(16)}`}`,
      });
    const contained = this.#contained;
    if (contained !== undefined && last !== undefined && zxid > contained && zxid <= last) {
      this.#contained = zxid;
    } else if (last !== undefined && mayFollow(last, zxid)) {
      this.#contained = undefined;
      this.#last = zxid;
    } else {
      this.#isReplacing = true;
      throw new ApachePeerError({ code: "OUT_OF_ORDER", last: last ?? ZXID_NONE, found: zxid });
    }
    this.#sinks.transaction(zxid, bytes);
  }

  /** Leaves where the server id is a voter's: a leader counts such a learner as that voter. */
  #checkSid(): void {
    const { sid } = this.#options;
    const highest = highestVoter(listedServers(this.#servers));
    if (highest !== undefined && highest >= BigInt(sid))
      throw new ApachePeerError({ code: "SID_TOO_LOW", sid, highestVoter: String(highest) });
  }

  #keepEpochs(epochs: Epochs): void {
    this.#epochs = epochs;
    this.#sinks.keepEpochs(epochs);
  }

  #epochStart(packet: IncomingPacket): number {
    const zxid = this.#zxidOf(packet);
    if (counterOf(zxid) !== 0) throw this.#unexpected(packet, `${packetName(packet.type)} of 0x${zxid.toString(16)}`);
    return epochOf(zxid);
  }

  #zxidOf({ type, zxid }: IncomingPacket): Zxid {
    if (zxid < 0n) throw new ApachePeerError({ code: "MALFORMED", found: `${packetName(type)} of a zxid below 0` });
    const epoch = Number(zxid >> 32n);
    if (epoch >= EPOCH_MAX) throw new ApachePeerError({ code: "EPOCH_TOO_HIGH", epoch, highest: EPOCH_MAX - 1 });
    return composeZxid(epoch, Number(zxid & 0xffff_ffffn));
  }

  #unexpected(packet: IncomingPacket, found: string = packetName(packet.type)): ApachePeerError {
    return new ApachePeerError({ code: "UNEXPECTED_PACKET", found, expected: EXPECTED[this.#phase] });
  }
}
