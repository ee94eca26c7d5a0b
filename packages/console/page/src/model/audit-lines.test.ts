import { expect, test } from "vitest";
import type { AuditTailJson } from "../../../src/api/shapes.ts";
import { type AuditLine, advanced, filtered, LINES_KEPT, merged, newTail, pageOf } from "./audit-lines.ts";

const ENTRY = { session: "0x1", user: "alice", address: "10.0.0.1", operation: "setData", result: "success" } as const;

function answer(sid: number, entries: readonly (readonly [number, time: number, path?: string])[]): AuditTailJson {
  return {
    sid,
    since: "100",
    droppedCount: 0,
    entries: entries.map(([number, time, path = "/a"]) => ({
      ...ENTRY,
      number,
      time: String(time),
      path,
      isCut: false,
    })),
  };
}

function shown(lines: readonly AuditLine[]): readonly string[] {
  return lines.map(({ member, number }) => `${member}#${number}`);
}

test("lines of members are in one list by time, and those of one member in its order", () => {
  const [one, two] = [newTail(1, "zk1"), newTail(2, "zk2")];
  const first = merged(
    [],
    one,
    answer(1, [
      [1, 10],
      [2, 30],
      [3, 30],
    ]),
  );
  const both = merged(
    first,
    two,
    answer(2, [
      [1, 20],
      [2, 40],
    ]),
  );
  expect(shown(both)).toEqual(["zk2#2", "zk1#3", "zk1#2", "zk2#1", "zk1#1"]);
  expect(shown(merged(both, one, answer(1, [[4, 30]])))).toEqual([
    "zk2#2",
    "zk1#4",
    "zk1#3",
    "zk1#2",
    "zk2#1",
    "zk1#1",
  ]);
  expect(merged(both, one, answer(1, []))).toBe(both);
});

test("the cursor of a member continues, and begins again where the member has begun again", () => {
  const read = advanced(
    newTail(1, "zk1"),
    answer(1, [
      [1, 10],
      [2, 20],
    ]),
  );
  expect(read).toMatchObject({ since: "100", after: 2 });
  expect(advanced(read, answer(1, []))).toMatchObject({ since: "100", after: 2, againSince: undefined });
  const again = { ...answer(1, []), since: "200", droppedCount: 3 };
  expect(advanced({ ...read, reason: "no connection" }, again)).toMatchObject({
    since: "200",
    after: 0,
    droppedCount: 3,
    reason: undefined,
    againSince: "200",
  });
});

test("lines are filtered by user, operation and path, all at once", () => {
  const line = { ...ENTRY, number: 1, time: "1", path: "/app/lock", isCut: false, sid: 1, member: "zk1" };
  const lines: readonly AuditLine[] = [line, { ...line, user: "bob" }, { ...line, user: null, path: null }];
  const all = { user: "", operation: "", path: "" };
  expect(filtered(lines, all)).toHaveLength(3);
  expect(filtered(lines, { ...all, user: "ALI" })).toEqual([lines[0]]);
  expect(filtered(lines, { ...all, user: "the server" })).toEqual([lines[2]]);
  expect(filtered(lines, { ...all, user: "bob", path: "/app" })).toEqual([lines[1]]);
  expect(filtered(lines, { ...all, operation: "delete" })).toEqual([]);
});

test("a page that is not there any more is the last one, and the oldest lines are not kept", () => {
  const many = answer(
    1,
    Array.from({ length: LINES_KEPT + 7 }, (_, i) => [i + 1, i] as const),
  );
  const lines = merged([], newTail(1, "zk1"), many);
  expect(lines).toHaveLength(LINES_KEPT);
  expect(lines[0]?.number).toBe(LINES_KEPT + 7);
  expect(pageOf(lines.slice(0, 450), 9)).toMatchObject({ page: 2, pageCount: 3 });
  expect(pageOf(lines.slice(0, 450), 9).lines).toHaveLength(50);
  expect(pageOf([], 3)).toEqual({ lines: [], page: 0, pageCount: 1 });
});
