import {
  type EntriesMessage,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  WireError,
  ZXID_NONE,
  type Zxid,
  zxidFromHalves,
} from "@zooid/model";
import { fixed32, ProtobufReader } from "@zooid/wire/protobuf";
import { AckTag, CommitTag, EntriesTag, ForwardTag } from "./hot-fields.ts";
import { FORWARD_HEADER_BYTES, forwardLength } from "./peer-runs.ts";
import type { MessageOf } from "./record-codec.ts";

/**
 * The messages of every write, read by hand: several of each pass for every batch of writes, and
 * generated code makes an object for every number of 64 bits. The benchmark beside this package
 * (`npm run bench`) shows the difference. `hot-fields.ts` draws their bytes.
 *
 * ```
 *  learner ── forward ──▶ leader       the writes of its clients, as they came
 *  learner ◀── entries ── leader       the transactions that they became, with the commit point
 *  learner ──── ack ────▶ leader       all up to here is on the learner's disk
 *  learner ◀── commit ─── leader       only where no entries carry the commit point soon enough
 * ```
 *
 * Acks and commit points are cumulative: each covers everything before it. Fields are read in any
 * order, unknown ones are skipped.
 */

/** A message while its fields come in. */
type Filling<T> = { -readonly [K in keyof T]: T[K] };

const NO_BYTES = new Uint8Array(0);
const ZXID_HIGH_MAX = 2 ** 21 - 1;

/**
 * Reads the fields of these messages; as bounded as `BoundedReader`, which generated code reads
 * with.
 */
export class HotReader extends ProtobufReader {
  override tag(): number {
    if (this.at >= this.end) return 0;
    const tag = this.varint();
    if (tag === 0) throw new WireError("VALUE", "a field has the tag 0");
    return tag;
  }

  zxid(): Zxid {
    const at = this.fixed64();
    const high = fixed32(this.bytes, at + 4);
    if (high < 0 || high > ZXID_HIGH_MAX) throw new WireError("VALUE", `a zxid's epoch is ${high >>> 0}`);
    return zxidFromHalves(high, fixed32(this.bytes, at));
  }

  /** Points the message to the bytes that come here. */
  place(message: { bytes: Uint8Array; start: number; end: number }): void {
    const end = this.delimited();
    message.bytes = this.bytes;
    message.start = this.at;
    message.end = end;
    this.at = end;
  }
}

export function readEntries(reader: HotReader): EntriesMessage {
  const message: Filling<EntriesMessage> = {
    kind: "entries",
    epoch: 0,
    previous: ZXID_NONE,
    first: ZXID_NONE,
    last: ZXID_NONE,
    count: 0,
    bytes: NO_BYTES,
    start: 0,
    end: 0,
    committed: ZXID_NONE,
    check: 0,
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case EntriesTag.epoch:
        message.epoch = reader.varint();
        break;
      case EntriesTag.previous:
        message.previous = reader.zxid();
        break;
      case EntriesTag.first:
        message.first = reader.zxid();
        break;
      case EntriesTag.last:
        message.last = reader.zxid();
        break;
      case EntriesTag.count:
        message.count = reader.varint();
        break;
      case EntriesTag.committed:
        message.committed = reader.zxid();
        break;
      case EntriesTag.check:
        message.check = reader.varint();
        break;
      case EntriesTag.run:
        reader.place(message);
        break;
      default:
        reader.skip(tag);
    }
  }
  checkEntries(message);
  return message;
}

/** @throws WireError unless the run is what {@link readEntries} may return */
export function checkEntries(message: EntriesMessage): void {
  const { bytes, start, end, count, first, last, previous } = message;
  let found = 0;
  let zxid = previous;
  for (let at = start; at < end; ) {
    const next = end - at < FRAME_HEADER_BYTES ? ZXID_NONE : frameZxid(bytes, at);
    if (next <= zxid || (found === 0 && next !== first)) throw brokenRun("entries", at - start);
    zxid = next;
    at += FRAME_HEADER_BYTES + frameLength(bytes, at);
    if (at > end) throw brokenRun("entries", end - start);
    found++;
  }
  if (found !== count) throw new WireError("LENGTH", `a run of ${found} entries says that it has ${count}`);
  if (count > 0 && zxid !== last) throw new WireError("VALUE", "a run of entries ends with another than it says");
}

function brokenRun(what: string, at: number): WireError {
  return new WireError("TRUNCATED", `a run of ${what} is broken at its byte ${at}`);
}

export function readForward(reader: HotReader): MessageOf<"forward"> {
  const message: Filling<MessageOf<"forward">> = { kind: "forward", count: 0, bytes: NO_BYTES, start: 0, end: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === ForwardTag.count) message.count = reader.varint();
    else if (tag === ForwardTag.run) reader.place(message);
    else reader.skip(tag);
  }
  checkForward(message);
  return message;
}

/** @throws WireError unless the run is what {@link readForward} may return */
export function checkForward({ bytes, start, end, count }: MessageOf<"forward">): void {
  let found = 0;
  for (let at = start; at < end; found++) {
    if (end - at < FORWARD_HEADER_BYTES) throw brokenRun("requests", at - start);
    at += FORWARD_HEADER_BYTES + forwardLength(bytes, at);
    if (at > end) throw brokenRun("requests", end - start);
  }
  if (found !== count) throw new WireError("LENGTH", `a run of ${found} requests says that it has ${count}`);
}

export function readAck(reader: HotReader): MessageOf<"ack"> {
  const message: Filling<MessageOf<"ack">> = { kind: "ack", epoch: 0, durable: ZXID_NONE, check: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === AckTag.epoch) message.epoch = reader.varint();
    else if (tag === AckTag.durable) message.durable = reader.zxid();
    else if (tag === AckTag.check) message.check = reader.varint();
    else reader.skip(tag);
  }
  return message;
}

export function readCommit(reader: HotReader): MessageOf<"commit"> {
  const message: Filling<MessageOf<"commit">> = { kind: "commit", epoch: 0, committed: ZXID_NONE };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === CommitTag.epoch) message.epoch = reader.varint();
    else if (tag === CommitTag.committed) message.committed = reader.zxid();
    else reader.skip(tag);
  }
  return message;
}
