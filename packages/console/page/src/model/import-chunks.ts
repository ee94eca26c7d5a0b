import { nodesOf, type SubtreeNode } from "@zooid/model/subtree-file";
import type { ImportRequestJson } from "../../../src/api/subtree-shapes.ts";

/** The API takes bodies of 2 MiB, and 500 nodes. */
const CHUNK_CHARS_MAX = 1_500_000;
const CHUNK_NODES_MAX = 500;

export type FileNode = ImportRequestJson["nodes"][number];

/** Some nodes of a file, as many as one request takes. */
export interface Chunk {
  readonly nodes: readonly FileNode[];
  /** Characters of the file so far, for the progress. */
  readonly readCount: number;
}

/** @throws SubtreeFileError with the number of the line */
export async function* chunksOf(text: AsyncIterable<string>): AsyncGenerator<Chunk, void, undefined> {
  let [nodes, size, before]: [FileNode[], number, number] = [[], 0, 0];
  for await (const { node, readCount } of nodesOf(text)) {
    const length = readCount - before;
    if (nodes.length > 0 && (size + length > CHUNK_CHARS_MAX || nodes.length >= CHUNK_NODES_MAX)) {
      yield { nodes, readCount: before };
      [nodes, size] = [[], 0];
    }
    nodes.push(requested(node));
    size += length;
    before = readCount;
  }
  if (nodes.length > 0) yield { nodes, readCount: before };
}

/** The server checks the rest. */
function requested({ path, data, acl }: SubtreeNode): FileNode {
  return {
    path,
    data,
    acl: acl === null ? null : acl.map((entry) => ({ ...entry, permissions: [...entry.permissions] })),
  };
}
