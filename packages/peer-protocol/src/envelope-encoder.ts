import { assert } from "@zooid/model";
import { varintSize } from "@zooid/wire/protobuf";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { HotWriter } from "./hot-writer.ts";
import { InPlaceWriter, LENGTH_BYTES } from "./in-place-writer.ts";
import type { MessageOf, RecordCodec, RecordKind } from "./record-codec.ts";
import { RECORDS, TAGS } from "./records.ts";

/**
 * A message is written where it is sent from, so there must be room for it before its first byte,
 * and its exact size is known only behind its last one. Instead of measuring each message first,
 * which costs as much as writing it, the writer asks for a bound: the bytes that the message says
 * it has (texts, bytes, lists), and a constant for everything else.
 *
 * Each field whose length its sender chooses must be counted in {@link envelopeBytesMax}. A field
 * that is forgotten goes unnoticed while it is short, since the constant has room to spare; a test
 * therefore makes every field of bytes long.
 */

/** More than any message's envelope and numbers take. */
const FIXED_BYTES_MAX = 192;
/** More than one element of a list of numbers takes. */
const ELEMENT_BYTES_MAX = 40;
/** A text's UTF-8 form is never longer than this for each of its UTF-16 units. */
const UTF8_BYTES_MAX = 3;

/**
 * Bytes that an envelope with this message needs at most, and that must be free before it is
 * written.
 */
export function envelopeBytesMax(message: EnvelopeMessage): number {
  switch (message.kind) {
    case "hello":
      return (
        FIXED_BYTES_MAX +
        textBytesMax(message.ensembleId) +
        textBytesMax(message.host) +
        message.nonce.length +
        message.features.length * 10 +
        message.keyIds.reduce((sum, id) => sum + textBytesMax(id), 0)
      );
    case "auth-proof":
      return FIXED_BYTES_MAX + textBytesMax(message.keyId) + message.mac.length;
    case "link-refuse":
    case "refuse":
    case "relay-close":
      return FIXED_BYTES_MAX + textBytesMax(message.text);
    case "notification":
    case "poll-answer":
      return (
        FIXED_BYTES_MAX +
        (message.config?.length ?? 0) +
        (message.nextConfig?.length ?? 0) +
        textBytesMax(message.ensembleId ?? "")
      );
    case "learner-info":
      return (
        FIXED_BYTES_MAX +
        textBytesMax(message.ensembleId) +
        textBytesMax(message.attemptId) +
        (message.list?.length ?? 0)
      );
    case "leader-info":
      return FIXED_BYTES_MAX + textBytesMax(message.ensembleId);
    case "ack-epoch":
      return FIXED_BYTES_MAX + message.tails.length * ELEMENT_BYTES_MAX;
    case "sync-begin":
      return FIXED_BYTES_MAX + message.epochs.length * ELEMENT_BYTES_MAX;
    case "pong":
      return FIXED_BYTES_MAX + message.touches.length * ELEMENT_BYTES_MAX;
    case "identities":
      return message.identities.reduce(
        (sum, { scheme, id }) => sum + ELEMENT_BYTES_MAX + textBytesMax(scheme) + textBytesMax(id),
        FIXED_BYTES_MAX,
      );
    case "new-leader":
      return (
        FIXED_BYTES_MAX +
        (message.config?.length ?? 0) +
        (message.committedConfig?.length ?? 0) +
        textBytesMax(message.ensembleId)
      );
    case "entries":
    case "forward":
    case "snapshot-chunk":
    case "relay-bytes":
      return FIXED_BYTES_MAX + message.end - message.start;
    case "open-session":
    case "revalidate":
      return FIXED_BYTES_MAX + message.passwordHash.length;
    default:
      return FIXED_BYTES_MAX;
  }
}

/** Writes messages as `peer.proto` has them, one envelope behind another, where the caller says. */
export class EnvelopeWriter {
  readonly #hot = new HotWriter();
  readonly #records = new InPlaceWriter();

  /** @returns where the envelope ends; there must be {@link envelopeBytesMax} bytes behind `at` */
  write(target: Buffer, at: number, message: EnvelopeMessage): number {
    const end = this.#envelope(target, at, message);
    assert(end <= target.length, () => `a ${message.kind} message took ${end - at} bytes, more than it may need`);
    return end;
  }

  #envelope(target: Buffer, at: number, message: EnvelopeMessage): number {
    switch (message.kind) {
      case "entries":
      case "forward":
      case "ack":
      case "commit":
        return this.#hot.write(target, at, message);
      default:
        return this.#record(target, at, message.kind, message);
    }
  }

  #record<K extends RecordKind>(target: Buffer, at: number, kind: K, message: MessageOf<K>): number {
    const codec: RecordCodec<K> = RECORDS[kind];
    const writer = this.#records.start(target, at);
    writer.uint32(TAGS[kind]).fork();
    codec.encode(message, writer);
    return writer.ldelim().pos;
  }
}

function textBytesMax(text: string): number {
  return text.length * UTF8_BYTES_MAX + 1 + varintSize(text.length * UTF8_BYTES_MAX) + LENGTH_BYTES;
}
