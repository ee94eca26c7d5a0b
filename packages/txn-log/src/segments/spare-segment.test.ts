import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Z } from "../testing/append-batches.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { formatSegmentName } from "./segment-name.ts";
import { isRecyclable } from "./spare-segment.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

test.each([
  [undefined, false],
  [0, false],
  [999, false],
  [1000, true],
  [2000, true],
  [2001, false],
  [1_000_000, false],
])("a WAL of %j bytes, where 1000 are asked for, becomes the spare's: %s", (bytes, isTaken) => {
  const old = { sequence: 3, after: Z(1, 5) };
  const wal = join(place.path, `${formatSegmentName(old)}-wal`);
  if (bytes !== undefined) {
    writeFileSync(wal, "");
    truncateSync(wal, bytes);
  }
  expect(isRecyclable(place.path, old, 1000)).toBe(isTaken);
});
