/**
 * The costs of the archive of a history for each entry, stage by stage, in µs of CPU.
 *
 *     npm run tool -- perf-archive-cpu [--entries 100000] [--sizes 100,180,1100] [--seconds 1] [--zeros]
 *
 * Each entry sets the data of one of 2,000 nodes. The data are hexadecimal digits, which zstd
 * halves, or zeros with `--zeros`. All stages run one after another in this thread. The tool counts
 * the CPU time of the thread, so that load beside it only makes caches colder. The system counts in
 * steps of some milliseconds, so that a stage is repeated for `--seconds` of CPU time. In a server
 * the driver's thread copies into the feed, and the archive's thread carries out all other stages;
 * its two ways are the last two lines.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { decimal, toolOptions } from "@zooid/conformance/internal/tool-options";
import {
  CHAIN_NONE,
  composeZxid,
  type LogPosition,
  newTxnHeader,
  newTxnOp,
  OpCode,
  sliceOf,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { ArchiveFileWriter, BLOCK_BYTES } from "@zooid/txn-log/internal/archive/archive-file-writer";
import { EntryCopy } from "@zooid/txn-log/internal/archive/entry-copy";
import { EntryFeed, EntryFeedReader, newFeedMemory } from "@zooid/txn-log/internal/archive/entry-feed";
import { PathIndexBuilder } from "@zooid/txn-log/internal/archive/path-index";
import { packed } from "@zooid/txn-log/internal/archive/zstd";
import { ChainCursor } from "@zooid/txn-log/internal/log/chain";
import { BatchCursor } from "@zooid/txn-log/internal/log/entry-batch";
import { LogReader } from "@zooid/txn-log/internal/log/log-reader";
import { listSegments } from "@zooid/txn-log/internal/segments/segment-name";
import { openStore } from "@zooid/txn-log/sqlite";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { printHead, printRow } from "../figures/markdown-table.ts";

const NODES = 2_000;
const BATCH_ENTRIES = 100;
const BEGIN_MS = 1_700_000_000_000;
const FILE_BYTES = 8 * 1024 * 1024;
/** Bytes of an entry of this tool, without its data. */
const ENTRY_OVERHEAD_BYTES = 48;
const READ_BYTES = 256 * 1024;
const SEED = 7;

const { entries, sizes, seconds, zeros } = toolOptions({
  entries: 100_000,
  sizes: [100, 180, 1100],
  seconds: decimal(1),
  zeros: false,
});

interface Batch {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

const BEGIN: LogPosition = { zxid: ZXID_NONE, chain: CHAIN_NONE };
const LAST = composeZxid(1, entries);
/** Files as the archive's thread writes them. */
class Files {
  readonly #log: LogReader;
  readonly #folder = join(folder, "archive");
  #writer = new ArchiveFileWriter(new TxnReader(), BEGIN);
  #copy: EntryCopy | undefined;

