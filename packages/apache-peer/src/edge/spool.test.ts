import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SEGMENT_BYTES, Spool } from "./spool.ts";
import { RecordKind, recordsOf } from "./spool-record.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spool-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function body(i: number, length: number): Buffer {
  const bytes = Buffer.alloc(length, i);
  bytes.writeUInt32BE(i);
  return bytes;
}

function numbersIn(batch: Buffer | undefined): readonly number[] {
  return batch === undefined ? [] : [...recordsOf(batch)].map((record) => record.body.readUInt32BE(0));
}

/** Pushes and takes in turn, so that records are in the tail, in memory and in files. */
test.each([0, SEGMENT_BYTES, 100 * SEGMENT_BYTES])(
  "records come back whole and in order, with %i bytes of memory",
  (memoryBytesMax) => {
    const spool = new Spool({ directory: folder, memoryBytesMax });
    const lengths = [4, 1000, 60_000, SEGMENT_BYTES - 5, SEGMENT_BYTES, 3 * SEGMENT_BYTES];
    let [pushed, bytes] = [0, 0];
    const found: number[] = [];
    for (let round = 1; round <= 5; round++) {
      for (let i = 0; i < 5 * round; i++) {
        const length = lengths[(pushed * 7) % lengths.length] ?? 4;
        spool.push(RecordKind.TRANSACTION, body(pushed++, length));
        bytes += length + 5;
      }
      for (let i = 0; i < 2 * round; i++) {
        const batch = spool.take();
        bytes -= batch?.length ?? 0;
        found.push(...numbersIn(batch));
      }
      expect(spool.bytes).toBe(bytes);
    }
    for (let batch = spool.take(); batch !== undefined; batch = spool.take()) found.push(...numbersIn(batch));
    expect(found).toEqual(Array.from({ length: pushed }, (_, i) => i));
    expect(spool.bytes).toBe(0);
    spool.close();
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("where no file can be written the record is kept, and the next one finds the room", () => {
  const missing = join(folder, "missing");
  const spool = new Spool({ directory: missing, memoryBytesMax: 0 });
  spool.push(RecordKind.TRANSACTION, body(0, SEGMENT_BYTES - 5));
  expect(() => spool.push(RecordKind.TRANSACTION, body(1, 100))).toThrow("ENOENT");
  expect([...numbersIn(spool.take()), ...numbersIn(spool.take())]).toEqual([0, 1]);
});
