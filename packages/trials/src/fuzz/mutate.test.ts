import { Random } from "@zooid/conformance/internal/random";
import { expect, test } from "vitest";
import { mutate } from "./mutate.ts";

const SEEDS = [Buffer.from("a frame of a client"), Buffer.alloc(64, 7)];

function inputs(seed: number): readonly Buffer[] {
  const random = new Random(seed);
  return Array.from({ length: 500 }, () => mutate(random, random.pick(SEEDS), SEEDS, ["word"]));
}

test("a seed always makes the same inputs, another one others", () => {
  expect(inputs(1)).toEqual(inputs(1));
  expect(inputs(1)).not.toEqual(inputs(2));
});

test("what inputs are made of stays unchanged, and none grows without end", () => {
  let input: Buffer = SEEDS[0] as Buffer;
  const random = new Random(3);
  for (let i = 0; i < 5000; i++) input = mutate(random, input, [input, ...SEEDS], []);
  expect(input.length).toBeLessThanOrEqual(4096);
  expect(SEEDS.map(String)).toEqual(["a frame of a client", String(Buffer.alloc(64, 7))]);
});
