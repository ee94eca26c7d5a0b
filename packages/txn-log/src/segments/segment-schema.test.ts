import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../disk/database.ts";
import { openStore } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { readHead } from "./segment-schema.ts";

let place: TemporaryDirectory;
let database: Database;
beforeAll(async () => {
  place = new TemporaryDirectory();
  const directory = join(place.path, "data");
  const options = { directory, sid: 1, handler: new RecordingHandler(), takeEpoch: true };
  {
    await using store = await openStore({ ...options, segmentBytes: 64 * 1024, checkpointBytes: 2 ** 30 });
    for (let batch = 0; batch < 10; batch++) await createNodes(store, batch * 20 + 1, (batch + 1) * 20, 1000);
  }
  database = new Sqlite(join(directory, newestSegment(directory)));
});
afterAll(() => {
  database.close();
  place[Symbol.dispose]();
});

test("the head of a segment names every segment before it", () => {
  const head = readHead(database, "/f");
  expect(head?.sequence).toBeGreaterThan(1);
  expect(head?.manifest).toHaveLength((head?.sequence ?? 0) - 1);
});

const POSITION = ["zxid", "chain_high", "chain_low"];
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  segment: ["sequence", ...POSITION.map((name) => `after_${name}`), "commit_hint", "sum"],
  manifest: [
    "sequence",
    ...["after", "end"].flatMap((at) => POSITION.map((name) => `${at}_${name}`)),
    "bytes",
    "sealed_ms",
  ],
};
const ALL = Object.entries(COLUMNS).flatMap(([table, columns]) => columns.map((column) => [table, column] as const));

test.each(ALL)("a head whose %s has another %s is damaged", (table, column) => {
  database.exec("BEGIN");
  try {
    database.exec(`UPDATE ${table} SET ${column} = ${column} + 1000 WHERE rowid = 1`);
    expect(() => readHead(database, "/f")).toThrow(expect.objectContaining({ code: "DAMAGED" }));
  } finally {
    database.exec("ROLLBACK");
  }
});
