import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { newTxnHeader, newTxnOp, OpCode, sliceOf } from "@zooid/model";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { type BaseSource, writeBase } from "../archive/archive-base.ts";
import { ArchiveFile } from "../archive/archive-file.ts";
import { ArchiveFileWriter } from "../archive/archive-file-writer.ts";
import { basesFolderOf, logFolderOf } from "../archive/archive-folder.ts";
import { type ArchiveFooter, encodeFooter } from "../archive/archive-format.ts";
import type { BaseManifest } from "../archive/base-manifest.ts";
import { ChunkQueue, writeBasePart } from "../archive/base-part.ts";
import { CHAIN_NONE } from "../log/chain.ts";
import { BatchCursor } from "../log/entry-batch.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { Z } from "./append-batches.ts";

/** Files and bases of archives, with contents and times of a test's choice. */

/** Where the first file of an archive begins. */
export const ARCHIVE_START: LogPosition = { zxid: Z(0, 0), chain: CHAIN_NONE };

/** A position with a chain that no file of the archive has there. */
export function otherChainAt({ zxid }: Pick<LogPosition, "zxid">): LogPosition {
  return { zxid, chain: CHAIN_NONE };
}

/** Replaces fields of a file's footer, whose checksum is right again. */
export function rewriteFooter(file: string, change: (footer: ArchiveFooter) => Partial<ArchiveFooter>): void {
  using opened = new ArchiveFile(file);
  const { footer } = opened;
  const { at, length } = footer.index;
  const before = readFileSync(file).subarray(0, at + length);
  const changed = Object.assign({}, footer, change(footer));
  writeFileSync(file, Buffer.concat([before, encodeFooter(changed)]));
}

/** A state of one chunk; nothing of it is read. */
export function sourceAt(position: LogPosition, chunks: readonly Uint8Array[] = [Buffer.from("chunk")]): BaseSource {
  const left = [...chunks];
  const queue = new ChunkQueue(() => left.shift());
  return {
    position,
    epochs: [],
    digestHigh: 1,
    digestLow: 2,
    nodeCount: 4,
    sessionCount: 0,
    writePart: async (file) => writeBasePart(file, queue),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A base at a position, which the files behind it continue. */
export function baseOf(archive: string, position: LogPosition, takenMs: number): Promise<BaseManifest> {
  return writeBase(basesFolderOf(archive), sourceAt(position), { ensembleId: "", takenMs });
}

/** A base by its counter, with a chain that no file continues. */
export function baseAt(archive: string, counter: number, takenMs: number): Promise<BaseManifest> {
  return baseOf(archive, { zxid: counter === 0 ? Z(0, 0) : Z(1, counter), chain: CHAIN_NONE }, takenMs);
}

/** A file of entries after a position, one for each time. @returns its end */
export function fileBehind(archive: string, after: LogPosition, timesMs: readonly number[], salt = ""): LogPosition {
  mkdirSync(logFolderOf(archive), { recursive: true });
  const writer = new ArchiveFileWriter(new TxnReader(), after);
  const encoder = new TxnBatchEncoder();
  const [header, op] = [newTxnHeader(), newTxnOp()];
  op.op = OpCode.CREATE;
  for (const [i, timeMs] of timesMs.entries()) {
    const counter = (after.zxid === 0 ? 0 : after.zxid - Z(1, 0)) + i + 1;
    header.zxid = Z(1, counter);
    header.timeMs = timeMs;
    op.path = sliceOf(`/${salt}${counter}`);
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
  }
  const { bytes, end } = encoder.take();
  const cursor = new BatchCursor();
  cursor.open(bytes, 0, end);
  while (cursor.next()) writer.add(cursor.zxid, bytes, cursor.start, cursor.end);
  return writer.finish(logFolderOf(archive), "", { zxid: writer.end.zxid, bytes: end, digestHigh: 0, digestLow: 0 })
    .end;
}
