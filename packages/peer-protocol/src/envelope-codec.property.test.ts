import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type Chain,
  composeZxid,
  FEATURE_LEVELS,
  FRAME_HEADER_BYTES,
  type ServerId,
  serverId,
  WireError,
  writeFrameHeader,
  type Zxid,
} from "@zooid/model";
import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, test } from "vitest";
import { BoundedReader } from "./bounded-reader.ts";
import { REASONS, ROOMS } from "./broadcast-records.ts";
import { ROLES } from "./election-records.ts";
import { decodeEnvelope } from "./envelope-decoder.ts";
import { EnvelopeWriter, envelopeBytesMax } from "./envelope-encoder.ts";
import type { EnvelopeMessage } from "./envelope-message.ts";
import * as fields from "./hot-fields.ts";
import { InPlaceWriter } from "./in-place-writer.ts";
import { LINK_REASONS, PURPOSES } from "./link-records.ts";
import { FORWARD_HEADER_BYTES } from "./peer-runs.ts";
import { ELEMENTS_MAX, type HotKind, type RecordKind } from "./record-codec.ts";
import { RECORDS, TAGS } from "./records.ts";
import { MODES } from "./synchronization-records.ts";

type Kind = EnvelopeMessage["kind"];

const small = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const number = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const int = fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const flag = fc.boolean();
const text = fc.string({ unit: "grapheme", maxLength: 30 });
const bytes = fc.uint8Array({ maxLength: 60 });
const sid: fc.Arbitrary<ServerId> = fc.integer({ min: 0, max: 254 }).map(serverId);
const epoch = fc.integer({ min: 0, max: 2 ** 21 - 1 });
const zxid: fc.Arbitrary<Zxid> = fc
  .tuple(fc.oneof(fc.constant(0), epoch), fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 ** 32 - 1 })))
  .map(([high, low]) => composeZxid(high, low));
const chain = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value as Chain);
const position = fc.record({ zxid, chain });
const named = fc.record({ zxid, chain, digestHigh: int, digestLow: int });
const role = fc.constantFrom("looking", "following", "leading", "observing");
const vote = fc.option(fc.record({ leader: sid, zxid, peerEpoch: number }), { nil: undefined });
const session = {
  sequence: number,
  sessionHigh: int,
  sessionLow: int,
  timeoutMs: small,
  passwordHash: bytes,
};

/** A run of entries that begins somewhere in a larger buffer. */
function entriesRun(
  first: Zxid,
  records: readonly Uint8Array[],
  before = 0,
): { readonly bytes: Uint8Array; readonly start: number; readonly end: number; readonly last: Zxid } {
  const size = records.reduce((sum, record) => sum + FRAME_HEADER_BYTES + record.length, 0);
  const run = new Uint8Array(before + size + 5);
  let at = before;
  let next: number = first;
  for (const record of records) {
    writeFrameHeader(run, at, next as Zxid, record.length);
    run.set(record, at + FRAME_HEADER_BYTES);
    at += FRAME_HEADER_BYTES + record.length;
    next++;
  }
  return { bytes: run, start: before, end: at, last: (next - 1) as Zxid };
}

const entries = fc
  .record({
    header: fc.record({ epoch, committed: zxid, check: number }),
    first: zxid.filter((value) => value > 0 && value % 2 ** 32 < 2 ** 31),
    records: fc.array(bytes, { minLength: 1, maxLength: 6 }),
    before: fc.nat(9),
  })
  .map(({ header, first, records, before }) => {
    const run = entriesRun(first, records, before);
    return { ...header, previous: (first - 1) as Zxid, first, count: records.length, ...run };
  });

/** A run of forwarded requests that begins somewhere in a larger buffer. */
function forwardRun(
  frames: readonly Uint8Array[],
  before = 0,
): { readonly bytes: Uint8Array; readonly start: number; readonly end: number } {
  const size = frames.reduce((sum, frame) => sum + FORWARD_HEADER_BYTES + frame.length, 0);
  const run = new Uint8Array(before + size + 3);
  const view = new DataView(run.buffer);
  let at = before;
  for (const [index, frame] of frames.entries()) {
    view.setFloat64(at, index);
    view.setUint32(at + 20, frame.length);
    run.set(frame, at + FORWARD_HEADER_BYTES);
    at += FORWARD_HEADER_BYTES + frame.length;
  }
  return { bytes: run, start: before, end: at };
}

