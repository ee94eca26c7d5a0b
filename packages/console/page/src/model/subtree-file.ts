/**
 * A subtree as a file: one line of JSON that says what it is, then one for each node, each behind
 * its parent. Data is text where it is UTF-8, so that people can read and edit the file.
 */
import type { ExportedNodeJson, ImportRequestJson } from "../../../src/api/subtree-shapes.ts";

const FORMAT = "zooid-subtree";
const VERSION = 1;
/** The API takes bodies of 2 MiB, and 500 nodes. */
const CHUNK_CHARS_MAX = 1_500_000;
const CHUNK_NODES_MAX = 500;
/**
 * A node's data has 1 MiB at most, four thirds of it as base64, and JSON may escape each byte of a
 * text.
 */
const LINE_CHARS_MAX = 8_000_000;

export type FileNode = ImportRequestJson["nodes"][number];

/** Some nodes of a file, as many as one request takes. */
export interface Chunk {
  readonly nodes: readonly FileNode[];
  /** Characters of the file so far, for the progress. */
  readonly readCount: number;
}

/** The file is not such a file, or is damaged. */
export class SubtreeFileError extends Error {
  override readonly name = "SubtreeFileError";
}

export function headerLine(path: string, atMs: number): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, path, exportedAt: new Date(atMs).toISOString() })}\n`;
}

/** Empty for a node whose data was masked: an import would make it empty. */
export function nodeLine({ path, data, acl, isMasked }: ExportedNodeJson): string {
  if (isMasked) return "";
  const shown = data === null ? null : data.text === undefined ? { base64: data.base64 } : { text: data.text };
  return `${JSON.stringify({ path, data: shown, acl })}\n`;
}

/** @throws SubtreeFileError with the number of the line */
export async function* chunksOf(text: AsyncIterable<string>): AsyncGenerator<Chunk, void, undefined> {
  let [nodes, size, readCount, number]: [FileNode[], number, number, number] = [[], 0, 0, 0];
  for await (const line of linesOf(text)) {
    number++;
    readCount += line.length + 1;
    if (line.trim() === "") continue;
    const value = parse(line, number);
    if (number === 1) {
      checkHeader(value);
      continue;
    }
    if (nodes.length > 0 && (size + line.length > CHUNK_CHARS_MAX || nodes.length >= CHUNK_NODES_MAX)) {
      yield { nodes, readCount };
      [nodes, size] = [[], 0];
    }
    nodes.push(nodeOf(value, number));
    size += line.length;
  }
  if (number === 0) throw new SubtreeFileError("The file is empty");
  if (nodes.length > 0) yield { nodes, readCount };
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const part of text) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_CHARS_MAX) throw new SubtreeFileError("A line of the file is too long for a node");
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function parse(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new SubtreeFileError(`Line ${number} is not JSON`);
  }
}

function checkHeader(value: unknown): void {
  const { format, version } = fieldsOf(value);
  if (format !== FORMAT) throw new SubtreeFileError("The file is no export of a subtree: its first line has no format");
  if (version !== VERSION)
    throw new SubtreeFileError(`The file has version ${String(version)}, and this page reads ${VERSION}`);
}

/** The server checks the rest. */
function nodeOf(value: unknown, number: number): FileNode {
  const { path, data, acl } = fieldsOf(value);
  if (typeof path !== "string" || data === undefined) {
    throw new SubtreeFileError(`Line ${number} is no node: it has no path, or no data`);
  }
  return { path, data: data as FileNode["data"], acl: acl as FileNode["acl"] };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
