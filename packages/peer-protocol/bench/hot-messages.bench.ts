import { FRAME_HEADER_BYTES, writeFrameHeader, type Zxid } from "@zooid/model";
import { zooid } from "../gen/peer.js";
import { BoundedReader } from "../src/bounded-reader.ts";
import { decodeEnvelope } from "../src/envelope-decoder.ts";
import { EnvelopeWriter, envelopeBytesMax } from "../src/envelope-encoder.ts";
import type { EnvelopeMessage } from "../src/envelope-message.ts";
import { checkEntries, checkForward } from "../src/hot-decoder.ts";
import { InPlaceWriter } from "../src/in-place-writer.ts";
import { FORWARD_HEADER_BYTES } from "../src/peer-runs.ts";
import { ELEMENTS_MAX, whole, zxidOf } from "../src/record-codec.ts";

/**
 * The gain of writing the codec of the four hot messages by hand: nanoseconds of processor time for
 * each message, by hand, by generated code over this package's reader and writer, and by protobufjs
 * alone. `npm run bench`
 */
const WARM_UP = 100_000;
const MESSAGES = 200_000;
const ROUNDS = 7;

const NO_BYTES = new Uint8Array(0);
const ENTRY_BYTES = 150;
const EPOCH = 7;
const zxid = (counter: number): Zxid => (EPOCH * 2 ** 32 + counter) as Zxid;

function entries(count: number): Extract<EnvelopeMessage, { kind: "entries" }> {
  const bytes = new Uint8Array(count * (FRAME_HEADER_BYTES + ENTRY_BYTES));
  for (let i = 0; i < count; i++)
    writeFrameHeader(bytes, i * (FRAME_HEADER_BYTES + ENTRY_BYTES), zxid(i + 1), ENTRY_BYTES);
  return {
    kind: "entries",
    epoch: EPOCH,
    previous: zxid(0),
    first: zxid(1),
    last: zxid(count),
    count,
    bytes,
    start: 0,
    end: bytes.length,
    committed: zxid(0),
    round: 12,
  };
}

function forward(count: number): Extract<EnvelopeMessage, { kind: "forward" }> {
  const bytes = new Uint8Array(count * (FORWARD_HEADER_BYTES + ENTRY_BYTES));
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) view.setUint32(i * (FORWARD_HEADER_BYTES + ENTRY_BYTES) + 20, ENTRY_BYTES);
  return { kind: "forward", count, bytes, start: 0, end: bytes.length };
}

interface Case {
  readonly name: string;
  readonly message: EnvelopeMessage;
  readonly member: "entries" | "forward" | "ack" | "commit";
  /** The form of the message that generated code takes. */
  readonly record: object;
  /** The message out of what generated code returns. */
  readonly toMessage: (record: zooid.Envelope) => object;
}

const cases: readonly Case[] = [
  ...[1, 20].map((count): Case => {
    const message = entries(count);
    const { bytes, start, end, ...same } = message;
    return {
      name: `entries, ${count} of ${ENTRY_BYTES} bytes`,
      message,
      member: "entries",
      record: { ...same, run: bytes.subarray(start, end) },
      toMessage: ({ entries: record }) => {
        const run = record?.run ?? NO_BYTES;
        const read = {
          kind: "entries",
          epoch: whole(record?.epoch),
          previous: zxidOf(record?.previous),
          first: zxidOf(record?.first),
          last: zxidOf(record?.last),
          count: whole(record?.count),
          committed: zxidOf(record?.committed),
          round: whole(record?.round),
          bytes: run,
          start: 0,
          end: run.length,
        } as const;
        checkEntries(read);
        return read;
      },
    };
  }),
  ...[1, 20].map((count): Case => {
    const message = forward(count);
    return {
      name: `forward, ${count} of ${ENTRY_BYTES} bytes`,
      message,
      member: "forward",
      record: { count, run: message.bytes },
      toMessage: ({ forward: record }) => {
        const run = record?.run ?? NO_BYTES;
        const read = { kind: "forward", count: whole(record?.count), bytes: run, start: 0, end: run.length } as const;
        checkForward(read);
        return read;
      },
    };
  }),
  {
    name: "ack",
    message: { kind: "ack", epoch: EPOCH, durable: zxid(123_456), round: 12 },
    member: "ack",
    record: { epoch: EPOCH, durable: zxid(123_456), round: 12 },
    toMessage: ({ ack: record }) => ({
      kind: "ack",
      epoch: whole(record?.epoch),
      durable: zxidOf(record?.durable),
      round: whole(record?.round),
    }),
  },
  {
    name: "commit",
    message: { kind: "commit", epoch: EPOCH, committed: zxid(123_456) },
    member: "commit",
    record: { epoch: EPOCH, committed: zxid(123_456) },
    toMessage: ({ commit: record }) => ({
      kind: "commit",
      epoch: whole(record?.epoch),
      committed: zxidOf(record?.committed),
    }),
  },
];

const TYPES = { entries: zooid.Entries, forward: zooid.Forward, ack: zooid.Ack, commit: zooid.Commit };
let kept: unknown;

console.log(
  "| message | written: by hand | generated, in place | protobufjs | read: by hand | generated, in place | protobufjs |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const { name, message, member, record, toMessage } of cases) {
  const target = Buffer.alloc(envelopeBytesMax(message));
  const writer = new EnvelopeWriter();
  const end = writer.write(target, 0, message);
  const inPlace = new InPlaceWriter();
  const type = TYPES[member];
  const envelope = { [member]: record };
  // The tag, and a length of four bytes, precede the member.
  const memberAt = 6;
  const times = [
    () => writer.write(target, 0, message),
    () => type.encode(record, inPlace.start(target, 0).uint32(0o412).fork()).ldelim().pos,
    () => {
      const bytes = zooid.Envelope.encode(envelope).finish();
      target.set(bytes, 0);
      return bytes.length;
    },
  ].map(nanoseconds);
  writer.write(target, 0, message);
  times.push(
    ...[
      () => decodeEnvelope(target, 0, end),
      () =>
        toMessage({ [member]: type.decode(new BoundedReader(target, memberAt, end, ELEMENTS_MAX)) } as zooid.Envelope),
      () => toMessage(zooid.Envelope.decode(target.subarray(0, end))),
    ].map(nanoseconds),
  );
  console.log(`| ${name} | ${times.map((time) => `${time} ns`).join(" | ")} |`);
}

/** Processor time, in the quickest of some rounds: other load counts less there. */
function nanoseconds(once: () => unknown): number {
  for (let i = 0; i < WARM_UP; i++) kept = once();
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = process.cpuUsage();
    for (let i = 0; i < MESSAGES; i++) kept = once();
    const { user, system } = process.cpuUsage(start);
    return ((user + system) * 1000) / MESSAGES;
  });
  if (kept === undefined) throw new Error("nothing was measured");
  return Math.round(Math.min(...rounds));
}
