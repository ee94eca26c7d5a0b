import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApacheType, apacheLog, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { expect, test } from "vitest";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { apacheLogEntries } from "./apache-log.ts";

const ENTRIES = [1n, 2n, 3n].map((zxid) =>
  transaction({ zxid, type: ApacheType.DELETE, record: recordOf.delete(`/${"a".repeat(Number(zxid) * 10)}`) }),
);
/** The header, two entries and their frames. */
const THIRD_AT = 16 + 2 * 13 + (ENTRIES[0]?.length ?? 0) + (ENTRIES[1]?.length ?? 0);

/** The entries of a file, and the place where no whole entry begins. */
function readOf(bytes: Uint8Array): { readonly entries: readonly Buffer[]; readonly end: number | undefined } {
  using directory = new TemporaryDirectory();
  const file = join(directory.path, "log.1");
  writeFileSync(file, bytes);
  const entries: Buffer[] = [];
  const source = apacheLogEntries(file);
  for (;;) {
    const next = source.next();
    if (next.done === true) return { entries, end: next.value };
    entries.push(next.value);
  }
}

test.each([0, 1, 5, 100, 3_000_000])("entries are read up to %i zeros of padding", (padding) => {
  expect(readOf(apacheLog(ENTRIES, padding))).toEqual({ entries: ENTRIES, end: undefined });
});

test("an entry is read that is longer than a piece", () => {
  const long = transaction({ zxid: 1n, type: ApacheType.DELETE, record: recordOf.delete("a".repeat(3_000_000)) });
  expect(readOf(apacheLog([long, ...ENTRIES])).entries).toEqual([long, ...ENTRIES]);
});

test.each([0, 3, 15])("a file of %i bytes, whose header was not written, has none", (length) => {
  expect(readOf(apacheLog([]).subarray(0, length))).toEqual({ entries: [], end: undefined });
});

test("a file of zeros has none", () => {
  expect(readOf(Buffer.alloc(100))).toEqual({ entries: [], end: undefined });
});

test("an entry that is cut off ends the log wherever the cut is", () => {
  const whole = apacheLog(ENTRIES, 0);
  // Its first bytes are zeros.
  for (let length = THIRD_AT + 8; length < whole.length; length++) {
    expect(readOf(whole.subarray(0, length))).toEqual({ entries: ENTRIES.slice(0, 2), end: THIRD_AT });
  }
});

test("an entry whose end was not written is none", () => {
  const bytes = apacheLog(ENTRIES);
  bytes.fill(0, bytes.length - 105);
  expect(readOf(bytes)).toEqual({ entries: ENTRIES.slice(0, 2), end: THIRD_AT });
});

test("bytes behind the padding are said", () => {
  const bytes = Buffer.concat([apacheLog(ENTRIES), Buffer.of(1)]);
  expect(readOf(bytes)).toEqual({ entries: ENTRIES, end: bytes.length - 101 });
});

test.each<[string, (bytes: Buffer) => void, string]>([
  ["another sum", (bytes) => bytes.writeUInt8(1, THIRD_AT + 20), `the entry at byte ${THIRD_AT}: its sum`],
  ["a negative length", (bytes) => bytes.writeInt32BE(-5, THIRD_AT + 8), "a transaction of -5 bytes"],
  ["another magic number", (bytes) => bytes.write("ZKSN"), "its header: it is no transaction log"],
  ["another version", (bytes) => bytes.writeInt32BE(3, 4), "its header: it is no transaction log"],
])("a log with %s is refused", (_, damage, problem) => {
  const bytes = apacheLog(ENTRIES);
  damage(bytes);
  expect(() => readOf(bytes)).toThrow(problem);
});
