import type { BackupEvent } from "@zooid/backup";
import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { reportBackup } from "./backup-reports.ts";

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
  const lines: string[] = [];
  const at =
    (level: string) =>
    (text: string, fields: { readonly event?: string }): unknown =>
      lines.push(`${level} ${fields.event}: ${text}`);
  reportBackup(event, "/b", { error: at("error"), warn: at("warn"), info: at("info") });
  expect(lines).toEqual([line]);
});
