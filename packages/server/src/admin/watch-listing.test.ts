import { expect, test } from "vitest";
import { capped } from "./watch-listing.ts";

const MEBIBYTE = "x".repeat(1024 * 1024);

test("a listing ends behind 8 MiB, and says so; the rest is not made", () => {
  let count = 0;
  function* long(): Generator<string> {
    for (; count < 20; count++) yield MEBIBYTE;
  }
  const pieces = [...capped(long())];
  expect(pieces.map(({ length }) => length)).toEqual([...Array<number>(9).fill(MEBIBYTE.length), pieces[9]?.length]);
  expect([pieces[9], count]).toEqual(["... truncated\n", 8]);
});

test("a listing of 8 MiB is whole", () => {
  const pieces = Array<string>(8).fill(MEBIBYTE);
  expect([...capped(pieces)]).toEqual(pieces);
});
