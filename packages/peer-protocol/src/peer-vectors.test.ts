import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeEnvelope } from "./envelope-decoder.ts";
import { EnvelopeWriter, envelopeBytesMax } from "./envelope-encoder.ts";
import { EnvelopeTag } from "./hot-fields.ts";
import { RECORDS } from "./records.ts";

/**
 * Envelopes as version 0.1.0 writes them, a kind and its bytes a line. Members of neighbouring
 * versions exchange them: a line that no longer holds breaks a rolling upgrade. New kinds add
 * lines.
 */
const VECTORS = readFileSync(new URL("./testing/peer-vectors.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split(" ") as [kind: string, hex: string]);

test.each(VECTORS)("%s (vector %#) is read and written as in version 0.1.0", (kind, hex) => {
  const bytes = Buffer.from(hex, "hex");
  const message = decodeEnvelope(bytes, 0, bytes.length);
  expect(message.kind).toBe(kind);
  const written = Buffer.alloc(envelopeBytesMax(message));
  const end = new EnvelopeWriter().write(written, 0, message);
  expect(written.toString("hex", 0, end)).toBe(hex);
});

test("every kind of message has a vector", () => {
  const kinds = new Set(VECTORS.map(([kind]) => kind));
  expect(kinds).toEqual(new Set([...Object.keys(RECORDS), ...Object.keys(EnvelopeTag)]));
});
