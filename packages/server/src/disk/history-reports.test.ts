import { composeZxid } from "@zooid/model";
import type { ArchiveEvent, ArchiveStatus } from "@zooid/txn-log/sqlite";
import { expect, test } from "vitest";
import { archiveOptionsOf, historyMetrics } from "./history-reports.ts";

const LIMITS = { retainMs: 1000, retainBytes: 0, lagBytesMax: 5, fileMs: 100 };

/** The lines of events, with their levels and names. */
function linesOf(...events: readonly ArchiveEvent[]): readonly string[] {
  const lines: string[] = [];
  const at =
    (level: string) =>
    (text: string, { event }: { readonly event?: string }): unknown =>
      lines.push(`${level} ${event}: ${text}`);
  const options = archiveOptionsOf(LIMITS, "/data", { error: at("error"), warn: at("warn"), info: at("info") });
  for (const event of events) options?.noted(event);
  return lines;
}

test("a line says whether files or a copy of the state cannot be written, and which of them can be again", () => {
  const lines = linesOf(
    { kind: "unable", part: "files", reason: "EACCES" },
    { kind: "unable", part: "base", reason: "ENOSPC" },
    { kind: "able", part: "base" },
    { kind: "able", part: "files" },
    { kind: "gap", after: composeZxid(1, 2), end: composeZxid(1, 9) },
  );
  expect(lines).toEqual([
    "error history-not-written: the history in /data/archive cannot be written: EACCES; the log is kept for it up to zooid.history.lagBytesMax",
    "error history-not-written: no copy of the whole state can be added to the history in /data/archive: ENOSPC; transactions are added to it, and the copy is tried again",
    "info history-written: a copy of the whole state was added to the history in /data/archive again",
    "info history-written: the history in /data/archive is written again",
    "warn history-gap: the history in /data/archive has no entries after 0x100000002 and up to 0x100000009: they were purged from the log before they were archived",
  ]);
});

test.each([
  [undefined, undefined, 0],
  ["EACCES", undefined, 1],
  [undefined, "ENOSPC", 1],
  ["EACCES", "ENOSPC", 1],
])("where files fail by %j and copies by %j the metric is %i", (files, base, expected) => {
  const counts = { files: { count: 1, bytes: 2 }, lagBytes: 0, gapCount: 0 };
  const status: ArchiveStatus = { end: undefined, base: undefined, ...counts, unable: { files, base } };
  expect([...historyMetrics(status)]).toContainEqual({ kind: "gauge", name: "zooid_history_failing", value: expected });
});

test("a history that is kept for no time is none, and no limit of bytes is without a limit", () => {
  const log = { error: () => {}, warn: () => {}, info: () => {} };
  expect(archiveOptionsOf({ ...LIMITS, retainMs: 0 }, "/data", log)).toBeUndefined();
  expect(archiveOptionsOf(LIMITS, "/data", log)).not.toHaveProperty("retainBytes");
  expect(archiveOptionsOf({ ...LIMITS, retainBytes: 7 }, "/data", log)).toMatchObject({ retainBytes: 7 });
});
