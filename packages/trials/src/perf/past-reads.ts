/**
 * Measures questions about the past over an archive with a million changes of 20,000 nodes.
 *
 *     npm run tool -- perf-past-reads [--changes 1000000] [--nodes 20000] [--files 20] [--asked 500]
 *
 * Each node is created in the oldest file, and set at random from then on. A node at a moment and a
 * page of 50 changes are read with all files opened for that question alone, and again by a reader
 * that keeps their indexes; then all changes in pages, as a stream reads them. Times are those of
 * the processor. The files are in the system's cache. It fails where the 99th percentile of the
 * second reader is above 20 ms for a node and 50 ms for a page, or where fewer than 100,000 changes
 * are read in a second.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import {
  CHAIN_NONE,
  CHANGES_COUNT_MAX,
  composeZxid,
  type LogPosition,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  sliceOf,
  ZXID_NONE,
} from "@zooid/model";
import { ArchiveFileWriter } from "@zooid/txn-log/internal/archive/archive-file-writer";
import { logFolderOf } from "@zooid/txn-log/internal/archive/archive-folder";
import { answerHistory } from "@zooid/txn-log/internal/history/history-answers";
import { BatchCursor } from "@zooid/txn-log/internal/log/entry-batch";
import { HistoryReader } from "@zooid/txn-log/sqlite";
import { decodePastChanges, encodePastChanges } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { inMs, quantiles } from "../figures/quantiles.ts";

const DATA_BYTES = 100;
const NODE_P99_MS_MAX = 20;
const PAGE_P99_MS_MAX = 50;
const PAGE_CHANGES = 50;
const BLOCKS_MAX = 128;
const BATCH = 1000;
const RATE_MIN = 100_000;
const BEGIN_MS = 1_700_000_000_000;

const { changes, nodes, files, asked } = toolOptions({ changes: 1_000_000, nodes: 20_000, files: 20, asked: 500 });
const archive = mkdtempSync(join(tmpdir(), "zooid-past-reads-"));
try {
  writeArchive();
  console.log(`${changes} changes of ${nodes} nodes in ${files} files`);
  const kept = new HistoryReader(archive, new TxnReader());
  measure("opened for each question: ", () => new HistoryReader(archive, new TxnReader()));
  // Fills what it keeps.
  for (let i = 0; i < 20; i++) kept.nodeAt(Buffer.from(pathOf(i)), composeZxid(1, changes));
  const { node, page } = measure("kept indexes:", () => kept);
  const rate = pageRate();
  console.log(`pages of a subtree: ${Math.round(rate)} changes a second, encoded and decoded`);
  if (rate < RATE_MIN) process.exitCode = 1;
  if (node > NODE_P99_MS_MAX || page > PAGE_P99_MS_MAX) process.exitCode = 1;
} finally {
  rmSync(archive, { recursive: true, force: true });
}

/** Changes a second of one processor, as a stream of all nodes reads them. */
function pageRate(): number {
  const reader = new HistoryReader(archive, new TxnReader());
  let count = 0;
  const ms = cpuMs(() => {
    for (let [after, isLast] = [ZXID_NONE, false]; !isLast; ) {
      const page = { path: Buffer.from("/"), scope: "subtree", after, countMax: CHANGES_COUNT_MAX } as const;
      const answer = answerHistory(reader, { kind: "changes", ...page });
      if (answer.kind !== "changes") throw new Error(`the history answers ${answer.kind}`);
      const changes = answer.changes.map((change) => ({ ...change, isReadable: true }));
      count += decodePastChanges(encodePastChanges({ ...answer, changes })).changes.length;
      ({ isLast, reached: after } = answer);
    }
  });
  if (count !== changes) throw new Error(`${count} changes were read`);
  return (count * 1000) / ms;
}

/** @returns the 99th percentiles */
function measure(name: string, readerOf: () => HistoryReader): { readonly node: number; readonly page: number } {
  const nodeMs: number[] = [];
  const pageMs: number[] = [];
  for (let i = 0; i < asked; i++) {
    const path = Buffer.from(pathOf(pick(nodes)));
    const at = composeZxid(1, nodes + 1 + pick(changes - nodes));
    nodeMs.push(cpuMs(() => readerOf().nodeAt(path, at)));
    const query = { path, scope: "node", after: at, blocksMax: BLOCKS_MAX, countMax: PAGE_CHANGES } as const;
    pageMs.push(cpuMs(() => readerOf().changes(query, () => true)));
  }
  const [node, page] = [quantiles(nodeMs), quantiles(pageMs)];
  console.log(`${name} a node at a moment ${inMs(node)}; a page of ${PAGE_CHANGES} changes ${inMs(page)}`);
  return { node: node.p99, page: page.p99 };
}

function writeArchive(): void {
  const folder = logFolderOf(archive);
  mkdirSync(folder, { recursive: true });
  const cursor = new BatchCursor();
  let last: LogPosition = { zxid: composeZxid(1, 0), chain: CHAIN_NONE };
  for (let file = 0, counter = 0; file < files; file++) {
    const writer = new ArchiveFileWriter(new TxnReader(), last);
    for (const end = Math.floor(((file + 1) * changes) / files); counter < end; ) {
      const count = Math.min(BATCH, end - counter);
      const { bytes, end: bytesEnd } = batchOf(counter + 1, count);
      cursor.open(bytes, 0, bytesEnd);
      while (cursor.next()) writer.add(cursor.zxid, bytes, cursor.start, cursor.end);
      counter += count;
    }
    last = writer.end;
    writer.finish(folder, "measured", { zxid: last.zxid, bytes: 0, digestHigh: 0, digestLow: 0 });
  }
}

function batchOf(first: number, count: number): { readonly bytes: Uint8Array; readonly end: number } {
  const encoder = new TxnBatchEncoder();
  const [header, op] = [newTxnHeader(), newTxnOp()];
  for (let counter = first; counter < first + count; counter++) {
    header.zxid = composeZxid(1, counter);
    header.timeMs = BEGIN_MS + counter;
    op.op = counter <= nodes ? OpCode.CREATE : OpCode.SET_DATA;
    op.path = sliceOf(pathOf(counter <= nodes ? counter - 1 : pick(nodes)));
    op.hasData = true;
    op.data = sliceOf(`${counter} `.padEnd(DATA_BYTES, "x"));
    op.acl = OPEN_ACL;
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
  }
  return encoder.take();
}

function pathOf(number: number): string {
  return `/nodes/n${String(number).padStart(6, "0")}`;
}

function pick(count: number): number {
  return Math.floor(Math.random() * count);
}

function cpuMs(work: () => void): number {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}
