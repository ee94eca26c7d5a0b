import { assert, copyBytes, type EntriesMessage, type Zxid, zxidHigh, zxidLow } from "@zooid/model";
import { writeFixed64, writeVarint } from "@zooid/wire/protobuf";
import { AckTag, CommitTag, EntriesTag, EnvelopeTag, ForwardTag } from "./hot-fields.ts";
import { LENGTH_BYTES, writeLength } from "./in-place-writer.ts";
import type { HotKind, MessageOf } from "./record-codec.ts";

/** Writes the messages of every write, by hand: see `hot-decoder.ts`. */
export class HotWriter {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** @returns where the envelope ends */
  write(target: Buffer, at: number, message: MessageOf<HotKind>): number {
    this.#bytes = target;
    this.#at = at;
    switch (message.kind) {
      case "entries":
        this.#entries(message);
        break;
      case "forward": {
        const start = this.#open(EnvelopeTag.forward);
        this.#number(ForwardTag.count, message.count);
        this.#run(ForwardTag.run, message);
        this.#close(start);
        break;
      }
      case "ack": {
        const start = this.#open(EnvelopeTag.ack);
        this.#number(AckTag.epoch, message.epoch);
        this.#zxid(AckTag.durable, message.durable);
        this.#number(AckTag.check, message.check);
        this.#close(start);
        break;
      }
      case "commit": {
        const start = this.#open(EnvelopeTag.commit);
        this.#number(CommitTag.epoch, message.epoch);
        this.#zxid(CommitTag.committed, message.committed);
        this.#close(start);
      }
    }
    return this.#at;
  }

  #entries(message: EntriesMessage): void {
    const start = this.#open(EnvelopeTag.entries);
    this.#number(EntriesTag.epoch, message.epoch);
    this.#zxid(EntriesTag.previous, message.previous);
    this.#zxid(EntriesTag.first, message.first);
    this.#zxid(EntriesTag.last, message.last);
    this.#number(EntriesTag.count, message.count);
    this.#zxid(EntriesTag.committed, message.committed);
    this.#number(EntriesTag.check, message.check);
    this.#run(EntriesTag.run, message);
    this.#close(start);
  }

  #open(tag: number): number {
    this.#varint(tag);
    this.#at += LENGTH_BYTES;
    return this.#at;
  }

  #close(start: number): void {
    writeLength(this.#bytes, start, this.#at - start);
  }

  #varint(value: number): void {
    this.#at = writeVarint(this.#bytes, this.#at, value);
  }

  #number(tag: number, value: number): void {
    if (value === 0) return;
    assert(value > 0 && Number.isSafeInteger(value), () => `${value} is no whole number from 0 to 2^53`);
    this.#varint(tag);
    this.#varint(value);
  }

  #zxid(tag: number, zxid: Zxid): void {
    const high = zxidHigh(zxid);
    const low = zxidLow(zxid);
    if (high === 0 && low === 0) return;
    this.#varint(tag);
    this.#at = writeFixed64(this.#bytes, this.#at, high, low);
  }

  #run(tag: number, { bytes, start, end }: MessageOf<"entries" | "forward">): void {
    if (end === start) return;
    this.#varint(tag);
    this.#varint(end - start);
    copyBytes(bytes, start, end, this.#bytes, this.#at);
    this.#at += end - start;
  }
}
