import { expect, test } from "vitest";
import { type Chunk, chunksOf, headerLine, nodeLine, SubtreeFileError } from "./subtree-file.ts";

const HEADER = headerLine("/app", 0);
const node = (path: string, text: string): string =>
  nodeLine({ path, data: { base64: btoa(text), text }, acl: null, isMasked: false });

/** The file, read in pieces of `size` characters. */
async function read(text: string, size = 7): Promise<readonly Chunk[]> {
  async function* pieces(): AsyncGenerator<string> {
    for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
  }
  const chunks: Chunk[] = [];
  for await (const chunk of chunksOf(pieces())) chunks.push(chunk);
  return chunks;
}

test.each([1, 7, 1000])("what was written is read, in pieces of %i characters", async (size) => {
  const binary = nodeLine({ path: "/b", data: { base64: "/w==" }, acl: [], isMasked: false });
  const text = `${HEADER}${node("", "ä\n")}${node("/a", "")}${binary}`;
  expect(await read(text, size)).toEqual([
    {
      nodes: [
        { path: "", data: { text: "ä\n" }, acl: null },
        { path: "/a", data: { text: "" }, acl: null },
        { path: "/b", data: { base64: "/w==" }, acl: [] },
      ],
      readCount: text.length,
    },
  ]);
});

test("requests have 500 nodes, or a million and a half characters, at most", async () => {
  const small = HEADER + Array.from({ length: 1_200 }, (_, i) => node(`/n${i}`, "")).join("");
  expect((await read(small, 5_000)).map(({ nodes }) => nodes.length)).toEqual([500, 500, 200]);
  const large = HEADER + ["/a", "/b", "/c"].map((path) => node(path, "x".repeat(700_000))).join("");
  expect((await read(large, 50_000)).map(({ nodes }) => nodes.length)).toEqual([2, 1]);
});

test("masked nodes are not written", () => {
  expect(nodeLine({ path: "/password", data: null, acl: null, isMasked: true })).toBe("");
});

test.each([
  ["an empty file", ""],
  ["another format", '{"format":"other"}\n'],
  ["a later version", '{"format":"zooid-subtree","version":2}\n'],
  ["a line that is not JSON", `${HEADER}{"path":\n`],
  ["a line that is no node", `${HEADER}{"name":"x"}\n`],
])("%s is refused", async (_what, text) => {
  await expect(read(text)).rejects.toThrow(SubtreeFileError);
});
