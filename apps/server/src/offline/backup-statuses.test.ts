import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BackupError, type BackupErrorDetail } from "@zooid/backup";
import { ConfigError, OfflineError, StoreError } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { exitStatusOf } from "../process/exit-status.ts";
import { InterruptedError } from "./interruptible.ts";

/** The statuses in the table of docs/operations.md for `backup` and `restore`. */
const page = readFileSync(join(import.meta.dirname, "../../../../docs/operations.md"), "utf8");
const [, table = ""] = page.split("| status of `backup` and `restore` | means |\n");
const listed = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (\d+) \|/gm)].map(([, status]) => Number(status));

const TARGET = { target: "/t", reason: "x" };
const REFUSALS: readonly BackupErrorDetail[] = [
  { code: "SETTING", problem: "x" },
  { code: "UNREACHABLE", ...TARGET },
  { code: "ACCESS_DENIED", ...TARGET },
  { code: "NO_TARGET", ...TARGET },
  { code: "FULL", ...TARGET },
  { code: "UNEXPECTED_ANSWER", target: "/t", call: "x", expected: "x", found: "x" },
  { code: "NO_BACKUP", ...TARGET },
];

test("each way in which a backup's commands end is in the table, and each row has one", () => {
  const unreadable = Object.assign(new Error("EACCES"), { code: "EACCES", syscall: "open" });
  const ends = [
    ...REFUSALS.map((detail) => new BackupError(detail)),
    new ConfigError(["x"]),
    new InterruptedError("x"),
    new OfflineError(["x"]),
    new StoreError({ code: "DAMAGED", file: "f", place: "p", found: "x" }),
    new StoreError({ code: "NEWER_FORMAT", file: "f", known: 1, found: 2 }),
    new StoreError({ code: "WRITE_FAILED", file: "f", reason: "EIO" }),
    unreadable,
  ];
  const statuses = new Set([0, ...ends.map((error) => exitStatusOf(error))]);
  expect([...statuses].toSorted((a, b) => a - b)).toEqual(listed);
});