const forward = fc
  .record({ frames: fc.array(bytes, { maxLength: 6 }), before: fc.nat(9) })
  .map(({ frames, before }) => ({ count: frames.length, ...forwardRun(frames, before) }));

const small16 = fc.integer({ min: 1, max: 2 ** 16 });
const levelRange = fc
  .record({ lowest: small16, highest: small16 })
  .map(({ lowest, highest }) => ({ lowest: Math.min(lowest, highest), highest }));

const FIELDS: { readonly [K in Kind]: fc.Arbitrary<object> } = {
  hello: fc.record({
    ensembleId: text,
    sid,
    bootCount: number,
    nonce: bytes,
    versionMin: small,
    versionMax: small,
    features: fc.array(small),
    purpose: fc.constantFrom("election", "quorum", "observer"),
    frameBytesMax: small,
    keyIds: fc.array(text),
    electionAlg: small,
    host: text,
    startId: text,
    levels: levelRange,
    level: fc.nat(9),
  }),
  "auth-proof": fc.record({ keyId: text, mac: bytes }),
  "link-refuse": fc.record({
    reason: fc.constantFrom("version", "auth", "ensemble", "configuration", "duplicate", "busy"),
    text,
    retryAfterMs: number,
  }),
  heartbeat: fc.record({ sequence: number, isEcho: flag, wallMs: number }),
  notification: fc.record(
    {
      role,
      round: number,
      vote,
      selfZxid: zxid,
      selfEpoch: number,
      config: bytes,
      nextConfig: bytes,
      ensembleId: text,
    },
    { requiredKeys: ["role", "round", "vote", "selfZxid", "selfEpoch"] },
  ),
  poll: fc.record({ number }),
  "poll-answer": fc.record(
    { number, role, vote, config: bytes, nextConfig: bytes, ensembleId: text },
    { requiredKeys: ["number", "role", "vote"] },
  ),
  "learner-info": fc.record(
    {
      promise: fc.record({ epoch: number, sid: small, incarnation: number }),
      isObserver: flag,
      isFresh: flag,
      isAmnesiac: flag,
      isOwn: flag,
      ensembleId: text,
      attemptId: text,
      configVersion: zxid,
      list: bytes,
      isWish: fc.constant(true),
      namedBy: sid,
      levels: levelRange,
      version: fc.constantFrom("0.1.0", "1.22.333-rc.4+5"),
    },
    {
      requiredKeys: [
        ...(["promise", "isObserver", "isFresh", "isAmnesiac", "isOwn"] as const),
        ...(["ensembleId", "attemptId", "configVersion"] as const),
      ],
    },
  ),
  "leader-info": fc.record({ epoch: number, incarnation: number, ensembleId: text }),
  "ack-epoch": fc.record(
    {
      isRepeated: flag,
      currentEpoch: number,
      logged: position,
      floor: zxid,
      tails: fc.array(fc.record({ epoch: number, last: number })),
      isFloorUncommitted: fc.constant(true),
      level: number.filter((level) => level > 0),
    },
    { requiredKeys: ["isRepeated", "currentEpoch", "logged", "floor", "tails"] },
  ),
  "sync-begin": fc.record(
    {
      epoch: number,
      mode: fc.constantFrom("diff", "trunc", "snap"),
      from: position,
      epochs: fc.array(fc.record({ epoch: number, first: number, last: number })),
      isUncommitted: fc.constant(true),
      origin: fc.tuple(named, fc.nat(9)).map(([state, level]) => ({ ...state, level })),
    },
    { requiredKeys: ["epoch", "mode", "from", "epochs"] },
  ),
  "snapshot-chunk": fc
    .record({ index: number, isLast: flag, bytes, start: fc.nat(9) })
    .map((chunk) => ({ ...chunk, start: Math.min(chunk.start, chunk.bytes.length), end: chunk.bytes.length })),
  "snapshot-credit": fc.record({ next: number, isWhole: fc.constant(true) }, { requiredKeys: ["next"] }),
  entries,
  staged: fc.record({ epoch: number, through: zxid }),
  "new-leader": fc.record(
    {
      epoch: number,
      through: zxid,
      endsAmnesia: flag,
      ensembleId: text,
      config: fc.option(bytes, { nil: undefined }),
      committedConfig: fc.option(bytes, { nil: undefined }),
      levelRaise: fc
        .record({ level: small16, zxid, replaced: small16 })
        .map((raise) => ({ ...raise, replaced: Math.min(raise.level, raise.replaced) })),
    },
    { requiredKeys: ["epoch", "through", "endsAmnesia", "ensembleId", "config", "committedConfig"] },
  ),
  "ack-new-leader": fc.record({ epoch: number, through: zxid }),
  "up-to-date": fc.record({ epoch: number, committed: zxid }),
  ack: fc.record({ epoch: number, durable: zxid, check: number }),
  commit: fc.record({ epoch: number, committed: zxid }),
  ping: fc.record({ epoch: number, check: number, committed: zxid, lacksRoom: flag }),
  pong: fc.record(
    {
      epoch: number,
      check: number,
      applied: zxid,
      room: fc.constantFrom("enough", "low", "full"),
      touches: fc.array(fc.record({ sessionHigh: int, sessionLow: int, timeoutMs: number })),
      standby: fc.tuple(named, flag).map(([state, isTaken]) => ({ ...state, isTaken })),
    },
    { requiredKeys: ["epoch", "check", "applied", "room", "touches"] },
  ),
  "leadership-transfer": fc.record({ epoch: number, successor: sid }),
  refuse: fc.record({ reason: fc.constantFrom("not-leading", "epoch-low", "diverged", "unable", "level"), text }),
  identities: fc.record({ client: number, identities: fc.array(fc.record({ scheme: text, id: text })) }),
  forward,
  "open-session": fc.record(session),
  revalidate: fc.record(session),
  revalidated: fc.record({ sequence: number, isValid: flag }),
  sync: fc.record({ sequence: number }),
  "sync-reply": fc.record({ sequence: number, readAt: zxid }),
  "relay-to": fc.record({ leader: sid }),
  "relay-ready": fc.record({}),
  "relay-open": fc.record({ channel: number, sid }),
  "relay-close": fc.record({ channel: number, text }),
  "relay-bytes": fc
    .record({ channel: number, bytes, start: fc.nat(9) })
    .map((part) => ({ ...part, start: Math.min(part.start, part.bytes.length), end: part.bytes.length })),
  "relay-run": fc.record({
    channel: number,
    epoch: number,
    previous: zxid,
    first: zxid,
    last: zxid,
    count: number,
    committed: zxid,
    check: number,
  }),
};

