import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUTHORITY_JKS, AUTHORITY_PKCS12 } from "@zooid/java-files/testing/stores";
import { afterEach, beforeEach, test } from "vitest";
import { survivesFlippedBytes } from "../testing/flipped-store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-stores-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["PKCS#12", "flipped.p12", AUTHORITY_PKCS12],
  ["Java's own", "flipped.jks", AUTHORITY_JKS],
])("a trust store that is damaged at any place is reported, or harmless (%s)", (_, name, store) =>
  survivesFlippedBytes(store, join(folder, name), 7),
);
