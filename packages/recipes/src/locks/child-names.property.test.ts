import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { FORMS, nearMisses, overflownNames, realNames } from "../testing/child-name-samples.ts";
import { isContender, NAME_FORMS } from "./child-names.ts";
import { contendersOf } from "./sequence.ts";

test("each form of the table has samples", () => {
  expect(FORMS.toSorted()).toEqual([...new Set(NAME_FORMS.map(({ form }) => form))].sort());
});

describe.each(FORMS)("of names of the form %s", (form) => {
  test("those that a client makes count, and others do not", () => {
    fc.assert(fc.property(realNames(form), (name) => isContender(name, form)));
    fc.assert(fc.property(nearMisses(form), (name) => !isContender(name, form)));
  });

  test("numbers beyond the end are an error, which other names are not", () => {
    const beyond = overflownNames(form);
    if (beyond === undefined) return;
    const outcomeOf = (names: readonly string[]): unknown => {
      try {
        return contendersOf(names, form).length;
      } catch (error) {
        return isRecipeError(error, "SEQUENCE_OVERFLOW") ? "overflow" : error;
      }
    };
    fc.assert(
      fc.property(fc.array(realNames(form)), fc.array(nearMisses(form)), beyond, (real, near, late) => {
        expect(outcomeOf([...near, ...real])).toBe(real.length);
        expect(outcomeOf([...near, ...real, late])).toBe("overflow");
      }),
    );
  });
});
