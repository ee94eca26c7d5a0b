import { WireError } from "@zooid/model";
import { BoundedReader } from "./bounded-reader.ts";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { HotReader, readAck, readCommit, readEntries, readForward } from "./hot-decoder.ts";
import { EnvelopeTag } from "./hot-fields.ts";
import { ELEMENTS_MAX } from "./record-codec.ts";
import { RECORD_BY_TAG } from "./records.ts";

/**
 * Reads one envelope. Runs of entries and requests, and parts of snapshots, stay where they lie:
 * such a message lasts as long as the bytes do. Everything else is the message's own.
 *
 * A run is validated, so that the receiver of the message may walk it without checking for its end:
 * its frames fill it exactly, are as many as the message says, and entries rise from its first zxid
 * to its last.
 *
 * @throws WireError for anything else than exactly one message that is known
 */
export function decodeEnvelope(bytes: Uint8Array, start: number, end: number): EnvelopeMessage {
  const envelope = new HotReader();
  envelope.reset(bytes, start, end);
  const tag = envelope.tag();
  if ((tag & 7) !== 2) throw new WireError("UNKNOWN_TYPE", `an envelope begins with field tag ${tag}`);
  const memberEnd = envelope.delimited();
  if (memberEnd !== end) throw new WireError("VALUE", "an envelope holds more than one message");
  // Behind the length, the same reader reads the member.
  switch (tag) {
    case EnvelopeTag.entries:
      return readEntries(envelope);
    case EnvelopeTag.forward:
      return readForward(envelope);
    case EnvelopeTag.ack:
      return readAck(envelope);
    case EnvelopeTag.commit:
      return readCommit(envelope);
    default:
      return decodeRecord(tag, bytes, envelope.at, end);
  }
}

function decodeRecord(tag: number, bytes: Uint8Array, start: number, end: number): EnvelopeMessage {
  const codec = RECORD_BY_TAG.get(tag);
  if (codec === undefined) {
    throw new WireError("UNKNOWN_TYPE", `an envelope holds a message with field tag ${tag}`);
  }
  return codec.decode(new BoundedReader(bytes, start, end, codec.elementsMax ?? ELEMENTS_MAX));
}
