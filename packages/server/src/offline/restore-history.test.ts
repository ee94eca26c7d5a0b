import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { epochOf } from "@zooid/model";
import { listArchive, listBases, readStore } from "@zooid/txn-log/sqlite";
import { expect, test } from "vitest";
import { ArchivedHistory } from "../testing/archived-history.ts";
import { EPOCHS_SKIPPED } from "./recover-member.ts";
import { restoreHistory } from "./restore-history.ts";
import { planRestore } from "./restore-plan.ts";

// The others are in restore-history.slow.test.ts.

test("a moment since the first base can be restored, through a restart of the server", async () => {
  await using history = await ArchivedHistory.make();
  const moments = await history.write(2);
  expect(listArchive(join(history.archive, "log"))).toHaveLength(2);
  const [moment, last] = moments.slice(-2);
  if (moment === undefined || last === undefined) expect.unreachable("there are six moments");
  await history.expectRestored(moment, last.zxid);
  // A base whose manifest is gone.
  const [base] = listBases(join(history.archive, "base"));
  const name = moment.zxid.toString(16).padStart(basename(base?.folder ?? "").length, "0");
  mkdirSync(join(history.archive, "base", name));
  const warnings: string[] = [];
  const { zxid } = await restoreHistory(planRestore(history.archive, moment), {
    directories: { dataDir: join(history.folder, "from-older") },
    command: "restore",
    member: undefined,
    keepsSessions: false,
    warn: (text) => warnings.push(text),
  });
  expect(zxid).toBe(moment.zxid);
  const directory = join(history.folder, "from-older");
  const { log } = readStore({ directory, logDirectory: directory });
  const epoch = epochOf(zxid) + EPOCHS_SKIPPED;
  expect([log?.promise.epoch, log?.currentEpoch]).toEqual([epoch, epoch]);
  expect(warnings).toEqual([expect.stringMatching(`${name}.*is damaged.*an older base and more files are used`)]);
});
