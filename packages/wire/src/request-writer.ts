/**
 * Requests as a client writes them: the header, and the body of each operation behind it. The
 * server's side of the same records is `request-codec.ts`.
 */
import type { Acl } from "@zooid/model";
import { writeAcl } from "./acl-codec.ts";
import type { JuteWriter } from "./jute-writer.ts";

export function writeRequestHeader(writer: JuteWriter, xid: number, op: number): void {
  writer.int(xid);
  writer.int(op);
}

/** exists, getData, getChildren, getChildren2. */
export function writePathAndWatch(writer: JuteWriter, path: string, watch: boolean): void {
  writer.text(path);
  writer.bool(watch);
}

/** delete, check; addWatch, checkWatches and removeWatches, whose number is a mode or type. */
export function writePathAndInt(writer: JuteWriter, path: string, value: number): void {
  writer.text(path);
  writer.int(value);
}

/**
 * create, create2 and createContainer; with `ttlMs` createTTL. Data may be null, which is not the
 * same as empty.
 */
export function writeCreate(
  writer: JuteWriter,
  create: {
    readonly path: string;
    readonly data: Uint8Array | null;
    readonly acl: Acl;
    readonly flags: number;
    readonly ttlMs?: number | undefined;
  },
): void {
  writer.text(create.path);
  writeData(writer, create.data);
  writeAcl(writer, create.acl);
  writer.int(create.flags);
  if (create.ttlMs !== undefined) writer.zxid(create.ttlMs);
}

export function writeSetData(writer: JuteWriter, path: string, data: Uint8Array | null, version: number): void {
  writer.text(path);
  writeData(writer, data);
  writer.int(version);
}

export function writeSetAcl(writer: JuteWriter, path: string, acl: Acl, version: number): void {
  writer.text(path);
  writeAcl(writer, acl);
  writer.int(version);
}

export function writeAuth(writer: JuteWriter, scheme: string, auth: Uint8Array): void {
  writer.int(0);
  writer.text(scheme);
  writer.range(auth, 0, auth.length);
}

/** Writes the header before each op of a multi, and with `done` after the last. */
export function writeMultiHeader(writer: JuteWriter, op: number, done: boolean): void {
  writer.int(done ? -1 : op);
  writer.bool(done);
  writer.int(-1);
}

/** The paths that a client watches, by what armed them. The last two lists are setWatches2's. */
export interface WatchedPaths {
  readonly data: readonly string[];
  readonly exists: readonly string[];
  readonly children: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

/**
 * setWatches, or setWatches2 where `two` says so.
 *
 * @param zxid the last that the client saw in an answer
 */
export function writeSetWatches(writer: JuteWriter, zxid: number, paths: WatchedPaths, two: boolean): void {
  writer.zxid(zxid);
  writeTexts(writer, paths.data);
  writeTexts(writer, paths.exists);
  writeTexts(writer, paths.children);
  if (!two) return;
  writeTexts(writer, paths.persistent);
  writeTexts(writer, paths.recursive);
}

function writeTexts(writer: JuteWriter, texts: readonly string[]): void {
  writer.int(texts.length);
  for (const text of texts) writer.text(text);
}

function writeData(writer: JuteWriter, data: Uint8Array | null): void {
  if (data === null) writer.null();
  else writer.range(data, 0, data.length);
}
