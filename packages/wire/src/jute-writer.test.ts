import { expect, test } from "vitest";
import { BufferPool } from "./buffer-pool.ts";
import { JuteWriter } from "./jute-writer.ts";

test("the view shows the bytes, whatever the buffer", () => {
  const writer = new JuteWriter(new BufferPool());
  for (const size of [4, 5000, 100_000, 3_000_000]) {
    writer.reserve(size);
    writer.view.setInt32(0, size);
    expect(writer.bytes.readInt32BE(0)).toBe(size);
    writer.end = size;
  }
});

test("what grows keeps its content, and the next turn begins with as much room as the last one took", () => {
  const pool = new BufferPool();
  const writer = new JuteWriter(pool);
  const chunk = Buffer.alloc(700, 7);
  for (let i = 0; i < 30; i++) writer.raw(chunk, 0, chunk.length);
  const { end } = writer;
  const first = writer.detach();
  expect(first.bytes.subarray(0, end)).toEqual(Buffer.alloc(21_000, 7));
  pool.giveWritten(first);
  writer.raw(chunk, 0, 1);
  expect(writer.bytes).toBe(first.bytes);
  writer.clear();
  // A connection with one large reply does not keep that buffer.
  for (let i = 0; i < 2; i++) {
    writer.raw(chunk, 0, 1);
    pool.giveWritten(writer.detach());
  }
  writer.raw(chunk, 0, 1);
  expect(writer.bytes.length).toBe(1024);
});
