import { crc32 } from "node:zlib";
import { FRAME_HEADER_BYTES, frameLength, frameZxid, writeFrameHeader, type Zxid } from "@zooid/model";
import { BufferPool } from "@zooid/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { PEER_FRAME_HEADER_BYTES, PeerFrameReader, PeerFrameWriter, peerFrameBytesMax } from "./peer-frames.ts";
import { FORWARD_HEADER_BYTES, forwardLength } from "./peer-runs.ts";

const LIMIT = 4096;

function writer(frameBytesMax = LIMIT): PeerFrameWriter {
  return new PeerFrameWriter({ pool: new BufferPool(), crc32, frameBytesMax });
}

function taken(from: PeerFrameWriter): Buffer {
  const chunks: Buffer[] = [];
  from.take(({ buffer, end }) => chunks.push(buffer.subarray(0, end)));
  return Buffer.concat(chunks);
}

function framesOf(...messages: EnvelopeMessage[]): Buffer {
  const one = writer();
  for (const message of messages) one.append(message);
  return taken(one);
}

/** Reads everything in pieces of these sizes, over and over. */
function read(bytes: Buffer, sizes: readonly number[] = [], frameBytesMax = LIMIT): EnvelopeMessage[] {
  const reader = new PeerFrameReader({ crc32, frameBytesMax });
  const messages: EnvelopeMessage[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = Math.min(bytes.length, at + (sizes[i % sizes.length] ?? bytes.length));
    reader.push(Buffer.from(bytes.subarray(at, end)), (message) => {
      // What a message points to may be used again, except for entries.
      const isKept = message.kind === "entries" || !("start" in message);
      messages.push(isKept ? message : { ...message, ...copied(message) });
      return true;
    });
    at = end;
  }
  return messages;
}

function copied({ bytes, start, end }: { bytes: Uint8Array; start: number; end: number }) {
  return { bytes: Uint8Array.from(bytes.subarray(start, end)), start: 0, end: end - start };
}

function entries(first: number, sizes: readonly number[]): Extract<EnvelopeMessage, { kind: "entries" }> {
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + FRAME_HEADER_BYTES + size, 0));
  let at = 0;
  for (const [index, size] of sizes.entries()) {
    writeFrameHeader(bytes, at, (first + index) as Zxid, size);
    bytes.fill(first + index, at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + size);
    at += FRAME_HEADER_BYTES + size;
  }
  return {
    kind: "entries",
    epoch: 3,
    previous: (first - 1) as Zxid,
    first: first as Zxid,
    count: sizes.length,
    last: (first + sizes.length - 1) as Zxid,
    bytes,
    start: 0,
    end: bytes.length,
    committed: 5 as Zxid,
    check: 9,
  };
}

/** Each entry's zxid, length and first byte. */
function listed(message: EnvelopeMessage): string[] {
  if (message.kind !== "entries") return [message.kind];
  const list: string[] = [];
  for (let at = message.start; at < message.end; at += FRAME_HEADER_BYTES + frameLength(message.bytes, at)) {
    const length = frameLength(message.bytes, at);
    const filling = length === 0 ? "" : message.bytes[at + FRAME_HEADER_BYTES];
    list.push(`${frameZxid(message.bytes, at)}:${length}:${filling}`);
  }
  return list;
}

const ping: EnvelopeMessage = { kind: "ping", epoch: 1, check: 2, committed: 3 as Zxid, lacksRoom: false };
const beat = (sequence: number): EnvelopeMessage => ({ kind: "heartbeat", sequence, isEcho: false, wallMs: 0 });

test("what is gathered comes out once, in order", () => {
  const one = writer();
  one.append(ping);
  one.append(beat(1));
  const { pendingBytes } = one;
  const bytes = taken(one);
  expect(bytes.length).toBe(pendingBytes);
  expect(read(bytes)).toEqual([ping, beat(1)]);
  expect([one.pendingBytes, taken(one).length]).toEqual([0, 0]);
});

test("messages survive any chunking of the stream, and entries may be kept", () => {
  const messages = fc.array(
    fc.oneof(
      fc.integer({ min: 0, max: 1000 }).map(beat),
      fc
        .tuple(fc.integer({ min: 1, max: 200 }), fc.array(fc.nat(300), { minLength: 1, maxLength: 5 }))
        .map(([first, sizes]) => entries(first, sizes)),
    ),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(
      messages,
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }),
      (list, sizes) => {
        const found = read(framesOf(...list), sizes);
        expect(found.map(listed)).toEqual(list.map(listed));
        expect(found.filter(({ kind }) => kind === "heartbeat")).toEqual(
          list.filter(({ kind }) => kind === "heartbeat"),
        );
      },
    ),
  );
});

