import { expect, test } from "vitest";
import { Z } from "../testing/append-batches.ts";
import { formatSegmentName, isLogFile, listSegments, parseSegmentName } from "./segment-name.ts";

test("a name is read back unchanged", () => {
  const name = { sequence: 12, after: Z(3, 0xa41) };
  expect(formatSegmentName(name)).toBe("log-00000012-0000000300000a41.db");
  expect(parseSegmentName(formatSegmentName(name))).toEqual(name);
});

test("segments are listed by sequence, and no other file is taken for one", () => {
  const second = formatSegmentName({ sequence: 2, after: Z(1, 9) });
  const tenth = formatSegmentName({ sequence: 10, after: Z(1, 5) });
  const files = [tenth, `${tenth}-wal`, "log.db", "spare.db", second, `${second}-shm`, "log-2-5.db"];
  expect(listSegments(files).map(({ sequence }) => sequence)).toEqual([2, 10]);
});

test("files of the log are distinguished from those of the state, with their WALs and half-made files", () => {
  const segment = formatSegmentName({ sequence: 2, after: Z(1, 9) });
  const files = [
    "log.db",
    "log.db-wal",
    "log.db.new",
    segment,
    `${segment}-shm`,
    "spare.db-wal",
    "spare.wal",
    "stage.db",
  ];
  expect(files.filter((file) => !isLogFile(file))).toEqual([]);
  expect(["state-1.db", "witness", "zooid.lock", "zookeeper_audit.log"].filter(isLogFile)).toEqual([]);
});
