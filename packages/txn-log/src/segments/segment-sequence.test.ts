import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newFullError } from "../disk/database.ts";
import { bootLog, newDurableLog } from "../log/log-boot.ts";
import { Z } from "../testing/append-batches.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { ReaderLeases } from "./reader-leases.ts";
import type { SegmentFile } from "./segment-file.ts";
import { parseSegmentName } from "./segment-name.ts";
import { SegmentSequence } from "./segment-sequence.ts";

let place: TemporaryDirectory;
let directory: string;
let segments: SegmentSequence;
const log = bootLog(newDurableLog({ sid: 1 }), false);

beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
  segments = new SegmentSequence(directory, new ReaderLeases());
  segments.begin({ after: log.tail, commitHint: Z(0, 0), manifest: [] }, log);
});
afterEach(() => {
  segments.close();
  place[Symbol.dispose]();
});

/** @returns `begun`, the obstacle's message, or `thrown` and the message */
function beginNext(fill: (segment: SegmentFile) => void): string {
  const manifest = segments.sealedAt({ ...log.tail, zxid: Z(1, 1) }, 0);
  try {
    const start = { after: { ...log.tail, zxid: Z(1, 1) }, commitHint: Z(0, 0), manifest };
    const obstacle = segments.tryBegin(start, log, fill);
    return obstacle === undefined ? "begun" : String((obstacle.cause as Error).message);
  } catch (error) {
    return `thrown: ${(error as Error).message}`;
  }
}

const filesOf = (sequence: number): readonly string[] =>
  readdirSync(directory).filter((name) => parseSegmentName(name)?.sequence === sequence);

test.each([
  ["a full disk", newFullError()],
  ["a defect", new Error("a defect")],
])("%s before the commit of a new segment leaves the segment before as it is", (_, error) => {
  const found = beginNext(() => {
    throw error;
  });
  expect(found).toBe(error.message);
  expect([filesOf(2), segments.head.sequence]).toEqual([[], 1]);
  expect(beginNext(() => {})).toBe("begun");
  expect(segments.head.sequence).toBe(2);
});

test("a commit of a new segment that fails otherwise than for room ends the log, and the segment stays on the disk", () => {
  // Then COMMIT fails, and what is on the disk is not known.
  expect(beginNext((segment) => segment.rollback())).toMatch(/^thrown: .*no transaction/);
  expect([filesOf(2).length, segments.head.sequence]).toEqual([1, 1]);
});
