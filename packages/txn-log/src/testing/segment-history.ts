import { join } from "node:path";
import { crc32 } from "node:zlib";
import { counterOf, epochOf, type Zxid } from "@zooid/model";
import { CHAIN_NONE, ChainCursor, chainHigh, chainLow } from "../log/chain.ts";
import { epochsUpTo, withCut, withEntry, withPromise } from "../log/log-book.ts";
import { bootLog, newDurableLog } from "../log/log-boot.ts";
import { LogReader } from "../log/log-reader.ts";
import type { DurableLog, LogPosition } from "../log/txn-log.ts";
import { manifestUpTo } from "../segments/manifest.ts";
import type { SealedSegment } from "../segments/sealed-segment.ts";
import { inspectSegments } from "../segments/segment-directory.ts";
import { createSegment, ROWS_PER_INSERT, SegmentFile } from "../segments/segment-file.ts";
import { formatSegmentName, type SegmentName } from "../segments/segment-name.ts";
import type { SegmentHead } from "../segments/segment-schema.ts";
import { takeSpare } from "../segments/spare-segment.ts";
import { Z } from "./append-batches.ts";

const RECORD_BYTES = 300;

/** Writes segments as a log does, and remembers what must be read back. */
export class SegmentHistory {
  readonly directory: string;
  readonly zxids: Zxid[] = [];
  log: DurableLog = bootLog(newDurableLog({ sid: 1 }), false);
  head: SegmentHead;
  segment: SegmentFile;
  readonly #positions = new Map<Zxid, LogPosition>([[Z(0, 0), { zxid: Z(0, 0), chain: CHAIN_NONE }]]);
  #bytes = 0;

  constructor(directory: string) {
    this.directory = directory;
    this.head = { sequence: 1, after: this.log.tail, commitHint: Z(0, 0), manifest: [] };
    this.segment = this.#beginSegment();
  }

  /** One commit. The first entry of an epoch has counter 1. */
  append(count: number, epoch: number = epochOf(this.log.tail.zxid) || 1): void {
    const rows: (number | Uint8Array)[] = [];
    const chain = new ChainCursor();
    chain.set(this.log.tail.chain);
    let at = this.log.tail.zxid;
    for (let i = 0; i < count; i++) {
      at = Z(epoch, epochOf(at) === epoch ? counterOf(at) + 1 : 1);
      const record = recordOf(at);
      chain.add(at, record.length, crc32(record));
      const position = { zxid: at, chain: chain.value() };
      rows.push(at, Buffer.concat([halves(position), record]));
      this.#positions.set(at, position);
      this.zxids.push(at);
      this.#bytes += record.length;
      this.log = { ...this.log, tail: position, epochs: withEntry(this.log.epochs, at) };
    }
    this.segment.begin();
    while (rows.length > 2 * ROWS_PER_INSERT) this.segment.insert(rows.splice(0, 2 * ROWS_PER_INSERT));
    this.segment.insertEnd([...rows, this.log.commitHint]);
    this.segment.writeHead(this.head, this.log);
    this.segment.commit();
  }

  promise(epoch: number): void {
    this.log = withPromise(this.log, { epoch, sid: 1, incarnation: 1 });
    this.segment.begin();
    this.segment.writeHead(this.head, this.log);
    this.segment.commit();
  }

  /** Seals the newest segment where it ends. */
  roll(): void {
    this.#continueAfter(this.log.tail);
  }

  cut(to: Zxid): void {
    const at = this.#positions.get(to) as LogPosition;
    this.log = { ...withCut(this.log, at), epochs: epochsUpTo(this.log.epochs, to) };
    this.zxids.splice(this.zxids.findLastIndex((zxid) => zxid <= to) + 1);
    this.#continueAfter(at);
  }

  close(): void {
    this.segment.close();
  }

  #continueAfter(at: LogPosition): void {
    const { sequence, after, manifest } = this.head;
    const sealed: SealedSegment = { sequence, after, end: this.#endOf(), bytes: this.#bytes, sealedMs: sequence };
    const commitHint = this.log.commitHint;
    this.head = { sequence: sequence + 1, after: at, commitHint, manifest: manifestUpTo([...manifest, sealed], at) };
    this.segment.close();
    this.segment = this.#beginSegment();
  }

  #endOf(): LogPosition {
    return [...this.#positions.values()].reduce((a, b) => (b.zxid > a.zxid ? b : a));
  }

  #beginSegment(): SegmentFile {
    const name = { sequence: this.head.sequence, after: this.head.after.zxid };
    const file = takeSpare(this.directory, name)
      ? join(this.directory, formatSegmentName(name))
      : createNamed(this.directory, name);
    const segment = new SegmentFile(file);
    segment.begin();
    segment.writeHead(this.head, this.log);
    segment.commit();
    this.#bytes = 0;
    return segment;
  }
}

/** All that a directory of segments holds, each entry and each end checked. */
export function readSegments(directory: string): { readonly zxids: Zxid[]; readonly log: DurableLog } {
  const { newest } = inspectSegments(directory);
  if (newest === undefined) throw new Error("no segment");
  const { name, log, damage } = newest;
  if (damage !== undefined) throw damage;
  const zxids: Zxid[] = [];
  using reader = LogReader.ofClosed(directory, name.sequence);
  for (let at = log.floor.zxid; ; ) {
    const walk = reader.walk(at, { bytesMax: 64 * 1024 }, (zxid, bytes, start, to) => {
      if (!recordOf(zxid).equals(bytes.subarray(start, to))) throw new Error(`a wrong record at ${zxid}`);
      zxids.push(zxid);
    });
    if (walk.count === 0) break;
    at = walk.last.zxid;
  }
  return { zxids, log };
}

function createNamed(directory: string, name: SegmentName): string {
  const file = join(directory, formatSegmentName(name));
  createSegment(file, 1024);
  return file;
}

/** The record of the entry at a zxid. */
export function recordOf(zxid: Zxid): Buffer {
  return Buffer.alloc(RECORD_BYTES + (zxid % 700), `record ${zxid} `);
}

function halves({ chain }: LogPosition): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(chainHigh(chain), 0);
  bytes.writeInt32BE(chainLow(chain), 4);
  return bytes;
}
