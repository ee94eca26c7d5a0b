import type { SlicedAnswer } from "../admin/answer-slices.ts";

/** The first frame is 44 or 45 bytes; a ZooKeeper client sends nothing much longer. */
const FIRST_FRAME_BYTES_MAX = 1024;
const TELNET_INTERRUPT = "\xff\xf4\xff\xfd";
const HTTP_METHODS: ReadonlySet<string> = new Set([
  "GET ",
  "POST",
  "PUT ",
  "HEAD",
  "OPTI",
  "DELE",
  "PATC",
  "TRAC",
  "CONN",
]);
const HTTP_BODY = "This is a ZooKeeper client port. It does not speak HTTP.\n";
const HTTP_ANSWER = `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${HTTP_BODY.length}\r\n\r\n${HTTP_BODY}`;

/** The handler of four-letter words. */
export interface WordAnswers {
  /** Bytes of a word with its argument; 4 for an unknown word. */
  wordBytes(word: string): number;
  /** Undefined if these bytes are no word. */
  answer(word: string, argument: Buffer): string | SlicedAnswer | undefined;
}

/**
 * - `answer`, `long answer`: a four-letter word; the connection is closed behind its answer
 * - `frames`: the bytes of a connect request, to be read as frames
 * - `refused`: neither; the reason is for the log
 */
export type FirstBytesResult =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "long answer"; readonly answer: SlicedAnswer }
  | { readonly kind: "frames"; readonly bytes: Buffer }
  | { readonly kind: "refused"; readonly code: string; readonly reason: string; readonly text: string };

/** Identifies a connection by its first bytes. */
export class FirstBytes {
  #bytes: Buffer | undefined;

  /** Adds the next bytes, valid during the call only. @returns undefined while there are too few */
  take(chunk: Buffer, words: WordAnswers): FirstBytesResult | undefined {
    const bytes = this.#bytes === undefined ? chunk : Buffer.concat([this.#bytes, chunk]);
    const word = bytes.length < 4 ? undefined : bytes.toString("latin1", 0, 4);
    const wordBytes = word === undefined ? 4 : words.wordBytes(word);
    if (word === undefined || bytes.length < wordBytes) {
      this.#bytes = Buffer.from(bytes);
      return undefined;
    }
    this.#bytes = undefined;
    const answer = word === TELNET_INTERRUPT ? "" : words.answer(word, bytes.subarray(4, wordBytes));
    if (typeof answer === "string") return { kind: "answer", text: answer };
    if (answer !== undefined) return { kind: "long answer", answer };
    const length = bytes.readInt32BE(0);
    if (length <= 0 || length > FIRST_FRAME_BYTES_MAX) return refusalOf(word, length);
    return { kind: "frames", bytes };
  }
}

function refusalOf(word: string, length: number): FirstBytesResult {
  if (HTTP_METHODS.has(word)) {
    const reason = "an HTTP request came to the client port, which speaks ZooKeeper's protocol";
    return { kind: "refused", code: "http", reason, text: HTTP_ANSWER };
  }
  if (word.startsWith("\x16\x03")) {
    return {
      kind: "refused",
      code: "tls",
      reason: "a TLS handshake came to the client port, which is plain",
      text: "",
    };
  }
  const reason = `the first frame claims ${length} bytes; a connect request has 44 or 45`;
  return { kind: "refused", code: "first-frame", reason, text: "" };
}
