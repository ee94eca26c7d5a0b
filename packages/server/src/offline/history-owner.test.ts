import { truncateSync } from "node:fs";
import { join } from "node:path";
import { listArchive } from "@zooid/txn-log/sqlite";
import { ARCHIVE_START, baseOf, fileBehind, rewriteFooter } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { expect, test } from "vitest";
import { historyOwner } from "./history-owner.ts";
import { planRestore } from "./restore-plan.ts";

test("the owner is in the newest file that can be read, whatever is damaged behind it", async () => {
  using place = new TemporaryDirectory();
  const archive = join(place.path, "archive");
  await baseOf(archive, ARCHIVE_START, 0);
  const second = fileBehind(archive, ARCHIVE_START, [1000]);
  fileBehind(archive, fileBehind(archive, second, [2000]), [3000]);
  const files = listArchive(join(archive, "log")).map(({ file }) => file);
  for (const [i, file] of files.entries()) rewriteFooter(file, () => ({ ensembleId: `e${i}` }));
  const owner = (): string => historyOwner(archive, planRestore(archive, { zxid: second.zxid })).ensembleId;
  expect(owner()).toBe("e2");
  for (const [i, expected] of [
    [2, "e1"],
    [1, "e0"],
  ] as const) {
    truncateSync(files[i] ?? "", 30);
    expect(owner()).toBe(expected);
  }
  expect(historyOwner(archive, planRestore(archive, { zxid: second.zxid })).members).toEqual([]);
});
