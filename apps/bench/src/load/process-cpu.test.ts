import { expect, test } from "vitest";
import { processCpuMs } from "./process-cpu.ts";

test.runIf(process.platform === "linux")("a process that works has had more time than before", () => {
  const before = processCpuMs(process.pid) ?? Number.NaN;
  const worked = process.cpuUsage();
  while (process.cpuUsage(worked).user < 100_000);
  const had = (processCpuMs(process.pid) ?? Number.NaN) - before;
  expect(had).toBeGreaterThanOrEqual(50);
});

test("a process that does not exist has no CPU time", () => {
  expect(processCpuMs(2 ** 31 - 1)).toBeUndefined();
});
