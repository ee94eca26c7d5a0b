import { expect, test } from "vitest";
import { expiryFault, portFault } from "./health.ts";

const at = (date: string): number => Date.parse(date) / 1000;
const NOW = at("2026-11-25T12:00:00Z");

test.each([
  [undefined, undefined],
  [at("2126-01-01"), undefined],
  [at("2026-12-10T12:00:00Z"), undefined],
  [at("2026-12-09T11:00:00Z"), "it ends on 2026-12-09, in 13 days"],
  [at("2026-11-25T13:00:00Z"), "it ends on 2026-11-25, in 0 days"],
  [at("2026-11-24T13:00:00Z"), "it ended on 2026-11-24"],
])("a certificate that ends at %d is reported within two weeks of its end", (notAfter, fault) => {
  expect(expiryFault(notAfter, NOW)).toBe(fault);
});

test("ports that could not move are reported, each with its reason", () => {
  expect(portFault([])).toBeUndefined();
  expect(portFault(["the quorum port stays", "the client port stays"])).toBe(
    "the quorum port stays; the client port stays",
  );
});