const KINDS: readonly Kind[] = Object.keys(FIELDS) as Kind[];

function messageOf(kind: Kind): fc.Arbitrary<EnvelopeMessage> {
  return FIELDS[kind].map((fields) => ({ kind, ...fields }) as EnvelopeMessage);
}

const anyMessage: fc.Arbitrary<EnvelopeMessage> = fc.constantFrom(...KINDS).chain(messageOf);

/** A message to be compared: bytes as text, and what it points to in place of where that lies. */
function content(message: EnvelopeMessage): object {
  const plain = Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, value instanceof Uint8Array ? hex(value) : value]),
  );
  if (!("start" in message)) return plain;
  return { ...plain, start: 0, end: 0, bytes: hex(message.bytes.subarray(message.start, message.end)) };
}

/** The same message with 4000 bytes in each field of bytes, but for runs, which have an end. */
function withLongBytes(message: EnvelopeMessage): EnvelopeMessage {
  if ("end" in message) return message;
  const fields = Object.entries(message);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, value instanceof Uint8Array ? new Uint8Array(4000).fill(7) : value]),
  ) as unknown as EnvelopeMessage;
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString("hex");
}

const schema = protobuf.loadSync(fileURLToPath(new URL("./peer.proto", import.meta.url)));
const Envelope = schema.lookupType("zooid.Envelope");

