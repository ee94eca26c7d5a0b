/** Starts the store's own code on a disk, and says what it shows. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { composeZxid, counterOf, epochOf } from "@zooid/model";
import {
  inspectDirectory,
  type StoreDirectories,
  WITNESS_FILE,
} from "@zooid/txn-log/internal/directory/inspect-directory";
import { findWitnessDamage } from "@zooid/txn-log/internal/directory/witness";
import { LogFile } from "@zooid/txn-log/internal/log/log-file";
import { LogReader } from "@zooid/txn-log/internal/log/log-reader";
import type { DurableLog } from "@zooid/txn-log/internal/log/txn-log";
import { ReaderLeases } from "@zooid/txn-log/internal/segments/reader-leases";
import { readyStateFile } from "@zooid/txn-log/internal/state/ready-state-file";
import { loadStateFile, readStateMeta } from "@zooid/txn-log/internal/state/state-file";
import { openStore } from "@zooid/txn-log/sqlite";
import { batchOf, RecordingHandler } from "@zooid/txn-log/testing/append-batches";
import { promised } from "@zooid/txn-log/testing/promised-log";
import { loaded } from "@zooid/txn-log/testing/state-oracle";
import { sumOf, sumOfState } from "./notes.ts";
import type { Sums } from "./promises.ts";
import { SID, viewOf } from "./small-store.ts";

const READ_BYTES = 1 << 20;
const STATE_FILE = /^state-\d+\.db$/;
/** Names of what is half made, which a start removes. */
const HALF_MADE = /\.new(?:-journal)?$|^spare\.wal$|^stage\.db/;

/**
 * Starts twice, in this thread: what `openStore` runs in its threads. A start that would be
 * refused, or would need a repair, throws; and so does one whose tree or entries were never written
 * so. Between the starts an entry is appended.
 *
 * @returns the view of the first start
 */
export function startOnDisk(directories: StoreDirectories, sums: Sums): string {
  const first = startOnce(directories, sums);
  const second = startOnce(directories, { ...sums, records: new Map([...sums.records, first.appended]) });
  if (second.log.tail.zxid !== first.appended[0])
    throw new Error("what was appended after the first start is not there");
  return viewOf(first.log);
}

interface Start {
  readonly log: DurableLog;
  /** Behind that, and its sum. */
  readonly appended: readonly [zxid: number, sum: string];
}

function startOnce(directories: StoreDirectories, sums: Sums): Start {
  const { directory, logDirectory } = directories;
  const found = inspectDirectory(directories, { sid: SID });
  if (found.shortened !== undefined) throw found.shortened;
  const leases = new ReaderLeases().memory;
  const file = new LogFile({
    directory: logDirectory,
    witnessFile: join(logDirectory, WITNESS_FILE),
    sid: SID,
    ensembleId: undefined,
    takeEpoch: false,
    amnesiac: false,
    applied: found.applied,
    leases,
  });
  try {
    const { log } = file;
    const stateFile = readyStateFile(directory, log, found);
    const { applied } = readStateMeta(stateFile);
    const state = loaded({ loadState: (sink) => loadStateFile(stateFile, sink) });
    expectSum("the tree", applied.zxid, { sum: sumOfState(state), expected: sums.states.get(applied.zxid) });
    using reader = new LogReader(logDirectory, leases);
    for (let at = applied; at.zxid < log.tail.zxid; ) {
      const walk = reader.walk(at.zxid, { bytesMax: READ_BYTES }, (zxid, bytes, start, end) => {
        const sum = sumOf(bytes.subarray(start, end));
        expectSum("the entry", zxid, { sum, expected: sums.records.get(zxid) });
      });
      if (walk.after.chain !== at.chain) throw new Error(`the state is of another history than the log at ${at.zxid}`);
      if (walk.count === 0) throw new Error(`the log ends at ${at.zxid}, before ${log.tail.zxid}`);
      at = walk.last;
    }
    const halfMade = [...readdirSync(directory), ...readdirSync(logDirectory)].filter((name) => HALF_MADE.test(name));
    if (halfMade.length > 0) throw new Error(`the start leaves ${halfMade.join(", ")}`);
    const states = readdirSync(directory).filter((name) => STATE_FILE.test(name));
    if (states.length !== 1) throw new Error(`the start leaves ${states.join(" and ")}`);
    return { log, appended: append(file) };
  } finally {
    file.close();
  }
}

function append(file: LogFile): Start["appended"] {
  const { zxid: tail } = file.log.tail;
  const zxid = composeZxid(Math.max(1, epochOf(tail)), counterOf(tail) + 1);
  const record = Buffer.from(`after a start at ${tail}`);
  const { bytes, start, end, committed } = batchOf([zxid], { records: [record] });
  file.begin();
  file.add(Buffer.from(bytes), start, end, committed);
  file.commit();
  return [zxid, sumOf(record)];
}

function expectSum(
  what: string,
  zxid: number,
  { sum, expected }: { readonly sum: string; readonly expected: string | undefined },
): void {
  if (sum === expected) return;
  throw new Error(
    `${what} at ${zxid} ${expected === undefined ? "was never written" : "differs from what was written"}`,
  );
}

/**
 * Starts a whole store, with its threads, and lets it append. Nothing may be reported but a witness
 * that the cut damaged.
 */
export async function openOnDisk(directories: StoreDirectories): Promise<string> {
  const handler = new RecordingHandler();
  const isWitnessDamaged = findWitnessDamage(join(directories.logDirectory, WITNESS_FILE)) !== undefined;
  await using store = await openStore({ ...directories, sid: SID, handler });
  const view = viewOf(store.log.durable);
  await promised(store.log, handler).setConfigs({});
  if (handler.warnings.length > (isWitnessDamaged ? 1 : 0)) throw new Error(handler.warnings.join("; "));
  return view;
}
