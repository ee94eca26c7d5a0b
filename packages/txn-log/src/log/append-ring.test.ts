import { expect, test } from "vitest";
import { newRingMemory, RecordKind, RingReader, RingWriter } from "./append-ring.ts";

function offer(writer: RingWriter, fill: number, length: number): boolean {
  const bytes = new Uint8Array(length).fill(fill);
  return writer.offer({ kind: RecordKind.APPEND, generation: fill, committed: fill * 2, bytes, start: 0, end: length });
}

test("records come out as they went in, in order, however they wrap around", () => {
  const memory = newRingMemory(1024);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  let written = 0;
  let read = 0;
  for (let round = 0; read < 5000; round++) {
    while (offer(writer, written % 251, (written * 37) % 300)) written++;
    for (let i = 0; i <= round % 3 && reader.next(); i++) {
      expect(reader.generation).toBe(read % 251);
      expect(reader.committed).toBe((read % 251) * 2);
      expect(reader.end - reader.start).toBe((read * 37) % 300);
      expect(reader.bytes.subarray(reader.start, reader.end).every((byte) => byte === read % 251)).toBe(true);
      read++;
      reader.release();
    }
  }
});

test("what was not released is not overwritten", () => {
  const memory = newRingMemory(256);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  while (offer(writer, 1, 16));
  expect(reader.next()).toBe(true);
  expect(offer(writer, 2, 16)).toBe(false);
  reader.release();
  expect(offer(writer, 2, 8)).toBe(true);
});

test("a record larger than half the ring never fits", () => {
  const writer = new RingWriter(newRingMemory(1024));
  expect(writer.fits(400)).toBe(true);
  expect(writer.fits(600)).toBe(false);
});
