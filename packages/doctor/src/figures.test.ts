import { expect, test } from "vitest";
import { bytesText, percentText } from "./figures.ts";

test.each([
  [0, "0 bytes"],
  [1023, "1023 bytes"],
  [1024, "1.0 KiB"],
  [1536, "1.5 KiB"],
  [2 ** 20 - 1, "1024.0 KiB"],
  [2 ** 20, "1.0 MiB"],
  [2.5 * 2 ** 30, "2.5 GiB"],
  [2 ** 40, "1.0 TiB"],
  [5000 * 2 ** 40, "5000.0 TiB"],
])("%d bytes are %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test.each([
  [0, "0.0 %"],
  [0.003, "0.3 %"],
  [0.0099, "1.0 %"],
  [0.01, "1 %"],
  [0.044, "4 %"],
  [0.045, "5 %"],
  [1, "100 %"],
])("a share of %d is %s", (share, text) => {
  expect(percentText(share)).toBe(text);
});
