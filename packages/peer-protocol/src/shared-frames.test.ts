import { crc32 } from "node:zlib";
import { FRAME_HEADER_BYTES, writeFrameHeader, type Zxid } from "@zooid/model";
import { BufferPool } from "@zooid/wire";
import { expect, test } from "vitest";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { type FrameChunk, PeerFrameReader, PeerFrameWriter } from "./peer-frames.ts";
import { EntryFrames, returnChunk } from "./shared-frames.ts";

const LIMIT = 1024 * 1024;

type Entries = Extract<EnvelopeMessage, { kind: "entries" }>;

function entry(zxid: number, bytes: number, check = 1): Entries {
  const run = new Uint8Array(FRAME_HEADER_BYTES + bytes).fill(zxid);
  writeFrameHeader(run, 0, zxid as Zxid, bytes);
  const [previous, own] = [(zxid - 1) as Zxid, zxid as Zxid];
  return {
    kind: "entries",
    epoch: 1,
    previous,
    first: own,
    last: own,
    count: 1,
    committed: previous,
    check,
    bytes: run,
    start: 0,
    end: run.length,
  };
}

function start(limits: readonly number[]) {
  const pool = new BufferPool();
  const frames = new EntryFrames({ pool, crc32, frameBytesMax: LIMIT });
  const writers = limits.map((frameBytesMax) => new PeerFrameWriter({ pool, crc32, frameBytesMax }));
  return { pool, frames, writers };
}

function taken(writer: PeerFrameWriter): FrameChunk[] {
  const chunks: FrameChunk[] = [];
  writer.take((chunk) => chunks.push(chunk));
  return chunks;
}

function listed(chunks: readonly FrameChunk[]): string[] {
  const list: string[] = [];
  const reader = new PeerFrameReader({ crc32, frameBytesMax: LIMIT });
  for (const { buffer, end } of chunks) {
    reader.push(Buffer.from(buffer.subarray(0, end)), (message) => {
      list.push(message.kind === "entries" ? `${message.first} of ${message.end - message.start} bytes` : message.kind);
      return true;
    });
  }
  return list;
}

test("links with the same entries send one buffer, each in its own order", () => {
  const { frames, writers } = start([LIMIT, LIMIT]);
  const [first, second] = writers as [PeerFrameWriter, PeerFrameWriter];
  first.append({ kind: "commit", epoch: 1, committed: 1 as Zxid });
  for (const writer of writers) expect(writer.appendShared(frames.of(entry(2, 10_000)))).toBe(true);
  second.append({ kind: "commit", epoch: 1, committed: 2 as Zxid });
  const chunks = [taken(first), taken(second)] as const;
  expect(listed(chunks[0])).toEqual(["commit", "2 of 10012 bytes"]);
  expect(listed(chunks[1])).toEqual(["2 of 10012 bytes", "commit"]);
  expect(chunks[0][1]?.buffer).toBe(chunks[1][0]?.buffer);
});

test("what is short is copied behind what a link has to say already", () => {
  const { frames, writers } = start([LIMIT]);
  for (const writer of writers) {
    writer.append({ kind: "commit", epoch: 1, committed: 1 as Zxid });
    writer.appendShared(frames.of(entry(2, 100)));
    writer.appendShared(frames.of(entry(3, 100)));
    const chunks = taken(writer);
    expect(chunks).toHaveLength(1);
    expect(listed(chunks)).toEqual(["commit", "2 of 112 bytes", "3 of 112 bytes"]);
  }
});

test("a message that differs in anything is written again", () => {
  const { frames } = start([]);
  const [chunk] = frames.of(entry(2, 10_000)).chunks;
  expect(frames.of(entry(2, 10_000)).chunks[0]).toBe(chunk);
  expect(frames.of(entry(2, 10_000, 7)).chunks[0]).not.toBe(chunk);
  expect(frames.of({ ...entry(2, 10_000, 7), committed: 0 as Zxid }).chunks[0]).not.toBe(chunk);
});

test("a link that takes only shorter frames gets none of them", () => {
  const { frames, writers } = start([5000]);
  const shared = frames.of(entry(2, 10_000));
  for (const writer of writers) {
    expect(writer.appendShared(shared)).toBe(false);
    expect(writer.pendingBytes).toBe(0);
  }
});

test("a buffer is reused once every link has sent it and no other link will", () => {
  const { pool, frames, writers } = start([LIMIT, LIMIT]);
  for (const writer of writers) writer.appendShared(frames.of(entry(2, 10_000)));
  const [first, second] = writers.map((writer) => taken(writer)[0]);
  if (first === undefined || second === undefined) throw new Error("nothing was gathered");
  const isFree = (): boolean => {
    const buffer = pool.take(first.buffer.length);
    if (buffer !== first.buffer) return false;
    pool.give(buffer);
    return true;
  };
  returnChunk(first, pool);
  expect(isFree()).toBe(false);
  frames.clear();
  expect(isFree()).toBe(false);
  returnChunk(second, pool);
  expect(isFree()).toBe(true);
});
