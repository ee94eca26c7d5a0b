import { join } from "node:path";
import { listArchive } from "@zooid/txn-log/sqlite";
import { expect, test } from "vitest";
import { ArchivedHistory } from "../testing/archived-history.ts";

// The others are in restore-history.slow.test.ts.

test("a moment since the first base can be restored, through a restart of the server", async () => {
  await using history = await ArchivedHistory.make();
  const moments = await history.write(2);
  expect(listArchive(join(history.archive, "log"))).toHaveLength(2);
  const [moment, last] = moments.slice(-2);
  if (moment === undefined || last === undefined) expect.unreachable("there are six moments");
  await history.expectRestored(moment, last.zxid);
});
