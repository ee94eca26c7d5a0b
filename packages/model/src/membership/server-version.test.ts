import { expect, test } from "vitest";
import { readServerVersion, serverVersionText } from "./server-version.ts";

test.each([
  ["3.9.5-zooid-0.1.0, built on 2026-11-25 04:18 UTC", { protocol: "3.9.5", zooid: "0.1.0" }, "zooid 0.1.0 (3.9.5)"],
  ["3.9.5-zooid-0.2.0-next.1, built on x", { protocol: "3.9.5", zooid: "0.2.0-next.1" }, "zooid 0.2.0-next.1 (3.9.5)"],
  ["3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019", { protocol: "3.4.14" }, "3.4.14"],
])("%s", (line, version, text) => {
  expect(readServerVersion(line)).toEqual(version);
  expect(serverVersionText(version)).toBe(text);
});

test.each(["", "null", "zooid-0.1.0"])("%j is no version", (line) => {
  expect(readServerVersion(line)).toBeUndefined();
});