function encode(message: EnvelopeMessage): Buffer {
  const target = Buffer.alloc(envelopeBytesMax(message) + 3, 0xa5);
  const end = new EnvelopeWriter().write(target, 3, message);
  return target.subarray(3, end);
}

const decode = (bytes: Uint8Array): EnvelopeMessage => decodeEnvelope(bytes, 0, bytes.length);

describe.each(KINDS)("%s", (kind) => {
  test("is read unchanged, and keeps within the room that it asks for", () => {
    fc.assert(
      fc.property(messageOf(kind), (message) => {
        const bytes = encode(message);
        expect(bytes.length).toBeLessThanOrEqual(envelopeBytesMax(message));
        expect(content(decode(bytes))).toEqual(content(message));
      }),
    );
  });

  test("has room for long values in all of its fields of bytes", () => {
    fc.assert(
      fc.property(messageOf(kind), (message) => {
        const long = withLongBytes(message);
        const written = Buffer.alloc(envelopeBytesMax(long));
        const end = new EnvelopeWriter().write(written, 0, long);
        expect(content(decode(written.subarray(0, end)))).toEqual(content(long));
      }),
    );
  });

  test("is understood by any protobuf reader, and read from any protobuf writer", () => {
    fc.assert(
      fc.property(messageOf(kind), (message) => {
        const read = Envelope.decode(encode(message));
        // What the schema does not know, and what is of another type there, is lost on this way.
        const again = Envelope.encode(
          Envelope.fromObject(Envelope.toObject(read, { longs: String, bytes: String })),
        ).finish();
        expect(content(decode(again))).toEqual(content(message));
      }),
    );
  });
});

describe("the numbers of fields and enums are the schema's", () => {
  const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const WIRE_TYPES: Readonly<Record<string, number>> = { fixed64: 1, bytes: 2 };

  test.each([
    ["Entries", fields.EntriesTag],
    ["Forward", fields.ForwardTag],
    ["Ack", fields.AckTag],
    ["Commit", fields.CommitTag],
  ])("%s", (type, table) => {
    const expected = schema
      .lookupType(`zooid.${type}`)
      .fieldsArray.map((field) => [camel(field.name), (field.id << 3) | (WIRE_TYPES[field.type] ?? 0)]);
    expect(Object.entries(table)).toEqual(expected);
  });

  test("the members of an envelope: each is read by hand or has a record", () => {
    const records = Object.values(RECORDS).map(({ member }) => member);
    const tags = { ...fields.EnvelopeTag, ...Object.fromEntries(KINDS.map(recordTag)) };
    const members = Envelope.fieldsArray.map((field): [string, number] => [camel(field.name), (field.id << 3) | 2]);
    expect(tags).toEqual(Object.fromEntries(members));
    expect([...records, ...Object.keys(fields.EnvelopeTag)].sort()).toEqual(members.map(([name]) => name).sort());
  });

  test("each has its place in the table of feature levels", () => {
    const members = FEATURE_LEVELS.flatMap(({ messages }) => messages.map(camel));
    expect(members.sort()).toEqual(Envelope.fieldsArray.map(({ name }) => camel(name)).sort());
  });

  function recordTag(kind: Kind): readonly [string, number] {
    return kind in RECORDS
      ? [RECORDS[kind as RecordKind].member, TAGS[kind as RecordKind]]
      : [kind, fields.EnvelopeTag[kind as HotKind]];
  }

  test.each([
    ["Purpose", PURPOSES],
    ["LinkReason", LINK_REASONS],
    ["Role", ROLES],
    ["Mode", MODES],
    ["DiskRoom", ROOMS],
    ["Reason", REASONS],
  ] as const)("%s", (name, values: readonly string[]) => {
    const expected = Object.entries(schema.lookupEnum(`zooid.${name}`).values);
    expect(values.map((value, number) => [value.toUpperCase().replace("-", "_"), number])).toEqual(expected);
  });
});

