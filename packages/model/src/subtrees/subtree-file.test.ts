import { expect, test } from "vitest";
import {
  endLine,
  headerLine,
  nodeLine,
  nodesOf,
  SubtreeFileError,
  type SubtreeNode,
  subtreeBytes,
  subtreeData,
} from "./subtree-file.ts";

const HEADER = headerLine("/app", "1970-01-01T00:00:00.000Z");
/** As versions before the last line wrote it. */
const OLD = '{"format":"zooid-subtree","version":1,"path":"/app","exportedAt":"1970-01-01T00:00:00.000Z"}\n';

/** The nodes of a file that is read in pieces of `size` characters. */
async function read(text: string, size = 7): Promise<readonly SubtreeNode[]> {
  async function* pieces(): AsyncGenerator<string> {
    for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
  }
  const nodes: SubtreeNode[] = [];
  for await (const { node } of nodesOf(pieces())) nodes.push(node);
  return nodes;
}

const NODES: readonly SubtreeNode[] = [
  { path: "", data: { text: "ä\n" }, acl: null },
  { path: "/a", data: { text: "" }, acl: [{ scheme: "world", id: "anyone", permissions: ["read", "admin"] }] },
  { path: "/b", data: { base64: "/w==" }, acl: [] },
  { path: "/c", data: null, acl: null, kind: "container" },
  { path: "/t", data: null, acl: null, kind: "ttl", ttlMs: 60_000 },
];

test.each([1, 7, 1000])("what was written is read, in pieces of %i characters", async (size) => {
  expect(await read(HEADER + NODES.map(nodeLine).join("") + endLine(NODES.length), size)).toEqual(NODES);
});

test("data are text where that has every byte, and base64 elsewhere", () => {
  for (const bytes of [null, Buffer.of(), Buffer.from("ä\0\ufeff"), Buffer.of(0xff), Buffer.of(0xef, 0xbb, 0xbf)]) {
    const data = subtreeData(bytes);
    expect(subtreeBytes(data)).toEqual(bytes);
    expect(data === null || "text" in data).toBe(bytes === null || bytes[0] !== 0xff);
  }
});

test("a file is read that does not say that it has an end", async () => {
  expect(await read(`${OLD}${nodeLine({ path: "", data: null, acl: null })}`)).toHaveLength(1);
});

test.each([
  ["an empty file", "", "The file is empty"],
  ["another format", '{"format":"other"}\n', "no format"],
  ["a later version", '{"format":"zooid-subtree","version":2}\n', "version 2"],
  ["a line that is not JSON", `${HEADER}{"path":\n`, "Line 2 is not JSON"],
  ["a line that is no node", `${HEADER}{"name":"x"}\n`, "Line 2 is no node"],
  ["data of another form", `${HEADER}{"path":"/a","data":7}\n`, "Line 2: data is null"],
  ["data in both forms", `${HEADER}{"path":"/a","data":{"text":"","base64":""}}\n`, "Line 2: data is null"],
  ["data that is no base64", `${HEADER}{"path":"/a","data":{"base64":"*"}}\n`, "Line 2: data is null"],
  ["a list of another form", `${HEADER}{"path":"/a","data":null,"acl":["r"]}\n`, "Line 2: acl is null"],
  ["an unknown permission", aclWith("all"), "Line 2: acl is null"],
  ["an unknown kind", `${HEADER}{"path":"/a","data":null,"kind":"ephemeral"}\n`, "Line 2: kind is left out"],
  ["a time to live without a kind", `${HEADER}{"path":"/a","data":null,"ttlMs":5}\n`, "has ttlMs, in milliseconds"],
  ["a kind without its time to live", `${HEADER}{"path":"/a","data":null,"kind":"ttl"}\n`, "has ttlMs"],
  ["a file without its end", `${HEADER}${nodeLine({ path: "", data: null, acl: null })}`, "The file is cut off"],
  ["a file that lacks a node", `${HEADER}${endLine(1)}`, "The file has 0 nodes, and its last line says 1"],
  ["a file with more behind its end", `${HEADER}${endLine(0)}{"path":"","data":null}`, "Line 3 is behind the end"],
])("%s is refused, with the reason", async (_, text, reason) => {
  const reading = read(text, 20);
  await expect(reading).rejects.toThrow(SubtreeFileError);
  await expect(reading).rejects.toThrow(reason);
});

function aclWith(permission: string): string {
  return `${HEADER}{"path":"/a","data":null,"acl":[{"scheme":"world","id":"anyone","permissions":["${permission}"]}]}\n`;
}