  constructor(log: LogReader) {
    this.#log = log;
    mkdirSync(this.#folder, { recursive: true });
  }

  copy(feed: EntryFeedReader, upTo: Zxid): void {
    this.#copy ??= new EntryCopy(this.#log, feed);
    while (this.#writer.last < upTo) {
      this.#copy.copySome(this.#writer, upTo);
      if (this.#writer.frameBytes >= FILE_BYTES) this.end();
    }
  }

  end(): void {
    const { end } = this.#writer;
    this.#copy?.prove(this.#writer);
    if (this.#writer.frameBytes > 0) {
      this.#writer.finish(this.#folder, "measured", { zxid: end.zxid, bytes: 0, digestHigh: 0, digestLow: 0 });
    }
    this.#writer = new ArchiveFileWriter(new TxnReader(), end);
  }
}

const folder = mkdtempSync(join(tmpdir(), "zooid-archive-cpu-"));
try {
  const columns: Readonly<Record<string, number>>[] = [];
  for (const size of sizes) columns.push(await stagesOf(batchesOf(size), join(folder, `log-${size}`)));
  printHead("µs of CPU an entry", ...sizes.map((size) => `${size} bytes`));
  for (const stage of Object.keys(columns[0] ?? {})) {
    printRow(stage, ...columns.map((column) => (column[stage] ?? 0).toFixed(2)));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function stagesOf(batches: readonly Batch[], directory: string): Promise<Readonly<Record<string, number>>> {
  await fillLog(directory, batches);
  const newest = listSegments(readdirSync(directory)).at(-1);
  using log = LogReader.ofClosed(directory, newest?.sequence ?? 0);
  const cursor = new BatchCursor();
  const each = (act: (zxid: Zxid, bytes: Buffer, start: number, end: number) => void): void => {
    for (const { bytes, start, end } of batches) {
      cursor.open(bytes, start, end);
      while (cursor.next()) act(cursor.zxid, bytes, cursor.start, cursor.end);
    }
  };
  const frames = Buffer.concat(batches.map(({ bytes, start, end }) => bytes.subarray(start, end)));
  return {
    "copied into the feed, and taken": cpuUs(() => copiedThrough(batches, () => {})),
    "read back from the log": cpuUs(() => {
      for (let at = ZXID_NONE; at < LAST; ) at = log.walk(at, { bytesMax: READ_BYTES }, () => {}).last.zxid;
    }),
    "chain, with CRC-32": cpuUs(() => {
      const chain = new ChainCursor();
      each((zxid, bytes, start, end) => chain.add(zxid, end - start, crc32(bytes.subarray(start, end))));
    }),
    "decoded, paths into the index": cpuUs(() => {
      const index = new PathIndexBuilder(new TxnReader(), SEED);
      let [size, count] = [0, 0];
      each((_zxid, bytes, start, end) => {
        index.add(bytes, start, end);
        size += end - start;
        if (size < BLOCK_BYTES) return;
        index.endBlock(count++);
        size = 0;
      });
      index.encode();
    }),
    compressed: cpuUs(() => {
      for (let at = 0; at < frames.length; at += BLOCK_BYTES) {
        packed(frames.subarray(at, Math.min(frames.length, at + BLOCK_BYTES)));
      }
    }),
    "all, from the feed": cpuUs(() => {
      const files = new Files(log);
      copiedThrough(batches, (reader, zxid) => files.copy(reader, zxid));
      files.end();
    }),
    "all, from the log": cpuUs(() => {
      const files = new Files(log);
      files.copy(new EntryFeedReader(newFeedMemory(0)), LAST);
      files.end();
    }),
  };
}

/** Copies all batches into a feed, and takes its entries after each quarter of its size. */
function copiedThrough(batches: readonly Batch[], take: (reader: EntryFeedReader, upTo: Zxid) => void): void {
  const memory = newFeedMemory();
  const [feed, reader] = [new EntryFeed(memory), new EntryFeedReader(memory)];
  const markBytes = memory.ring.bytes.byteLength / 4;
  let bytes = 0;
  for (const [at, batch] of batches.entries()) {
    feed.appended(batch);
    bytes += batch.end;
    if (bytes < markBytes && at < batches.length - 1) continue;
    bytes = 0;
    const upTo = composeZxid(1, (at + 1) * BATCH_ENTRIES);
    take(reader, upTo);
    while (reader.next(ZXID_NONE) !== undefined) reader.take(upTo);
  }
}

async function fillLog(directory: string, batches: readonly Batch[]): Promise<void> {
  const handler = {
    appended: () => {},
    roomChanged: () => {},
    warned: console.warn,
    failed: (error: Error) => {
      throw error;
    },
  };
  await using store = await openStore({ directory, sid: 1, handler, takeEpoch: true, retentionMs: 1e12 });
  for (const batch of batches) store.log.append(batch, 1, ZXID_NONE);
  await new Promise<void>((done) => store.log.setConfigs({}, done));
}

function batchesOf(size: number): readonly Batch[] {
  const encoder = new TxnBatchEncoder();
  const [header, op] = [newTxnHeader(), newTxnOp()];
  const batches: Batch[] = [];
  let random = SEED;
  const next = (): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return random >>> 4;
  };
  header.op = OpCode.SET_DATA;
  op.op = OpCode.SET_DATA;
  op.hasData = true;
  for (let counter = 1; counter <= entries; counter++) {
    header.zxid = composeZxid(1, counter);
    header.timeMs = BEGIN_MS + counter;
    header.cxid = counter;
    op.node = 10 + (next() % NODES);
    op.path = sliceOf(`/nodes/n${String(op.node).padStart(6, "0")}`);
    op.version = counter % 1000;
    const dataBytes = Math.max(1, size - ENTRY_OVERHEAD_BYTES);
    let text = "";
    while (!zeros && text.length < dataBytes) text += next().toString(16);
    op.data = sliceOf(text.slice(0, dataBytes).padEnd(dataBytes, "\0"));
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
    if (counter % BATCH_ENTRIES !== 0 && counter !== entries) continue;
    const { bytes, end } = encoder.take();
    batches.push({ bytes: Buffer.from(bytes.subarray(0, end)), start: 0, end });
  }
  return batches;
}

function cpuUs(work: () => void): number {
  work();
  const begin = process.threadCpuUsage();
  for (let count = 1; ; count++) {
    work();
    const { user, system } = process.threadCpuUsage(begin);
    if (user + system >= seconds * 1e6) return (user + system) / count / entries;
  }
}
