import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { PageFile } from "./page-files.ts";

const LARGE = Buffer.from("zookeeper ".repeat(200));

test.each([
  { accepted: "gzip, deflate, br", encoding: "br" },
  { accepted: "gzip", encoding: "gzip" },
  { accepted: "deflate", encoding: undefined },
  { accepted: "", encoding: undefined },
])("a browser that accepts $accepted gets $encoding", ({ accepted, encoding }) => {
  const file = new PageFile(LARGE, { type: "text/plain", isFixed: false });
  expect(file.encodingFor(accepted)).toBe(encoding);
});

test("a small file is sent as it is", () => {
  const file = new PageFile(Buffer.from("small"), { type: "text/plain", isFixed: false });
  expect(file.encodingFor("br")).toBeUndefined();
});

test("a file is compressed once for each encoding", async () => {
  const file = new PageFile(LARGE, { type: "text/plain", isFixed: false });
  expect(file.encoded("br")).toBe(file.encoded("br"));
  expect(brotliDecompressSync(await file.encoded("br"))).toEqual(LARGE);
  expect(gunzipSync(await file.encoded("gzip"))).toEqual(LARGE);
});
