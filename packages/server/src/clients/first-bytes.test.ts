import fc from "fast-check";
import { expect, test } from "vitest";
import { FirstBytes, type FirstBytesResult, type WordAnswers } from "./first-bytes.ts";

/** `four` has no argument, `arg8` has one of eight bytes. */
const WORDS: WordAnswers = {
  wordBytes: (word) => (word === "arg8" ? 12 : 4),
  answer: (word, argument) => (["four", "arg8"].includes(word) ? `${word}(${argument.toString("latin1")})` : undefined),
};

const frame = (length: number): string => `${Buffer.from([0, 0, length >> 8, length & 255]).toString("latin1")}rest`;
const refused = (code: string): unknown => expect.objectContaining({ kind: "refused", code });

const CASES: readonly (readonly [bytes: string, result: unknown])[] = [
  ["four", { kind: "answer", text: "four()" }],
  ["four and more", { kind: "answer", text: "four()" }],
  ["arg8 12345678", { kind: "answer", text: "arg8( 1234567)" }],
  ["\xff\xf4\xff\xfd", { kind: "answer", text: "" }],
  ["arg8", undefined],
  ["arg812345678".slice(0, 11), undefined],
  ["fou", undefined],
  ["", undefined],
  [frame(44), { kind: "frames", bytes: Buffer.from(frame(44), "latin1") }],
  [frame(1), { kind: "frames", bytes: Buffer.from(frame(1), "latin1") }],
  [frame(1024), { kind: "frames", bytes: Buffer.from(frame(1024), "latin1") }],
  [frame(1025), refused("first-frame")],
  [frame(0), refused("first-frame")],
  ["\xff\xff\xff\xffrest", refused("first-frame")],
  ["nope", refused("first-frame")],
  ...["GET /", "POST /", "PUT /", "HEAD /", "OPTIONS /", "DELETE /", "PATCH /", "TRACE /", "CONNECT a:1"].map(
    (request) => [`${request} HTTP/1.1\r\n\r\n`, refused("http")] as const,
  ),
  ["\x16\x03\x01\x02\x00", refused("tls")],
  ["\x16\x04\x01\x02\x00", refused("first-frame")],
];

/** A result with the frames' bytes up to the last chunk; chunks behind a result are not read. */
function resultOf(chunks: readonly Buffer[]): FirstBytesResult | undefined {
  const first = new FirstBytes();
  for (const [i, chunk] of chunks.entries()) {
    const result = first.take(chunk, WORDS);
    if (result?.kind === "frames") return { ...result, bytes: Buffer.concat([result.bytes, ...chunks.slice(i + 1)]) };
    if (result !== undefined) return result;
    // Valid during the call only.
    chunk.fill(0x7f);
  }
  return undefined;
}

test.each(CASES)("%j is what it is, however it is cut into chunks", (text, result) => {
  const bytes = Buffer.from(text, "latin1");
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 4 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((place, i) => Buffer.from(bytes.subarray(places[i], place)));
      expect(resultOf(chunks)).toEqual(result);
    }),
    { numRuns: 30 },
  );
});
