import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planRestore } from "@zooid/embedded-server";
import { composeZxid } from "@zooid/model";
import { ARCHIVE_START, baseOf, fileBehind } from "@zooid/txn-log/testing/archive-pieces";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExitStatus, exitStatusOf } from "../process/exit-status.ts";
import { history } from "./history.ts";
import { parseOfflineCommand } from "./offline-command.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(...argv: readonly string[]): readonly string[] {
  const command = parseOfflineCommand(["history", folder, ...argv], () => expect.unreachable());
  if (command?.kind !== "history") expect.unreachable("it is a history");
  const lines: string[] = [];
  history(command, { print: (line) => lines.push(line), warn: (line) => lines.push(`! ${line}`) });
  return lines;
}

/** Creates `/1`, `/2` and `/3`. */
function makeArchive(): void {
  fileBehind(join(folder, "archive"), ARCHIVE_START, [1000, 2000, 3000]);
}

test("changes and past nodes are printed from the archive of a data directory", () => {
  makeArchive();
  expect(run("/", "--recursive")).toEqual([
    '0x100000001 1970-01-01T00:00:01.000Z 0x0 CREATE "/1"',
    '0x100000002 1970-01-01T00:00:02.000Z 0x0 CREATE "/2"',
    '0x100000003 1970-01-01T00:00:03.000Z 0x0 CREATE "/3"',
  ]);
  expect(run("/2", "--after", "0x100000001")).toHaveLength(1);
  expect(run("/2", "--at", "1970-01-01T00:00:02.500Z")).toEqual([
    '"/2" at 0x100000002: persistent, null, version 0, aversion 0, ' +
      "created by 0x100000002 at 1970-01-01T00:00:02.000Z, set by 0x100000002 at 1970-01-01T00:00:02.000Z",
  ]);
});

test("a past node is that of the branch that a restore of the moment has", async () => {
  const archive = join(folder, "archive");
  await baseOf(archive, ARCHIVE_START, 500);
  const branching = fileBehind(archive, ARCHIVE_START, [1000, 2000]);
  fileBehind(archive, branching, [3000, 4000]);
  fileBehind(archive, branching, [5000, 6000, 7000]);
  expect(run("/4", "--at", "0x100000004")[0]).toContain("created by 0x100000004 at 1970-01-01T00:00:04.000Z");
  expect(run("/2", "--at", "0x100000004")[0]).toContain("created by 0x100000002 at 1970-01-01T00:00:02.000Z");
  expect(planRestore(archive, { zxid: composeZxid(1, 4) }).files.map(({ end }) => end)).toEqual(
    [2, 4].map((counter) => composeZxid(1, counter)),
  );
});

test("a moment behind the end of the history is refused with the end", () => {
  makeArchive();
  expect(() => run("/2", "--at", "1970-01-01T00:00:03.001Z")).toThrow(
    "the history ends at 0x100000003, at 1970-01-01T00:00:03.000Z, and so earlier than 1970-01-01T00:00:03.001Z",
  );
});

test.each<[string, () => void, readonly string[], ExitStatus]>([
  ["no history", () => {}, ["/1"], ExitStatus.REFUSED],
  ["no path", makeArchive, ["1"], ExitStatus.REFUSED],
  ["no moment of a folder", () => {}, ["/1", "--at", "0x100000001"], ExitStatus.REFUSED],
  ["a moment before the history", makeArchive, ["/1", "--at", "1960-01-01T00:00:00Z"], ExitStatus.REFUSED],
  ["a moment before the node", makeArchive, ["/3", "--at", "0x100000002"], ExitStatus.REFUSED],
  ["a damaged file", damage, ["/1"], ExitStatus.DATA_DAMAGED],
])("%s is refused in a sentence", (_, arrange, argv, status) => {
  arrange();
  let failure: unknown;
  try {
    run(...argv);
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ message: expect.stringMatching(/^[^\n]+$/) });
  expect(exitStatusOf(failure)).toBe(status);
});

function damage(): void {
  const log = join(folder, "archive/log");
  mkdirSync(log, { recursive: true });
  writeFileSync(join(log, "0000000000000000-0000000100000003"), "x".repeat(1000));
}
