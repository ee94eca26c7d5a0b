import { Random } from "@zooid/conformance/internal/random";
import { expect, test } from "vitest";
import { TEXT_PARSERS } from "./parsers.ts";
import { defectOf, randomText } from "./random-texts.ts";

const COUNT = 2000;
const SEED = 36;
/** A parser whose time grows with the square of its text takes minutes for one of these. */
const LONG = 512 * 1024;

test.each(TEXT_PARSERS)(`${COUNT} random texts are read or refused: $name`, ({ parse, words }) => {
  const random = new Random(SEED);
  const defects: string[] = [];
  for (let i = 0; i < COUNT; i++) {
    const text = randomText(random, words);
    const defect = defectOf(parse, text);
    if (defect !== undefined) defects.push(`${JSON.stringify(text)}: ${defect}`);
  }
  expect(defects).toEqual([]);
});

test.each(TEXT_PARSERS)("long texts of each repeated construct are read or refused: $name", ({ parse, repeated }) => {
  const defects = repeated.map(([open, piece, end]) =>
    defectOf(parse, open + piece.repeat(Math.ceil(LONG / piece.length)) + end),
  );
  expect(defects.filter((defect) => defect !== undefined)).toEqual([]);
});
