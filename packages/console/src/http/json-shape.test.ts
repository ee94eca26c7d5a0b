import { expect, test } from "vitest";
import { JsonShape } from "./json-shape.ts";

const LIMITS = { bytesMax: 100, depthMax: 3, valuesMax: 10 };

function exceeded(json: string, chunkBytes = 100): string | undefined {
  const shape = new JsonShape(LIMITS);
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const limit = shape.add(bytes.subarray(at, at + chunkBytes));
    if (limit !== undefined) return limit;
  }
  return undefined;
}

test.each([
  ['{"user":"alice","password":"secret"}', undefined],
  ["[[[1]]]", undefined],
  ["[[[[1]]]]", "depthMax"],
  [`[${"1,".repeat(10)}1]`, "valuesMax"],
  [`"${"x".repeat(100)}"`, "bytesMax"],
  ['{"a":"[[[[[[,,,,,,,,,,,,,,"}', undefined],
  ['{"a":"\\"[[[[[["}', undefined],
  ['{"a":"\\\\","b":[[[1]]]}', "depthMax"],
  ["]]]]]][[[[", undefined],
])("%s", (json, limit) => {
  expect([exceeded(json), exceeded(json, 1)]).toEqual([limit, limit]);
});
