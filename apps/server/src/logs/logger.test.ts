import type { LogLevel } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { type ProcessLog, printable, processLog } from "./logger.ts";

test.each([
  ["a plain line, zażółć 日本", "a plain line, zażółć 日本"],
  ["two\nlines\r", "two\\u000alines\\u000d"],
  ["\u001b[31mred\u009b0m", "\\u001b[31mred\\u009b0m"],
  ["line\u2028break\u2029", "line\\u2028break\\u2029"],
  ["right\u202eto left\u2066", "right\\u202eto left\\u2066"],
  ["nul\0 del\u007f", "nul\\u0000 del\\u007f"],
])("%j is logged as one line that does nothing to a terminal", (text, line) => {
  expect(printable(text)).toBe(line);
});

test("no line is longer than 2000 characters of what came", () => {
  expect(printable("x".repeat(1_000_000))).toHaveLength(2000);
});

test("every character is escaped or shown alone as among others", () => {
  for (let point = 0; point < 0x3000; point++) {
    const char = String.fromCodePoint(point);
    // An escaped character in front makes `printable` check each character, and not the whole text
    // in one step.
    expect(printable(`\0${char}`)).toBe(`\\u0000${printable(char)}`);
  }
});

/** The lines that a log writes, as objects. */
function linesOf(use: (log: ProcessLog) => void, level: LogLevel = "info"): readonly unknown[] {
  const lines: unknown[] = [];
  use(processLog(level, { write: (line) => lines.push(JSON.parse(line)) }));
  return lines;
}

test("what was asked for is written whatever the level, which stays", () => {
  for (const level of ["debug", "info", "warn", "error"] as const) {
    const lines = linesOf((log) => {
      log.answer("it stands so", { event: "status" });
      log.info("a line", { event: "status" });
      expect(log.level).toBe(level);
    }, level);
    expect(lines).toHaveLength(level === "debug" || level === "info" ? 2 : 1);
    expect(lines[0]).toMatchObject({ level: "info", msg: "it stands so" });
  }
});

test("a line has its level by name, its time, the server's place and the fields of what happened", () => {
  const [line] = linesOf((log) => {
    log.describe(() => ({ myid: 1, role: "looking", epoch: 4, zxid: "0x400000007" }));
    log.warn("server 2 at zk-2:3888 is unreachable", { event: "peer-unreachable", peer: 2, address: "zk-2:3888" });
  });
  expect(line).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    myid: 1,
    role: "looking",
    epoch: 4,
    zxid: "0x400000007",
    event: "peer-unreachable",
    peer: 2,
    address: "zk-2:3888",
    msg: "server 2 at zk-2:3888 is unreachable",
  });
});

test("paths and addresses in the fields of a line are escaped and cut like its text", () => {
  const [line] = linesOf((log) => {
    log.warn("slow", {
      event: "slow-request",
      path: `/\u202egnp\u009b${"x".repeat(16_000)}`,
      address: "a\u2028b",
      peer: 2,
    });
  });
  expect(line).toMatchObject({ path: `/\\u202egnp\\u009b${"x".repeat(2000 - 6)}`, address: "a\\u2028b", peer: 2 });
});

test("the server's place is that of the moment, and a role in the line stands above it", () => {
  let role = "looking";
  const lines = linesOf((log) => {
    log.describe(() => ({ role }));
    log.info("one", { event: "status" });
    role = "following";
    log.info("two", { event: "status" });
    log.info("three", { event: "role", role: "leading" });
  });
  expect(lines).toMatchObject([{ role: "looking" }, { role: "following" }, { role: "leading" }]);
});

test("lines below the level are not written, and the level may change", () => {
  const lines = linesOf((log) => {
    log.debug?.("one", { event: "status" });
    log.level = "debug";
    log.debug?.("two", { event: "status" });
    log.level = "error";
    log.warn("three", { event: "status" });
  });
  expect(lines).toMatchObject([{ level: "debug", msg: "two" }]);
});

test("the newest lines are kept, as they were written", () => {
  const written: string[] = [];
  const log = processLog("info", { write: (line) => written.push(line) });
  for (let i = 0; i < 500; i++) log.info(`line ${i}`, { event: "status" });
  log.debug?.("left out", { event: "status" });
  expect(log.recent()).toEqual(written.slice(-200).map((line) => line.trimEnd()));
  expect(log.recent().at(-1)).toContain('"msg":"line 499"');
});

test("fields of one line are not those of the next", () => {
  const described = { myid: 1 };
  const [, second] = linesOf((log) => {
    log.describe(() => described);
    log.warn("refused", { event: "refused", address: "a peer" });
    log.info("a line", { event: "status" });
  });
  expect(second).toEqual({ level: "info", time: expect.any(String), myid: 1, event: "status", msg: "a line" });
  expect(described).toEqual({ myid: 1 });
});
