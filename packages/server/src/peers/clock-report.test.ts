import { serverId } from "@zooid/model";
import { beforeEach, expect, test } from "vitest";
import { ClockReport } from "./clock-report.ts";

const [TWO, THREE] = [serverId(2), serverId(3)];

let lines: string[];
let nowMs: number;
let report: ClockReport;
beforeEach(() => {
  lines = [];
  nowMs = 0;
  const write =
    (level: string) =>
    (text: string, { event }: { readonly event: string }): void =>
      void lines.push(`${level} ${event}: ${text}`);
  report = new ClockReport({ info: write("info"), warn: write("warn"), nowMs: () => nowMs });
});

test("a clock that is off by more than two seconds is warned of, ahead or behind, and each offset is known", () => {
  report.compared(TWO, 3500, 10);
  report.compared(THREE, -2100, 10);
  expect(lines).toEqual([
    "warn clock-off: the clock of server 2 is 3.5 s ahead of this server's: synchronize the clocks of both machines (NTP)",
    "warn clock-off: the clock of server 3 is 2.1 s behind this server's: synchronize the clocks of both machines (NTP)",
  ]);
  expect([...report.offsets]).toEqual([
    [TWO, 3500],
    [THREE, -2100],
  ]);
});

test("a slow answer does not make a clock wrong", () => {
  report.compared(TWO, 2400, 1000);
  expect(lines).toEqual([]);
});

test("a clock that stays off is named once an hour, and one that is right again once", () => {
  for (nowMs = 0; nowMs < 7_200_000; nowMs += 2000) report.compared(TWO, 9000, 1);
  expect(lines).toHaveLength(2);
  report.compared(TWO, 100, 1);
  report.compared(TWO, 50, 1);
  expect(lines.slice(2)).toEqual(["info clock-right: the clock of server 2 agrees with this server's again"]);
});

test("servers that have left the ensemble are forgotten", () => {
  report.compared(TWO, 10, 1);
  report.compared(THREE, 20, 1);
  report.keep(new Set([THREE]));
  expect([...report.offsets]).toEqual([[THREE, 20]]);
});
