import { expect, test } from "vitest";
import { SpareBuffers } from "./spare-buffers.ts";

const MIB = 1024 * 1024;

test("a buffer that was given is taken again where it is large enough", () => {
  const spare = new SpareBuffers();
  const small = spare.take(1000);
  expect(small.length).toBe(1024);
  spare.give(small);
  const large = spare.take(1_100_000);
  expect(large.length).toBe(2 * MIB);
  spare.give(large);
  expect(spare.take(1000)).toBe(large);
  expect(spare.take(1000)).toBe(small);
});

test("32 MiB of spare buffers are kept, the oldest go first", () => {
  const spare = new SpareBuffers();
  const buffers = Array.from({ length: 20 }, () => spare.take(2 * MIB));
  for (const buffer of buffers) spare.give(buffer);
  expect(spare.sizeBytes).toBe(32 * MIB);
  const taken = buffers.map(() => spare.take(2 * MIB));
  expect(taken.map((buffer) => buffers.indexOf(buffer))).toEqual([
    ...Array.from({ length: 16 }, (_, i) => 19 - i),
    -1,
    -1,
    -1,
    -1,
  ]);
});

test("a buffer above 4 MiB is not kept", () => {
  const spare = new SpareBuffers();
  spare.give(spare.take(4 * MIB + 1));
  expect(spare.sizeBytes).toBe(0);
});

test("buffers that no batch has needed for a while are given up", () => {
  const spare = new SpareBuffers();
  const buffers = Array.from({ length: 8 }, () => spare.take(2 * MIB));
  for (const buffer of buffers) spare.give(buffer);
  for (let i = 0; i < 3000; i++) spare.give(spare.take(1000));
  expect(spare.sizeBytes).toBe(2 * MIB);
});
