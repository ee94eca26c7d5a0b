import { expect, test } from "vitest";
import { buildTime } from "./build-time.ts";
import { versionText } from "./server-facts.ts";

test("the time of a build has ZooKeeper's form, to the minute", () => {
  expect(buildTime(1_700_000_000)).toBe("2023-11-14 22:13 UTC");
});

test("without a stamp it is when the file was written", () => {
  const year = Number(buildTime().slice(0, 4));
  expect(year).toBeGreaterThanOrEqual(2026);
});

test("the version line is one that ZooKeeper's parsers read", () => {
  const line = `Zookeeper version: ${versionText("1.2.3", buildTime())}`;
  expect(line).toMatch(/^Zookeeper version: 3\.9\.5-zooid-1\.2\.3, built on \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC$/);
});
