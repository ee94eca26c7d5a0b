import { ByteCursor } from "@zooid/wire/apache";
import { PacketType, packetName } from "../core/quorum-packet.ts";

/** A packet of an observer, as a leader reads it. */
export interface SentPacket {
  readonly name: string;
  readonly zxid: bigint;
  readonly data: Buffer | null;
}

const OPERATION_START = 12;
const SYNC_OPERATION = 9;

/**
 * Reads what an observer sends, byte by byte as the protocol says and not as this package's code
 * does, and refuses everything that an observer of ours must never send.
 */
export class SentPackets {
  readonly packets: SentPacket[] = [];
  #bytes: Buffer = Buffer.alloc(0);

  /** @throws Error for a packet that is none of the allowed ones */
  push(piece: Uint8Array): readonly SentPacket[] {
    this.#bytes = Buffer.concat([this.#bytes, piece]);
    const before = this.packets.length;
    for (;;) {
      const cursor = new ByteCursor(this.#bytes, 0);
      if (!cursor.has(16)) break;
      const [type, zxid, length] = [cursor.int(), cursor.long(), cursor.int()];
      if (!cursor.has(Math.max(length, 0) + 4)) break;
      const data = length === -1 ? null : cursor.bytesOf(length);
      const identities = cursor.int();
      this.#bytes = this.#bytes.subarray(cursor.at);
      this.#check({ name: packetName(type), zxid, data }, identities);
    }
    return this.packets.slice(before);
  }

  #check(packet: SentPacket, identities: number): void {
    const { name, zxid, data } = packet;
    const isAllowed = ((): boolean => {
      switch (name) {
        case "OBSERVERINFO":
          return this.packets.length === 0 && data?.length === 20 && zxid % 2n ** 32n === 0n;
        case "ACKEPOCH":
          return this.packets.length === 1 && data?.length === 4;
        case "ACK":
          // The first one stands right behind ACKEPOCH, and there are two.
          return this.packets.length >= 2 && this.#acks < 2 && data === null && zxid % 2n ** 32n === 0n;
        case "PING":
          return this.#acks === 2 && data !== null && data.length % 12 === 0;
        case "REQUEST":
          return this.#acks === 2 && zxid === -1n && data?.readInt32BE(OPERATION_START) === SYNC_OPERATION;
        default:
          return false;
      }
    })();
    if (!isAllowed || identities !== (name === "REQUEST" ? 0 : -1))
      throw new Error(`${name} is not sent here, behind ${this.packets.map((one) => one.name).join(", ")}`);
    this.packets.push(packet);
  }

  get #acks(): number {
    return this.packets.filter(({ name }) => name === packetName(PacketType.ACK)).length;
  }
}
