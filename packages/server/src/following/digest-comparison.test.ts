import type { Zxid } from "@zooid/model";
import { beforeEach, expect, test } from "vitest";
import { DigestComparison } from "./digest-comparison.ts";

let logged: string[];
let comparison: DigestComparison;
beforeEach(() => {
  logged = [];
  const log = (text: string): void => void logged.push(text);
  comparison = new DigestComparison({ info: log, error: log });
});

function compare(found: bigint, expected: bigint, paths: readonly string[] = ["/a"]): string {
  comparison.compare({ found, expected, zxid: 0x500000003 as Zxid, paths });
  return comparison.state;
}

test("digests that differ behind equal ones are reported once, with zxid and paths, until they are equal again", () => {
  expect([compare(1n, 1n), compare(2n, 7n), compare(3n, 8n), compare(4n, 4n), compare(5n, 9n)]).toEqual([
    ...["equal", "different", "different", "equal", "different"],
  ]);
  expect(logged).toEqual([
    expect.stringMatching(
      /^the digest behind transaction 0x500000003 is 2, and that of Apache's leader is 7: .* of "\/a"/,
    ),
    "Apache's digests are equal again from transaction 0x500000003 on",
    expect.stringContaining("is 5, and that of Apache's leader is 9"),
  ]);
  expect(comparison.count).toBe(5);
});

test("behind a snapshot, 1000 digests may differ before the first equal one, and one more counts", () => {
  comparison.begin();
  for (let i = 0; i < 1000; i++) expect(compare(1n, 2n)).toBe("not-equal-yet");
  expect(logged).toEqual([]);
  expect(compare(1n, 2n)).toBe("different");
  expect(logged).toHaveLength(1);
  comparison.begin();
  expect(comparison.state).toBe("none");
  expect(compare(1n, 2n)).toBe("not-equal-yet");
});

test("a report names five paths of a transaction, each in a bounded length, and sessions as they are", () => {
  compare(1n, 1n);
  compare(1n, 2n, ["session 0x1", `/${"x".repeat(1000)}`, "/c", "/d", "/e", "/f", "/g"]);
  expect(logged[0]).toContain(`the transaction is of session 0x1, "/${"x".repeat(199)}…", "/c", "/d", "/e" and 2 more`);
  expect(logged[0]?.length).toBeLessThan(1000);
});
