import { writeFileSync } from "node:fs";
import { PASSWORD } from "@zooid/java-files/testing/stores";
import { expect } from "vitest";
import { readTrustStore } from "../tls/key-store.ts";

/**
 * Whichever byte of a trust store with one certificate is changed: it is reported once, or
 * harmless. Tries every `step`th.
 */
export function survivesFlippedBytes(store: Uint8Array, file: string, step: number): void {
  for (let i = 0; i < store.length; i += step) {
    const flipped = Buffer.from(store);
    flipped[i] = (flipped[i] ?? 0) ^ 0x41;
    writeFileSync(file, flipped);
    const problems: string[] = [];
    const count = readTrustStore("ssl.trustStore", { location: file, password: PASSWORD }, problems)?.length;
    expect(problems.length === 1 || count === 1).toBe(true);
  }
}
