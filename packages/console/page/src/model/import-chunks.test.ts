import { headerLine, nodeLine } from "@zooid/model/subtree-file";
import { expect, test } from "vitest";
import { type Chunk, chunksOf } from "./import-chunks.ts";

const HEADER = headerLine("/app", "1970-01-01T00:00:00.000Z").replace(',"hasEnd":true', "");
const node = (path: string, text: string): string => nodeLine({ path, data: { text }, acl: null });

/** The file, read in pieces of `size` characters. */
async function read(text: string, size: number): Promise<readonly Chunk[]> {
  async function* pieces(): AsyncGenerator<string> {
    for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
  }
  const chunks: Chunk[] = [];
  for await (const chunk of chunksOf(pieces())) chunks.push(chunk);
  return chunks;
}

test("requests have 500 nodes, or a million and a half characters, at most", async () => {
  const small = HEADER + Array.from({ length: 1_200 }, (_, i) => node(`/n${i}`, "")).join("");
  const chunks = await read(small, 5_000);
  expect(chunks.map(({ nodes }) => nodes.length)).toEqual([500, 500, 200]);
  expect(chunks.at(-1)?.readCount).toBe(small.length);
  const large = HEADER + ["/a", "/b", "/c"].map((path) => node(path, "x".repeat(700_000))).join("");
  expect((await read(large, 50_000)).map(({ nodes }) => nodes.length)).toEqual([2, 1]);
});
