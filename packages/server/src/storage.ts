import type { Replica } from "@zooid/replica";
import { type LogHandler, MemoryTxnLog, type TxnLog } from "@zooid/txn-log";
import type { StateMark } from "./driver.ts";

/** Where a server's log and state lie. */
export interface Storage extends AsyncDisposable {
  readonly log: TxnLog;
  /** Loads the state and replays the log's tail, before the replica leads. Answers what was found, in words for a log line. */
  recover(replica: Replica): Promise<string>;
  /** The state file may be brought forward to here. */
  mark(mark: StateMark): void;
  /** Bytes on disk. */
  usage(): { readonly stateBytes: number; readonly logBytes: number };
  /** For `mntr` and metrics. */
  metrics(): Iterable<readonly [name: string, value: number | string]>;
}

/** Keeps nothing: for tests and demonstrations. */
export function openMemoryStorage(handler: LogHandler): Storage {
  let isPumping = false;
  const log = new MemoryTxnLog({ sid: 1, handler, takeEpoch: true });
  const append = log.append.bind(log);
  log.append = (batch) => {
    append(batch);
    if (isPumping) return;
    isPumping = true;
    setImmediate(() => {
      isPumping = false;
      log.syncAll();
    });
  };
  return {
    log,
    recover: () => Promise.resolve("nothing is kept"),
    mark: ({ zxid }) => log.allowPurge(zxid),
    usage: () => ({ stateBytes: 0, logBytes: 0 }),
    metrics: () => [],
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
