import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newTxnHeader, newTxnOp, OpCode, sliceOf, ZXID_NONE, type Zxid } from "@zooid/model";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { CHAIN_NONE } from "../src/log/chain.ts";
import { LogFile } from "../src/log/log-file.ts";
import { LogReader } from "../src/log/log-reader.ts";
import { ReaderLeases } from "../src/segments/reader-leases.ts";
import { StateCheckpoint } from "../src/state/state-checkpoint.ts";
import { createStateFile, StateFile } from "../src/state/state-file.ts";
import { Z } from "../src/testing/append-batches.ts";

/**
 * The cost of a checkpoint for each entry, alone on one thread at normal priority: reading and
 * checking the log, and with that making and writing the rows. `node --conditions=@zooid/source
 * bench/checkpoint.bench.ts [directory]`
 * `node --conditions=@zooid/source bench/checkpoint.bench.ts [directory]`
 */
const ENTRIES = 300_000;
const MARK_ENTRIES = 50_000;
const DATA_BYTES = 100;
const READ_BYTES = 256 * 1024;

const directory = mkdtempSync(join(process.argv[2] ?? "/dev/shm", "zooid-checkpoint-"));
try {
  for (const kind of ["create", "setData"] as const) run(kind);
} finally {
  rmSync(directory, { recursive: true });
}

function run(kind: "create" | "setData"): void {
  const logDirectory = join(directory, kind);
  mkdirSync(logDirectory);
  const leases = new ReaderLeases().memory;
  fill(logDirectory, leases, kind);
  const reader = new LogReader(logDirectory, leases);
  const readMs = time(() => walk(reader, Z(1, 0), Z(1, ENTRIES), () => {}));
  const stateFile = join(directory, `${kind}-state.db`);
  createStateFile(stateFile);
  const state = new StateFile(stateFile);
  const checkpoint = new StateCheckpoint(state, new TxnReader());
  const checkpointMs = time(() => {
    for (let first = 0; first < ENTRIES; first += MARK_ENTRIES) {
      const target = Z(1, first + MARK_ENTRIES);
      state.begin();
      checkpoint.begin();
      walk(reader, first === 0 ? ZXID_NONE : Z(1, first), target, (zxid, bytes, start, end) =>
        checkpoint.add(zxid, bytes, start, end),
      );
      checkpoint.end();
      state.commit({ ...state.meta, applied: { zxid: target, chain: CHAIN_NONE }, nextNodeId: checkpoint.nextNodeId });
    }
  });
  checkpoint.release();
  state.close();
  reader[Symbol.dispose]();
  const perEntry = (ms: number): string => ((ms * 1000) / ENTRIES).toFixed(2);
  const mib = Math.round(process.memoryUsage.rss() / 1024 / 1024);
  console.log(
    `${kind}: read ${perEntry(readMs)} µs an entry, read and checkpointed ${perEntry(checkpointMs)} µs; ${mib} MiB resident`,
  );
}

type Sink = (zxid: Zxid, bytes: Buffer, start: number, end: number) => void;

function walk(reader: LogReader, after: Zxid, target: Zxid, sink: Sink): void {
  for (let at = after === Z(1, 0) ? ZXID_NONE : after; at < target; )
    at = reader.walk(at, { bytesMax: READ_BYTES, upTo: target }, sink).last.zxid;
}

function fill(directory: string, leases: SharedArrayBuffer, kind: "create" | "setData"): void {
  const witnessFile = join(directory, "witness");
  const log = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const encoder = new TxnBatchEncoder();
  const header = newTxnHeader();
  const op = newTxnOp();
  op.data = { bytes: new Uint8Array(DATA_BYTES), start: 0, end: DATA_BYTES };
  op.hasData = true;
  header.sessionHigh = 0x01000001;
  header.timeMs = 1_780_000_000_000;
  for (let i = 1; i <= ENTRIES; i++) {
    header.zxid = Z(1, i);
    header.cxid = i;
    header.originSeq = i;
    const isCreate = kind === "create" || i <= 1000;
    op.op = isCreate ? OpCode.CREATE : OpCode.SET_DATA;
    op.node = isCreate ? 4 + i : 5 + (i % 1000);
    op.parent = 1;
    op.parentCversion = isCreate ? i : 0;
    op.version = i;
    op.path = sliceOf(`/bench/node-${String(op.node).padStart(10, "0")}`);
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
    if (i % 1000 !== 0) continue;
    const batch = encoder.take();
    log.begin();
    log.add(Buffer.from(batch.bytes.buffer, 0, batch.end), 0, batch.end, Z(1, 0));
    log.commit();
  }
  log.close();
}

function time(act: () => void): number {
  const startMs = performance.now();
  act();
  return performance.now() - startMs;
}
