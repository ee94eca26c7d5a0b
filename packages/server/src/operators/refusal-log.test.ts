import { expect, test } from "vitest";
import { RefusalLog } from "./refusal-log.ts";

function openLog() {
  const clock = { nowMs: 0 };
  const lines: string[] = [];
  const debugLines: string[] = [];
  const log = new RefusalLog(
    (text) => lines.push(text),
    () => clock.nowMs,
    (text) => debugLines.push(text),
  );
  return { clock, lines, debugLines, log };
}

test("a refusal is a line that names the peer and the reason", () => {
  const { lines, log } = openLog();
  log.note("http", "/127.0.0.1:4711", "an HTTP request came");
  expect(lines).toEqual(["closed /127.0.0.1:4711: an HTTP request came"]);
});

test("a flood is five lines, and later a sixth that says how many more there were", () => {
  const { clock, lines, log } = openLog();
  for (let i = 0; i < 1000; i++) log.note("http", "peer", "flood");
  expect(lines).toHaveLength(5);
  clock.nowMs = 10_000;
  log.note("http", "peer", "again");
  expect(lines.slice(5)).toEqual(["995 more refusals of this kind in the last 10 s: http", "closed peer: again"]);
  expect(log.counts.get("http")).toBe(1001);
});

test("kinds are limited apart from each other", () => {
  const { lines, log } = openLog();
  for (let i = 0; i < 10; i++) log.note("http", "peer", "one");
  log.note("tls", "peer", "other");
  expect(lines.at(-1)).toBe("closed peer: other");
});

test("what is expected is counted, and a line for those who look for a fault alone", () => {
  const { lines, debugLines, log } = openLog();
  log.noteExpected("election link, duplicate by this side", "/127.0.0.1:4711", "servers 1 and 2 are connected");
  expect(lines).toEqual([]);
  expect(debugLines).toEqual(["closed /127.0.0.1:4711: servers 1 and 2 are connected"]);
  expect(log.counts.get("election link, duplicate by this side")).toBe(1);
});

test("a repeated attempt is a line once a minute for each reason, and counted each time", () => {
  const { clock, lines, debugLines, log } = openLog();
  const attempt = (reason: string, port: number) =>
    log.noteRepeated("quorum link, auth by this side", `10.0.0.2 ${reason}`, `10.0.0.2:${port}`, reason);
  attempt("no secret", 1);
  clock.nowMs = 59_999;
  attempt("no secret", 2);
  attempt("a wrong secret", 3);
  clock.nowMs = 60_000;
  attempt("no secret", 4);
  expect(lines).toEqual([
    "closed 10.0.0.2:1: no secret",
    "closed 10.0.0.2:3: a wrong secret",
    "closed 10.0.0.2:4: no secret",
  ]);
  expect(debugLines).toEqual(["closed 10.0.0.2:2: no secret"]);
  expect(log.counts.get("quorum link, auth by this side")).toBe(4);
});

test("of many causes the newest are remembered", () => {
  const { clock, lines, log } = openLog();
  const noteAll = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      // Below the limit of lines of one kind.
      clock.nowMs += 10;
      log.noteRepeated(`kind ${i}`, "cause", "peer", "text");
    }
  };
  noteAll(0, 1025);
  const before = lines.length;
  noteAll(1, 1025);
  expect(lines).toHaveLength(before);
  noteAll(0, 1);
  expect(lines).toHaveLength(before + 1);
});