describe("a run that no frame can hold", () => {
  test("of entries goes out as several that join without a gap", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1500), { minLength: 1, maxLength: 30 }), (sizes) => {
        const whole = entries(100, sizes);
        const parts = read(framesOf(whole));
        expect(parts.flatMap(listed)).toEqual(listed(whole));
        let previous: number = whole.previous;
        for (const part of parts) {
          if (part.kind !== "entries") throw new Error(`expected entries, found ${part.kind}`);
          expect(part).toMatchObject({ previous, epoch: 3, committed: 5, check: 9, count: listed(part).length });
          previous = part.last;
        }
        expect(previous).toBe(whole.last);
      }),
    );
  });

  test("of requests as well", () => {
    const size = FORWARD_HEADER_BYTES + 1000;
    const bytes = new Uint8Array(size * 9);
    for (let i = 0; i < 9; i++) {
      const view = new DataView(bytes.buffer, i * size);
      view.setFloat64(0, i);
      view.setUint32(20, 1000);
    }
    const parts = read(framesOf({ kind: "forward", count: 9, bytes, start: 0, end: bytes.length }));
    const sequences = parts.flatMap((part) => {
      if (part.kind !== "forward") throw new Error(`expected requests, found ${part.kind}`);
      const list: number[] = [];
      for (let at = part.start; at < part.end; at += FORWARD_HEADER_BYTES + forwardLength(part.bytes, at)) {
        list.push(new DataView(part.bytes.buffer, part.bytes.byteOffset + at).getFloat64(0));
      }
      return list;
    });
    expect(sequences).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(parts.length).toBe(3);
  });

  test("is refused whole when one entry alone is too long", () => {
    const one = writer();
    one.append(ping);
    expect(() => one.append(entries(1, [10, LIMIT, 10]))).toThrow(expect.objectContaining({ code: "FRAME_SIZE" }));
    expect(read(taken(one))).toEqual([ping]);
  });
});

test("a message that is too long and cannot be split is refused, and nothing of it goes out", () => {
  const one = writer();
  expect(() => one.append({ kind: "refuse", reason: "unable", text: "x".repeat(LIMIT) })).toThrow(
    expect.objectContaining({ code: "FRAME_SIZE" }),
  );
  one.append(ping);
  expect(read(taken(one))).toEqual([ping]);
});

describe("refused", () => {
  const frame = framesOf(ping);

  test("a frame longer than the limit, by its first eight bytes", () => {
    const reader = new PeerFrameReader({ crc32, frameBytesMax: 100 });
    const header = Buffer.alloc(PEER_FRAME_HEADER_BYTES);
    header.writeUInt32BE(101);
    expect(() => reader.push(header, () => true)).toThrow(expect.objectContaining({ code: "FRAME_SIZE" }));
  });

  test("an empty frame", () => {
    expect(() => read(Buffer.alloc(8))).toThrow(expect.objectContaining({ code: "FRAME_SIZE" }));
  });

  test("a frame with any one bit changed", () => {
    for (let bit = 0; bit < frame.length * 8; bit++) {
      const bytes = Buffer.from(frame);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      let messages: EnvelopeMessage[] = [];
      try {
        messages = read(bytes);
      } catch (error) {
        expect(error).toMatchObject({ name: "WireError" });
      }
      // A longer length waits for more.
      expect(messages).toEqual([]);
    }
  });
});

test("after a false nothing more is handed on", () => {
  const reader = new PeerFrameReader({ crc32, frameBytesMax: LIMIT });
  const found: EnvelopeMessage[] = [];
  const sink = (message: EnvelopeMessage): boolean => {
    found.push(message);
    return false;
  };
  reader.push(framesOf(beat(1), beat(2)), sink);
  reader.push(framesOf(beat(3)), sink);
  expect(found).toEqual([beat(1)]);
});

test("the limit may be raised between two messages of one chunk", () => {
  const reader = new PeerFrameReader({ crc32, frameBytesMax: 100 });
  let count = 0;
  reader.push(framesOf(ping, entries(1, [500])), () => {
    reader.frameBytesMax = LIMIT;
    count++;
    return true;
  });
  expect(count).toBe(2);
});

test("the limit leaves room for entries that grow before they are logged, and for the end of a session with very many ephemerals", () => {
  expect(peerFrameBytesMax(0xf_ffff)).toBe(64 * 1024 * 1024 + 65_536);
  expect(peerFrameBytesMax(64 * 1024 * 1024)).toBe(128 * 1024 * 1024 + 65_536);
});
