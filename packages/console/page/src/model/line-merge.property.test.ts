import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeLines } from "./line-merge.ts";

const someText = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 8 }).map((lines) => lines.join("\n"));

test("a side that changed nothing leaves the other's text, and equal sides theirs", () => {
  fc.assert(
    fc.property(someText, someText, (base, changed) => {
      for (const [mine, theirs] of [
        [changed, base],
        [base, changed],
        [changed, changed],
      ] as const) {
        expect(mergeLines(base, mine, theirs)).toEqual({ text: changed, conflictCount: 0 });
      }
    }),
  );
});

test("without a conflict the sides may be exchanged", () => {
  fc.assert(
    fc.property(someText, someText, someText, (base, mine, theirs) => {
      const [one, other] = [mergeLines(base, mine, theirs), mergeLines(base, theirs, mine)];
      expect(one.conflictCount).toBe(other.conflictCount);
      if (one.conflictCount === 0) expect(one.text).toBe(other.text);
    }),
  );
});