test("generated code reads and writes by methods of ours alone, which are bounded and throw WireError", () => {
  const code = readFileSync(new URL("../gen/peer.js", import.meta.url), "utf8");
  const called = (object: string): readonly string[] => {
    const names = Array.from(code.matchAll(new RegExp(`\\b${object}\\.(\\w+)\\(`, "g")), ([, name]) => name ?? "");
    return [...new Set(names)];
  };
  expect(called("reader").length).toBeGreaterThan(5);
  // Unknown fields are what `raw` is for: none is kept, so none is written.
  expect(called("reader").filter((name) => !Object.hasOwn(BoundedReader.prototype, name))).toEqual(["raw"]);
  expect(called("writer").filter((name) => !Object.hasOwn(InPlaceWriter.prototype, name))).toEqual(["raw"]);
  expect(new BoundedReader(new Uint8Array(0), 0, 0, 0).discardUnknown).toBe(true);
});

test("unknown fields of every type are skipped, in messages and in those inside them", () => {
  const unknown = [
    0xf8, 0x07, 0x05, 0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x07, 0x01, 0x61, 0xfd, 0x07, 1, 2, 3, 4,
  ];
  for (const kind of KINDS) {
    fc.assert(
      fc.property(messageOf(kind), (message) => {
        const plain = encode(message);
        // The tag, and a length of four bytes, precede a member.
        const tagBytes = (plain[0] as number) < 0x80 ? 1 : 2;
        const member = [...unknown, ...plain.subarray(tagBytes + 4), ...unknown];
        const longer = Uint8Array.of(...plain.subarray(0, tagBytes), ...varint(member.length), ...member);
        expect(content(decode(longer))).toEqual(content(message));
      }),
      { numRuns: 20 },
    );
  }
  const vote = [0x08, 0x07, ...unknown];
  const notification = [...unknown, 0x1a, vote.length, ...vote];
  expect(decode(Uint8Array.of(0x52, notification.length, ...notification))).toMatchObject({ vote: { leader: 7 } });
});

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function leaderOf(ensembleId: string): EnvelopeMessage {
  return { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId };
}

function featuresOf(count: number): readonly number[] {
  const features = [0x3a, ...varint(count), ...new Array(count).fill(1)];
  return [0x0a, ...varint(features.length), ...features];
}

function identitiesOf(count: number): readonly number[] {
  const identities = new Array(count).fill([0x12, 0x00]).flat();
  return [0x92, 0x03, ...varint(identities.length), ...identities];
}

/** Reads bytes that may be anything; what is read must point into them. */
function readAnything(bytes: Uint8Array): EnvelopeMessage | undefined {
  try {
    const message = decode(bytes);
    if ("start" in message) {
      expect(message.start).toBeLessThanOrEqual(message.end);
      expect(message.end).toBeLessThanOrEqual(message.bytes.length);
    }
    return message;
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    return undefined;
  }
}

test("any bytes are a message or a WireError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      readAnything(bytes);
    }),
    { numRuns: 2000 },
  );
});

test("damaged and cut messages are a message or a WireError", () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(anyMessage, damage, fc.option(fc.nat()), (message, changes, cut) => {
      const bytes = Buffer.from(encode(message));
      for (const [where, value] of changes) if (bytes.length > 0) bytes[where % bytes.length] = value;
      readAnything(cut === null ? bytes : bytes.subarray(0, cut % (bytes.length + 1)));
    }),
    { numRuns: 3000 },
  );
});

