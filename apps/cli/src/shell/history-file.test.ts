import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HISTORY_LINES_MAX, historyFilePath, loadHistory, saveHistory } from "./history-file.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-history-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("it lies in the state directory, which must be absolute", () => {
  const fallback = join(homedir(), ".local/state/zooid/cli-history");
  expect(historyFilePath({ XDG_STATE_HOME: "/state" })).toBe("/state/zooid/cli-history");
  expect(historyFilePath({ XDG_STATE_HOME: "relative" })).toBe(fallback);
  expect(historyFilePath({})).toBe(fallback);
});

test("what was saved is there at the next start, readable by its owner only", () => {
  const file = join(directory, "new/folder/history");
  saveHistory(file, ["ls /", "get /a"]);
  expect(loadHistory(file)).toEqual(["ls /", "get /a"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("secrets are not kept", () => {
  const file = join(directory, "secrets");
  const secret = ["addauth digest a:secret", "server drain --auth 'digest a:secret'", "member list '--auth' x"];
  saveHistory(file, ["ls /", ...secret]);
  expect(loadHistory(file)).toEqual(["ls /"]);
});

test("the oldest lines go", () => {
  const file = join(directory, "long");
  saveHistory(
    file,
    Array.from({ length: HISTORY_LINES_MAX + 2 }, (_, i) => `ls /${i}`),
  );
  expect(loadHistory(file)).toHaveLength(HISTORY_LINES_MAX);
  expect(loadHistory(file)[0]).toBe("ls /2");
});

test("an unusable path is no error", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  saveHistory(join(file, "history"), ["ls /"]);
  expect(loadHistory(join(file, "history"))).toEqual([]);
});
