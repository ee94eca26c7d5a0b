/**
 * The page's files, read once: requests are looked up in a map, and no path of a request is joined to
 * a directory.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
  readonly etag: string;
  /** Whether the name has a hash of the content. */
  readonly isFixed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};
const SMALL_BYTES = 512;

/** By path below `/console/`; empty where the page is not built. */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return files;
  for (const entry of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[entry.slice(entry.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const name = entry.replaceAll("\\", "/");
    files.set(name, pageFile(readFileSync(join(directory, entry)), { type, isFixed: name.startsWith("assets/") }));
  }
  return files;
}

function pageFile(body: Buffer, { type, isFixed }: Pick<PageFile, "type" | "isFixed">): PageFile {
  const isSmall = body.length < SMALL_BYTES;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  return {
    ...{ type, isFixed, body },
    gzip: isSmall ? undefined : gzipSync(body, { level: 9 }),
    brotli: isSmall ? undefined : brotliCompressSync(body, quality),
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 20)}"`,
  };
}
