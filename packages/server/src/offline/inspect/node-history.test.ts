import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { composeZxid, type Zxid } from "@zooid/model";
import { listArchive } from "@zooid/txn-log/sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ArchivedHistory, type Moment } from "../../testing/archived-history.ts";
import { type NodeHistoryOptions, printChanges, printPastNode } from "./node-history.ts";

let history: ArchivedHistory;
let moments: readonly Moment[] = [];
beforeAll(async () => {
  history = await ArchivedHistory.make();
  moments = await history.write(3);
});
afterAll(() => history[Symbol.asyncDispose]());

function changes(path: string, options: Partial<NodeHistoryOptions> = {}): readonly string[] {
  const lines: string[] = [];
  const output = { print: (line: string) => lines.push(line), warn: (line: string) => lines.push(`! ${line}`) };
  printChanges(history.archive, { path, isRecursive: false, after: undefined, hasData: false, ...options }, output);
  // Without zxid, time and session.
  return lines.map((line) => line.replace(/^0x\S+ \S+ 0x\S+ /, ""));
}

function nodeAt(path: string, at: Parameters<typeof printPastNode>[1]["at"], hasData = true): string {
  const lines: string[] = [];
  const output = { print: (line: string) => lines.push(line), warn: (line: string) => lines.push(`! ${line}`) };
  printPastNode(history.archive, { path, at, hasData }, output);
  return lines.join("\n");
}

function zxidAt(place: number): Zxid {
  return moments[place]?.zxid ?? expect.unreachable("there are nine moments");
}

const BY = 'by "127.0.0.1"';
const SET = `SET_DATA "/a/b" 3 bytes ${BY}`;

test("the changes of a node are printed through restarts of the server, without values", () => {
  expect(changes("/a/b")).toEqual([`CREATE "/a/b" 1 byte ${BY}`, ...Array.from({ length: 9 }, () => SET)]);
  expect(changes("/a")).toEqual([`CREATE "/a" 1 byte ${BY}`]);
  expect(changes("/a", { isRecursive: true })).toHaveLength(11);
  expect(changes("/a/b", { hasData: true }).at(-1)).toBe(`SET_DATA "/a/b" 3 bytes "2.3" ${BY}`);
  expect(changes("/none")).toEqual([]);
});

test("changes behind a transaction are printed", () => {
  expect(changes("/a/b", { after: moments.at(-3)?.zxid })).toEqual([SET, SET]);
});

test("a node is printed with its value at each moment", () => {
  for (const [i, { zxid }] of moments.entries()) {
    const value = `${Math.floor(i / 3)}.${(i % 3) + 1}`;
    const text = nodeAt("/a/b", { zxid });
    expect(text).toMatch(/^"\/a\/b" at 0x[0-9a-f]+: persistent, 3 bytes, version \d, aversion 0, created by 0x/);
    expect(text).toContain(`, version ${i + 1}, `);
    expect(text).toMatch(new RegExp(`, "${value}", world:"anyone":31$`));
  }
  expect(nodeAt("/a/b", { zxid: zxidAt(0) }, false)).not.toMatch(/"0\.1"|anyone/);
  // It is in the base alone.
  expect(nodeAt("/zookeeper/quota", { zxid: zxidAt(1) })).toContain("created by 0x0 at 1970-01-01");
});

test.each<[string, () => unknown, RegExp]>([
  ["a node that was not there", () => nodeAt("/none", { zxid: zxidAt(0) }), /^there was no node "\/none" at 0x/],
  [
    "a moment that is not there yet",
    () => nodeAt("/a", { zxid: composeZxid(7, 0) }),
    /the history has no whole state at 0x700000000$/,
  ],
  [
    "a time before all",
    () => nodeAt("/a", { timeMs: 1 }),
    /^the history begins after 0x\S+, at \S+, and so later than 1970-01-01T00:00:00.001Z$/,
  ],
  ["a path that is none", () => changes("/a/"), /^"\/a\/" is no path: /],
  ["no path", () => changes("a"), /^"a" is no path: /],
])("%s is refused in a sentence", (_, act, problem) => {
  expect(act).toThrow(problem);
});

test("a folder without a history is refused, a gap and a late begin are listed, and a damaged file is named", async () => {
  await using other = await ArchivedHistory.make();
  mkdirSync(join(other.archive, "log"), { recursive: true });
  expect(() =>
    printChanges(other.archive, { path: "/a", isRecursive: false, after: undefined, hasData: false }, console as never),
  ).toThrow(/archive has no files of a history$/);
  const [first, second] = listArchive(join(history.archive, "log"));
  const [before, between] = [first, second].map((file) => readFileSync(file?.file ?? "") as Buffer);
  rmSync(second?.file ?? "");
  expect(changes("/a/b")).toContainEqual(
    expect.stringMatching(/^! the history lacks the transactions after 0x1\d+ and up to 0x2\d+$/),
  );
  writeFileSync(second?.file ?? "", between ?? "");
  rmSync(first?.file ?? "");
  expect(changes("/a/b", { after: 1 as never })[0]).toMatch(/^! the history begins after 0x1\d+$/);
  writeFileSync(first?.file ?? "", Buffer.from(before ?? "").fill(1, 0, 1));
  expect(() => changes("/a/b")).toThrow(`${first?.file} is damaged at its first bytes`);
});
