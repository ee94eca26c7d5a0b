import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FRAME_HEADER_BYTES, ZXID_NONE } from "@zooid/model";
import { putEntry } from "../src/log/entry-batch.ts";
import { bootLog, newDurableLog } from "../src/log/log-boot.ts";
import { LogFile } from "../src/log/log-file.ts";
import { ReaderLeases } from "../src/segments/reader-leases.ts";
import { removeSegment } from "../src/segments/segment-directory.ts";
import { ROWS_PER_INSERT, SegmentFile } from "../src/segments/segment-file.ts";
import { hasSpare, isRecyclable, makeSpare, recycleSegment, takeSpare } from "../src/segments/spare-segment.ts";
import { Z } from "../src/testing/append-batches.ts";

/**
 * Bytes written and time of a commit: the log as its thread writes it, with rolls, purges and
 * reuse; and one segment in a WAL of full length, for each page size.
 * `node --conditions=@zooid/source bench/segment.bench.ts [directory [device in /proc/diskstats]]`
 *
 * The device's count includes what other processes write. `/proc/self/io` is no substitute: on
 * kernels with large folios it counts 256 KiB for each page that is dirtied.
 */
const RECORD_BYTES = 1080;
const WAL_BYTES = 64 * 1024 * 1024;
const SEGMENT_BYTES = 16 * 1024 * 1024;
const ROLL_BYTES = 14 * 1024 * 1024;
const SECONDS = 2;
const DEVICE = process.argv[3];

const directory = mkdtempSync(join(process.argv[2] ?? "/dev/shm", "zooid-segment-"));
try {
  for (const perSync of [1, 3, 8, 16, 64, 100]) {
    benchLogFile(perSync);
    for (const pageBytes of [1024, 8192]) benchSegment(perSync, pageBytes);
  }
} finally {
  rmSync(directory, { recursive: true });
}

function benchLogFile(perSync: number): void {
  const at = join(directory, "log");
  mkdirSync(at);
  const witnessFile = join(at, "witness");
  const leases = new ReaderLeases().memory;
  const log = new LogFile({ directory: at, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const bytes = Buffer.alloc(perSync * (FRAME_HEADER_BYTES + RECORD_BYTES));
  let counter = 0;
  let commits = 0;
  let rollCount = 0;
  let rollMs = 0;
  const roll = (): void => {
    const { tail } = log.log;
    if (!hasSpare(at)) makeSpare(at, { pageBytes: log.pageBytes(), walBytes: SEGMENT_BYTES });
    const startMs = performance.now();
    log.roll({ above: tail.zxid, bytes: 0, olderThanMs: Number.MAX_SAFE_INTEGER }, Date.now());
    rollMs += performance.now() - startMs;
    rollCount++;
    for (const { name } of log.retired.splice(0)) {
      if (!hasSpare(at) && isRecyclable(at, name, SEGMENT_BYTES)) recycleSegment(at, name, log.pageBytes());
      else removeSegment(at, name);
    }
  };
  roll();
  measure(`log, ${perSync} per sync`, perSync, () => {
    let end = 0;
    for (let i = 0; i < perSync; i++) end = putEntry(bytes, end, Z(1, ++counter), recordOf(counter));
    log.begin();
    log.add(bytes, 0, end, counter > perSync ? Z(1, counter - perSync) : ZXID_NONE);
    const startMs = performance.now();
    log.commit();
    const tookMs = performance.now() - startMs;
    if (++commits % 16 === 0 && log.walBytes() >= ROLL_BYTES) roll();
    return tookMs;
  });
  console.log(`  ${rollCount} rolls of ${(rollMs / rollCount).toFixed(1)} ms`);
  log.close();
  rmSync(at, { recursive: true });
}

function benchSegment(perSync: number, pageBytes: number): void {
  makeSpare(directory, { pageBytes, walBytes: WAL_BYTES });
  const file = takeSpare(directory, { sequence: 1, after: ZXID_NONE });
  const segment = new SegmentFile(file);
  const log = bootLog(newDurableLog({ sid: 1 }), false);
  segment.begin();
  segment.writeHead({ sequence: 1, after: log.tail, commitHint: ZXID_NONE, manifest: [] }, log);
  segment.commit();
  let counter = 0;
  measure(`segment, ${pageBytes / 1024} KiB, ${perSync} per sync`, perSync, () => {
    // One segment is measured: what does not fit would make the file longer.
    if (segment.walBytes() > WAL_BYTES - (1 << 20)) return undefined;
    const rows: (number | Uint8Array)[] = [];
    for (let i = 0; i < perSync; i++) rows.push(Z(1, ++counter), recordOf(counter));
    segment.begin();
    while (rows.length > 2 * ROWS_PER_INSERT) segment.insert(rows.splice(0, 2 * ROWS_PER_INSERT));
    segment.insertEnd([...rows, ZXID_NONE]);
    const startMs = performance.now();
    segment.commit();
    return performance.now() - startMs;
  });
  segment.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

function measure(what: string, perSync: number, commit: () => number | undefined): void {
  const took: number[] = [];
  const before = bytesWritten();
  const endMs = performance.now() + SECONDS * 1000;
  while (performance.now() < endMs) {
    const ms = commit();
    if (ms === undefined) break;
    took.push(ms);
  }
  const bytes = bytesWritten() - before;
  took.sort((a, b) => a - b);
  const at = (share: number): string => (took[Math.floor(took.length * share)] as number).toFixed(3);
  const perEntry = DEVICE === undefined ? "" : `${Math.round(bytes / (took.length * perSync))} bytes an entry, `;
  console.log(`${what}: ${perEntry}commit ${at(0.5)} ms median, ${at(0.99)} ms p99, ${took.length} commits`);
}

/**
 * Bytes written to the whole device since the machine started: nothing else should write. 0 without
 * a device.
 */
function bytesWritten(): number {
  if (DEVICE === undefined) return 0;
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
  const lines = readFileSync("/proc/diskstats", "utf8").split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/)).find((each) => each[2] === DEVICE);
  if (fields === undefined) throw new Error(`/proc/diskstats names no device ${DEVICE}`);
  return Number(fields[9]) * 512;
}

function recordOf(counter: number): Buffer {
  return Buffer.alloc(RECORD_BYTES, `record ${counter} `);
}
