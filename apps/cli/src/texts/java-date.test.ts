import { expect, test } from "vitest";
import { formatJavaDate } from "./java-date.ts";

test.each([
  [0, "UTC", "Thu Jan 01 00:00:00 UTC 1970"],
  [1795273264000, "UTC", "Sat Nov 21 15:01:04 UTC 2026"],
  [1795273264000, "Europe/Berlin", "Sat Nov 21 16:01:04 CET 2026"],
  [1783000000000, "Europe/Berlin", "Thu Jul 02 15:46:40 CEST 2026"],
  [1795273264000, "America/New_York", "Sat Nov 21 10:01:04 EST 2026"],
  [1795273264000, "Asia/Kolkata", "Sat Nov 21 20:31:04 IST 2026"],
])("%i in %s", (timeMs, timeZone, expected) => {
  expect(formatJavaDate(timeMs, timeZone)).toBe(expected);
});
