import type { BackupStatus } from "@zooid/backup";
import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { backupFault, backupMetrics } from "./backup-health.ts";
import type { ReplayStatus } from "./replay-checks.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 1000 * HOUR_MS;
const STATUS: BackupStatus = {
  target: "/b",
  isHolder: true,
  holder: "server 1",
  fault: undefined,
  end: undefined,
  base: undefined,
  passedMs: NOW_MS - 1000,
  baseTakenMs: NOW_MS - HOUR_MS,
  verifiedMs: NOW_MS - HOUR_MS,
  gapCount: 0,
  askedCount: 0,
  doneCount: 0,
};

const NOT_REPLAYED: ReplayStatus = { replayedMs: undefined, differs: undefined };
const DIFFERS = {
  kind: "differs",
  from: composeZxid(1, 2),
  to: composeZxid(1, 9),
  at: composeZxid(1, 5),
  found: "x",
} as const;

test("a base that is not what the one before it leads to is a fault", () => {
  const age = { status: STATUS, baseEveryMs: HOUR_MS, sinceMs: 0 };
  expect(backupFault(age, { replayedMs: NOW_MS, differs: DIFFERS }, NOW_MS)).toBe(
    "the backup in /b does not lead from its base at 0x100000002 to the one at 0x100000009: x",
  );
});

test.each<readonly [what: string, status: Partial<BackupStatus>, sinceMs: number, fault: string | undefined]>([
  ["all is recent", {}, 0, undefined],
  ["the last pass is 15 minutes old", { passedMs: NOW_MS - 900_000 }, 0, undefined],
  ["it is older", { passedMs: NOW_MS - 960_000 }, 0, "the backup in /b was not continued for 16 minutes"],
  [
    "it fails",
    { passedMs: NOW_MS - HOUR_MS, fault: "no room" },
    0,
    "the backup in /b was not continued for 60 minutes: no room",
  ],
  ["there was none since a start", { passedMs: undefined, baseTakenMs: undefined }, NOW_MS - 60_000, undefined],
  [
    "there was none since an earlier start",
    { passedMs: undefined },
    NOW_MS - HOUR_MS,
    "the backup in /b was not continued for 60 minutes",
  ],
  [
    "the server starts with an old backup",
    { passedMs: NOW_MS - 48 * HOUR_MS, baseTakenMs: NOW_MS - 48 * HOUR_MS },
    NOW_MS - 60_000,
    undefined,
  ],
  ["a base is late", { baseTakenMs: NOW_MS - 5 * HOUR_MS }, 0, undefined],
  [
    "a base is later",
    { baseTakenMs: NOW_MS - 6 * HOUR_MS },
    0,
    "the last whole state in the backup /b is 360 minutes old",
  ],
])("where %s, the fault is %j", (_, status, sinceMs, fault) => {
  const age = { status: { ...STATUS, ...status }, baseEveryMs: 2.5 * HOUR_MS, sinceMs };
  expect(backupFault(age, NOT_REPLAYED, NOW_MS)).toBe(fault);
});

test("metrics have ages in seconds, and none of what was not yet", () => {
  const metrics = (status: BackupStatus, replay: ReplayStatus = NOT_REPLAYED) =>
    Object.fromEntries(
      [...backupMetrics(status, replay, NOW_MS)].map((metric) => [metric.name, "value" in metric && metric.value]),
    );
  expect(metrics(STATUS)).toEqual({
    zooid_backup_uploading: 1,
    zooid_backup_failing: 0,
    zooid_backup_gaps_total: 0,
    zooid_backup_age_seconds: 1,
    zooid_backup_base_age_seconds: 3600,
    zooid_backup_verified_age_seconds: 3600,
    zooid_backup_replay_differs: 0,
  });
  const none = { passedMs: undefined, baseTakenMs: undefined, verifiedMs: undefined };
  expect(metrics({ ...STATUS, ...none, isHolder: undefined, fault: "x", gapCount: 2 })).toEqual({
    zooid_backup_uploading: 0,
    zooid_backup_failing: 1,
    zooid_backup_gaps_total: 2,
    zooid_backup_replay_differs: 0,
  });
  expect(metrics(STATUS, { replayedMs: NOW_MS - 60_000, differs: DIFFERS })).toMatchObject({
    zooid_backup_replay_differs: 1,
    zooid_backup_replayed_age_seconds: 60,
  });
});
