import { composeZxid, type Zxid } from "@zooid/model";
import {
  ApacheObserver,
  type Epochs,
  type ObserverMemory,
  type ObserverOptions,
  type ObserverSinks,
} from "../core/observer.ts";
import { encodePacket, type SessionTouch } from "../core/quorum-packet.ts";
import { SentPackets } from "./sent-packets.ts";

export const OPTIONS: ObserverOptions = {
  sid: 100,
  packetBytesMax: 1024 * 1024,
  initTimeoutMs: 40_000,
  syncTimeoutMs: 10_000,
};

/** An observer whose sinks write down what they were handed. */
export class Observed {
  readonly lines: string[] = [];
  readonly sent: SentPackets = new SentPackets();
  readonly snapshot: Buffer[] = [];
  readonly observer: ApacheObserver;
  nowMs = 0;

  constructor(memory: Partial<ObserverMemory> = {}, options: Partial<ObserverOptions> = {}) {
    const none: ObserverMemory = { acceptedEpoch: 0, currentEpoch: 0, position: undefined };
    this.observer = new ApacheObserver({ ...OPTIONS, ...options }, { ...none, ...memory }, this.#sinks());
    this.observer.begin(0);
  }

  /** Takes bytes that came, in one piece or in pieces of the given size. */
  take(bytes: readonly Buffer[], pieceBytes: number = Number.POSITIVE_INFINITY): this {
    const all = Buffer.concat(bytes);
    for (let at = 0; at < all.length; at += pieceBytes)
      this.observer.take(all.subarray(at, Math.min(all.length, at + pieceBytes)), this.nowMs);
    return this;
  }

  touch(...touches: readonly SessionTouch[]): void {
    this.observer.touch(touches);
  }

  #sinks(): ObserverSinks {
    const { lines } = this;
    return {
      send: (packet) => {
        for (const { name, zxid } of this.sent.push(encodePacket(packet))) lines.push(`send ${name} ${hex(zxid)}`);
      },
      keepEpochs: ({ acceptedEpoch, currentEpoch }: Epochs) => lines.push(`keep ${acceptedEpoch} ${currentEpoch}`),
      leaderFound: (epoch) => lines.push(`leader of epoch ${epoch}`),
      diffBegins: () => lines.push("diff"),
      snapshotBegins: (zxid) => lines.push(`snapshot ${hex(zxid)}`),
      snapshotBytes: (bytes) => this.snapshot.push(Buffer.from(bytes)),
      snapshotEnds: (zxid) => lines.push(`snapshot ends ${hex(zxid)}`),
      transaction: (zxid) => lines.push(`transaction ${hex(zxid)}`),
      upToDate: (epoch) => lines.push(`up to date ${epoch}`),
      synced: () => lines.push("synced"),
    };
  }
}

export function position(epoch: number, counter: number): Zxid {
  return composeZxid(epoch, counter);
}

function hex(zxid: bigint | number): string {
  return zxid < 0 ? String(zxid) : `0x${zxid.toString(16)}`;
}
