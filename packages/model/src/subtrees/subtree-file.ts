/**
 * A subtree as a file of JSON lines: one that says what it is, one for each node, each behind its
 * parent, and one that ends it. Data is text where it is UTF-8, so that people can read and edit
 * the file.
 *
 * ```
 * {"format":"zooid-subtree","version":1,"path":"/app","exportedAt":"2026-11-29T03:00:00.000Z","hasEnd":true}
 * {"path":"","data":null,"acl":[{"scheme":"world","id":"anyone","permissions":["read"]}]}
 * {"path":"/db","data":{"text":"host=db-1"},"acl":null}
 * {"end":true,"nodes":2}
 * ```
 */
import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";
import { type AclEntryJson, PERMISSION_NAMES } from "./acl-json.ts";

const FORMAT = "zooid-subtree";
const VERSION = 1;
/**
 * A node's data has 1 MiB by default, four thirds of it as base64, and JSON may escape each byte of
 * a text.
 */
const LINE_CHARS_MAX = 8_000_000;

export type SubtreeData = { readonly text: string } | { readonly base64: string };

/** A node of the file. */
export interface SubtreeNode {
  /** Below the root of the subtree; empty for the root itself. */
  readonly path: string;
  /** Null is not the same as none. */
  readonly data: SubtreeData | null;
  /** Null: it is not known, or not part of the export. */
  readonly acl: readonly AclEntryJson[] | null;
  /** Default: an ordinary node. Clients do not learn it: exports of data directories have it. */
  readonly kind?: "container" | "ttl";
  /** Time without children and writes until the servers delete a node of the kind "ttl". */
  readonly ttlMs?: number;
}

export interface SubtreeLine {
  readonly node: SubtreeNode;
  /** In the file, from 1. */
  readonly number: number;
  /** Characters of the file so far, for the progress. */
  readonly readCount: number;
}

/** The file is not such a file, or is damaged. */
export class SubtreeFileError extends Error {
  override readonly name = "SubtreeFileError";
  readonly code = "INVALID_SUBTREE_FILE";

  constructor(message: string) {
    super(message);
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/** @param exportedAt in ISO's form */
export function headerLine(path: string, exportedAt: string): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, path, exportedAt, hasEnd: true })}\n`;
}

export function nodeLine({ path, data, acl, kind, ttlMs }: SubtreeNode): string {
  return `${JSON.stringify({ path, data, acl, kind, ttlMs })}\n`;
}

/** The last line: a file without it was cut off. */
export function endLine(nodeCount: number): string {
  return `${JSON.stringify({ end: true, nodes: nodeCount })}\n`;
}

/** The data of a node as a file has them: as text where that has all bytes. */
export function subtreeData(bytes: Uint8Array | null): SubtreeData | null {
  if (bytes === null) return null;
  try {
    return { text: UTF8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") };
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function subtreeBytes(data: SubtreeData | null): Uint8Array | null {
  if (data === null) return null;
  return "base64" in data ? Buffer.from(data.base64, "base64") : Buffer.from(data.text);
}

/**
 * The nodes of a file, in its order.
 *
 * @throws SubtreeFileError with the number of the line
 */
export async function* nodesOf(text: AsyncIterable<string>): AsyncGenerator<SubtreeLine, void, undefined> {
  let [readCount, number, nodeCount, hasEnd, isEnded] = [0, 0, 0, false, false];
  for await (const line of linesOf(text)) {
    number++;
    readCount += line.length + 1;
    if (line.trim() === "") continue;
    if (isEnded) throw new SubtreeFileError(`Line ${number} is behind the end of the export`);
    const value = parse(line, number);
    if (number === 1) {
      hasEnd = checkHeader(value)["hasEnd"] === true;
      continue;
    }
    const { end, nodes } = fieldsOf(value);
    if (end === true) {
      if (nodes !== nodeCount) {
        throw new SubtreeFileError(`The file has ${nodeCount} nodes, and its last line says ${String(nodes)}`);
      }
      isEnded = true;
      continue;
    }
    nodeCount++;
    yield { node: nodeOf(value, number), number, readCount };
  }
  if (number === 0) throw new SubtreeFileError("The file is empty");
  if (hasEnd && !isEnded) throw new SubtreeFileError("The file is cut off: its last line is missing");
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

function checkHeader(value: unknown): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(value);
  const { format, version } = fields;
  if (format !== FORMAT) throw new SubtreeFileError("The file is no export of a subtree: its first line has no format");
  if (version !== VERSION) {
    throw new SubtreeFileError(`The file has version ${String(version)}, and version ${VERSION} is read here`);
  }
  return fields;
}

function nodeOf(value: unknown, number: number): SubtreeNode {
  const { path, data, acl = null, kind, ttlMs } = fieldsOf(value);
  if (typeof path !== "string" || data === undefined) {
    throw new SubtreeFileError(`Line ${number} is no node: it has no path, or no data`);
  }
  if (!isData(data)) throw new SubtreeFileError(`Line ${number}: data is null, {"text": …} or {"base64": …}`);
  if (!isAcl(acl)) {
    throw new SubtreeFileError(
      `Line ${number}: acl is null, or a list of scheme, id and permissions (${PERMISSION_NAMES.join(", ")})`,
    );
  }
  if (kind !== undefined && kind !== "container" && kind !== "ttl") {
    throw new SubtreeFileError(`Line ${number}: kind is left out, "container" or "ttl"`);
  }
  const hasTtl = typeof ttlMs === "number" && Number.isSafeInteger(ttlMs) && ttlMs > 0;
  if (kind === "ttl" ? !hasTtl : ttlMs !== undefined) {
    throw new SubtreeFileError(
      `Line ${number}: a node of the kind "ttl", and no other one, has ttlMs, in milliseconds`,
    );
  }
  return { path, data, acl, ...(kind === undefined ? {} : { kind }), ...(hasTtl ? { ttlMs } : {}) };
}

function isData(value: unknown): value is SubtreeData | null {
  if (value === null) return true;
  const { text, base64 } = fieldsOf(value);
  if (text !== undefined) return typeof text === "string" && base64 === undefined;
  return typeof base64 === "string" && BASE64.test(base64);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function isAcl(value: unknown): value is readonly AclEntryJson[] | null {
  if (value === null) return true;
  return (
    Array.isArray(value) &&
    value.every((entry: unknown) => {
      const { scheme, id, permissions } = fieldsOf(entry);
      return (
        typeof scheme === "string" &&
        typeof id === "string" &&
        Array.isArray(permissions) &&
        permissions.every((name) => PERMISSION_NAMES.includes(name))
      );
    })
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
