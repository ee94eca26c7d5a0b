import type { BackupEvent } from "@zooid/backup";
import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { type BackupLog, reportBackup, reportReplay } from "./backup-reports.ts";
import type { ReplayResult } from "./replay-check.ts";

const [FROM, TO] = [composeZxid(1, 2), composeZxid(1, 9)];

test.each<readonly [line: string, event: BackupEvent]>([
  [
    "error backup-failed: the backup is not continued, and is tried again: /b has no room; the history keeps what is missing for zooid.history.retainMs",
    { kind: "failed", reason: "/b has no room" },
  ],
  ["info backup-works: the backup in /b is continued again", { kind: "works" }],
  ["info backup-holder: this server continues the backup in /b", { kind: "holder", holder: "server 1", isOwn: true }],
  ["info backup-holder: server 2 continues the backup in /b", { kind: "holder", holder: "server 2", isOwn: false }],
  [
    "warn backup-gap: the backup in /b has no transactions after 0x100000002 and up to 0x100000009: the history has them no longer",
    { kind: "gap", after: FROM, end: TO },
  ],
  [
    "warn backup-other-history: the backup in /b ends at 0x100000009 with another history than this server's, from before a restore: a new base follows",
    { kind: "other-history", end: TO },
  ],
  [
    "info backup-base: the backup in /b has the whole state at 0x100000009, 7 bytes, which was read back",
    { kind: "base", zxid: TO, bytes: 7 },
  ],
  [
    "error backup-damaged: a file is left out of the backup: it is damaged",
    { kind: "damaged", message: "it is damaged" },
  ],
  [
    "info backup-pruned: 2 files of the backup in /b removed: older than zooid.backup.retainMs",
    { kind: "removed", count: 2 },
  ],
])("%s", (line, event) => {
  expect(linesOf((log) => reportBackup(event, "/b", log))).toEqual([line]);
});

test.each<readonly [line: string, result: ReplayResult]>([
  [
    "info backup-replayed: the backup in /b leads from its base at 0x100000002 to the one at 0x100000009 by 7 transactions: digests are equal",
    { kind: "equal", from: FROM, to: TO, entryCount: 7 },
  ],
  [
    "error backup-differs: the backup in /b does not lead from its base at 0x100000002 to the one at 0x100000009; at 0x100000002: x. Moments between them may be restored wrongly: zooid-server backup verify names damaged files",
    { kind: "differs", from: FROM, to: TO, at: FROM, found: "x" },
  ],
  [
    "info backup-not-replayed: the last base of the backup in /b was not compared with the one before it: x",
    { kind: "skipped", reason: "x" },
  ],
])("%s", (line, result) => {
  expect(linesOf((log) => reportReplay(result, "/b", log))).toEqual([line]);
});

function linesOf(report: (log: BackupLog) => void): readonly string[] {
  const lines: string[] = [];
  const at =
    (level: string) =>
    (text: string, fields: { readonly event?: string }): unknown =>
      lines.push(`${level} ${fields.event}: ${text}`);
  report({ error: at("error"), warn: at("warn"), info: at("info") });
  return lines;
}
