import { expect, test } from "vitest";
import { clientDescriptorsMax } from "./client-ports.ts";

test.each([
  [{ open: 30, max: 1_048_576 }, 943_718],
  [{ open: 30, max: 1024 }, 921],
  [{ open: 30, max: 256 }, 162],
  [{ open: 30, max: 80 }, 1],
  [{ open: -1, max: -1 }, Number.POSITIVE_INFINITY],
])("of %j open files clients may have %i", (descriptors, count) => {
  expect(clientDescriptorsMax(descriptors)).toBe(count);
});
