import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SealedSegment } from "../segments/sealed-segment.ts";
import { StoreError } from "../store/store-error.ts";
import { Z } from "../testing/append-batches.ts";
import { readSegments, SegmentHistory } from "../testing/segment-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { Chain } from "./chain.ts";
import type { LogPosition } from "./txn-log.ts";

let place: TemporaryDirectory;
let history: SegmentHistory;

/** Three segments of three entries each. */
beforeEach(() => {
  place = new TemporaryDirectory();
  const directory = join(place.path, "data");
  mkdirSync(directory);
  history = new SegmentHistory(directory);
  for (let i = 0; i < 3; i++) {
    if (i > 0) history.roll();
    history.append(3);
  }
});
afterEach(() => {
  history.close();
  place[Symbol.dispose]();
});

/** Writes another end of one sealed segment into the manifest; those of the others are right. */
function changeEnd(sequence: number, change: (end: LogPosition) => LogPosition): void {
  const manifest = history.head.manifest.map(
    (sealed): SealedSegment => (sealed.sequence === sequence ? { ...sealed, end: change(sealed.end) } : sealed),
  );
  history.segment.begin();
  history.segment.writeHead({ ...history.head, manifest }, history.log);
  history.segment.commit();
}

test("segments that end as the manifest says are read to the end", () => {
  changeEnd(1, (end) => end);
  expect(readSegments(history.directory).zxids).toEqual(history.zxids);
});

const other = (chain: Chain): Chain => BigInt.asUintN(64, chain + 1n) as Chain;

test.each<readonly [what: string, change: (end: LogPosition) => LogPosition]>([
  ["another chain", ({ zxid, chain }) => ({ zxid, chain: other(chain) })],
  ["a later zxid", ({ zxid, chain }) => ({ zxid: Z(1, zxid - Z(1, 0) + 1), chain })],
  ["an earlier zxid", ({ zxid, chain }) => ({ zxid: Z(1, zxid - Z(1, 0) - 1), chain })],
])("a sealed segment whose end in the manifest is %s is damaged", (_, change) => {
  for (const sequence of [1, 2]) {
    changeEnd(sequence, change);
    expect(() => readSegments(history.directory)).toThrow(StoreError);
    expect(() => readSegments(history.directory)).toThrow("damaged");
  }
});
