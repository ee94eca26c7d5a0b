import { expect, test } from "vitest";
import { TEXT_PARSERS } from "./parsers.ts";
import { defectOf } from "./random-texts.ts";

const LENGTHS = [1, 2, 4, 8, 16, 32].map((kib) => kib * 1024);
const SAMPLES = 9;
/** The least time of a sample, which repeats the text: a shorter one is noise. */
const SAMPLE_MS_MIN = 0.5;
const GROWTH_MAX = 2.5;
/** Noise of the machine passes; a time that grows faster than the text does not. */
const ATTEMPTS = 8;

type Parse = (text: string) => unknown;

const CONSTRUCTS = TEXT_PARSERS.flatMap(({ name, parse, repeated }) =>
  repeated.map((construct) => ({ name, parse, construct })),
);

test.each(CONSTRUCTS)("twice the text takes at most 2.5 times as long: $name, $construct", ({ parse, construct }) => {
  const [open, piece, end] = construct;
  const texts = LENGTHS.map((length) => open + piece.repeat(Math.ceil(length / piece.length)) + end);
  const growths = texts.slice(1).map((longer, i) => leastGrowth(parse, texts[i] ?? "", longer));
  // One doubling may leap: from some size on an array has pages of its own. A power of the length
  // is in each of them.
  const lasting = growths.slice(1).map((growth, i) => Math.min(growth, growths[i] ?? growth));
  expect(Math.max(...lasting)).toBeLessThanOrEqual(GROWTH_MAX);
});

function leastGrowth(parse: Parse, shorter: string, longer: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > GROWTH_MAX; attempt++) {
    const growth = growthOf(parse, shorter, longer);
    least = Math.min(least, growth);
  }
  return least;
}

/**
 * The median time of the one by that of the other, measured in turn: what disturbs the machine
 * disturbs both.
 */
function growthOf(parse: Parse, shorter: string, longer: string): number {
  let runs = 1;
  while (sampleMs(parse, shorter, runs) < SAMPLE_MS_MIN) runs *= 2;
  const samples = Array.from({ length: SAMPLES }, () => ({
    shorter: sampleMs(parse, shorter, runs),
    longer: sampleMs(parse, longer, runs),
  }));
  return median(samples.map((sample) => sample.longer)) / median(samples.map((sample) => sample.shorter));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function sampleMs(parse: Parse, text: string, runs: number): number {
  const start = performance.now();
  for (let i = 0; i < runs; i++) defectOf(parse, text);
  return performance.now() - start;
}
