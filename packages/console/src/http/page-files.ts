/**
 * The page's files, read once: requests are looked up in a map, and no path of a request is joined
 * to a directory.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BrotliOptions, brotliCompress, constants, gzip, type ZlibOptions } from "node:zlib";

export type ContentEncoding = "br" | "gzip";

/**
 * A file of the page. It is compressed at the first request for it, in libuv's threads, and never
 * again.
 */
export class PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Whether the name has a hash of the content. */
  readonly isFixed: boolean;
  readonly #compressed = new Map<ContentEncoding, Promise<Buffer>>();

  constructor(body: Buffer, { type, isFixed }: Pick<PageFile, "type" | "isFixed">) {
    this.type = type;
    this.body = body;
    this.isFixed = isFixed;
    this.etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 20)}"`;
  }

  /**
   * The best encoding among those that a request accepts; undefined for none, and for a small file.
   */
  encodingFor(accepted: string): ContentEncoding | undefined {
    if (this.body.length < SMALL_BYTES) return undefined;
    if (/\bbr\b/.test(accepted)) return "br";
    return /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  }

  encoded(encoding: ContentEncoding): Promise<Buffer> {
    const found = this.#compressed.get(encoding);
    if (found !== undefined) return found;
    const compressed = encoding === "br" ? brotli(this.body, BROTLI) : compressGzip(this.body, { level: 9 });
    this.#compressed.set(encoding, compressed);
    return compressed;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};
const SMALL_BYTES = 512;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const compressGzip = promisify<Buffer, ZlibOptions, Buffer>(gzip);

/** By path below `/console/`; empty where the page is not built. */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return files;
  for (const entry of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[entry.slice(entry.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const name = entry.replaceAll("\\", "/");
    files.set(name, new PageFile(readFileSync(join(directory, entry)), { type, isFixed: name.startsWith("assets/") }));
  }
  return files;
}