describe("refused", () => {
  const valid = encode({ kind: "poll", number: 7 });
  const entries = [0x8a, 0x02];

  test.each<[string, readonly number[], string]>([
    ["nothing", [], "UNKNOWN_TYPE"],
    ["a member that is not known", [0xfa, 0x07, 0x00], "UNKNOWN_TYPE"],
    ["a member of another wire type", [0x58, 0x07], "UNKNOWN_TYPE"],
    ["two members", [...valid, ...valid], "VALUE"],
    ["a member longer than the envelope", [0x5a, 0x05, 0x08, 0x07], "TRUNCATED"],
    ["a length beyond all bounds", [0x5a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], "TRUNCATED"],
    ["a field with the tag 0", [0x5a, 0x02, 0x00, 0x00], "VALUE"],
    ["a server id beyond 254", [0x0a, 0x03, 0x10, 0xff, 0x01], "VALUE"],
    ["feature levels from 3 to 2", [0x0a, 0x04, 0x70, 0x03, 0x78, 0x02], "VALUE"],
    ["a feature level that replaces a higher one", [0x9a, 0x02, 0x06, 0x3a, 0x04, 0x08, 0x01, 0x18, 0x02], "VALUE"],
    ["a version that is no text of one", [0xa2, 0x01, 0x04, 0x82, 0x01, 0x01, 0x20], "VALUE"],
    ["a role that does not exist", [0x52, 0x02, 0x08, 0x04], "VALUE"],
    ["an epoch beyond 2^21", [0x52, 0x09, 0x21, 0, 0, 0, 0, 0, 0, 0x20, 0], "VALUE"],
    ["a tag beyond 32 bits", [0x5a, 0x07, 0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00], "VALUE"],
    ["a number beyond 2^53", [0x5a, 0x09, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10], "VALUE"],
    ["a number of eleven bytes", [0x5a, 0x0c, 0x08, ...new Array(10).fill(0x80), 0x00], "LENGTH"],
    ["a group", [0x5a, 0x02, 0x13, 0x14], "VALUE"],
    ["a text longer than its message", [0x12, 0x03, 0x0a, 0x02, 0x61], "TRUNCATED"],
    ["a message longer than the one that it is in", [0x52, 0x03, 0x1a, 0x02, 0x08], "TRUNCATED"],
    ["a field longer than the message that it is in", [0x52, 0x05, 0x1a, 0x02, 0x11, 0x01, 0x00], "TRUNCATED"],
    ["more features than a message may have", featuresOf(ELEMENTS_MAX + 1), "LENGTH"],
    ["more identities than a message may have", identitiesOf(ELEMENTS_MAX + 1), "LENGTH"],
    ["an ensemble's id of 300 characters", [...encode(leaderOf("x".repeat(300)))], "LENGTH"],
    ["a run shorter than an entry's header", [...entries, 0x03, 0x42, 0x01, 0x00], "TRUNCATED"],
    ["a run that claims entries", [...entries, 0x02, 0x28, 0x01], "LENGTH"],
    ["requests that claim to be more", [0x9a, 0x03, 0x02, 0x08, 0x02], "LENGTH"],
  ])("%s", (_, bytes, code) => {
    expect(() => decode(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ name: "WireError", code }));
  });

  test("as many elements as a message may have are read, and epochs as many as there can be", () => {
    expect(decode(Uint8Array.from(identitiesOf(ELEMENTS_MAX)))).toMatchObject({ kind: "identities" });
    const epochs = new Uint8Array(2 * (ELEMENTS_MAX + 1)).map((_, at) => (at % 2 === 0 ? 0o42 : 0));
    const message = decode(Buffer.concat([Uint8Array.of(0xf2, 0x01, ...varint(epochs.length)), epochs]));
    expect(message.kind === "sync-begin" && message.epochs.length).toBe(ELEMENTS_MAX + 1);
  });

  test("a run of entries with a gap before it, a wrong end, or another order", () => {
    fc.assert(
      fc.property(messageOf("entries"), fc.constantFrom("first", "last", "count", "end"), (message, field) => {
        if (message.kind !== "entries") throw new Error("expected entries");
        const wrong = { ...message, [field]: message[field] - 1 };
        expect(() => decode(encode(wrong))).toThrow(WireError);
      }),
    );
  });
});

test.each(["notification", "poll-answer"] as const)("a %s with two long configurations has room for both", (kind) => {
  const configs = { config: new Uint8Array(32_000), nextConfig: new Uint8Array(32_000) };
  const common = { role: "looking", round: 1, number: 1, vote: undefined, selfZxid: 0 as Zxid, selfEpoch: 0 } as const;
  const message = { kind, ...common, ...configs };
  const written = Buffer.alloc(envelopeBytesMax(message));
  expect(new EnvelopeWriter().write(written, 0, message)).toBeGreaterThan(64_000);
});
