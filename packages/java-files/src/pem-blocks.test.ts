import { expect, test } from "vitest";
import { pemBlocks } from "./pem-blocks.ts";

const block = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

test("blocks with the label are found among others and comments", () => {
  const text = ["first", block("CERTIFICATE", "AA"), block("PRIVATE KEY", "BB"), block("CERTIFICATE", "CC")].join("\n");
  expect(pemBlocks(text, "CERTIFICATE")).toEqual([block("CERTIFICATE", "AA"), block("CERTIFICATE", "CC")]);
});

test("a block that does not end is none", () => {
  expect(pemBlocks(`${block("CERTIFICATE", "AA")}\n-----BEGIN CERTIFICATE-----\nBB`, "CERTIFICATE")).toHaveLength(1);
  expect(pemBlocks("-----BEGIN CERTIFICATE-----".repeat(100_000), "CERTIFICATE")).toEqual([]);
});
