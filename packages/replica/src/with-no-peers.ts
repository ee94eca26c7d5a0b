import type { LoggedRun, RunMarks, TxnLog } from "@zooid/model";
import { InvariantError, type LogState, type Zxid } from "@zooid/model";
import type { SnapshotPort, ZabLinks } from "@zooid/zab";

/**
 * The sinks towards disk and other servers, of which an ensemble of one uses only the log's append,
 * and what a restore needs of it.
 */
export interface NoPeers {
  readonly log: TxnLog;
  readonly links: ZabLinks;
  readonly snapshots: SnapshotPort;
}

/** The sinks of an ensemble of one: every call that needs another server is a defect. */
export function withNoPeers(
  log: {
    readonly durable: LogState;
    append(run: LoggedRun, generation: number, committed: Zxid, marks?: RunMarks): void;
  } & Partial<Pick<TxnLog, "setPromise" | "beginStage" | "installHistory">>,
): NoPeers {
  const never = (what: string) => (): never => {
    throw new InvariantError(`an ensemble of one ${what}`);
  };
  return {
    log: {
      get durable() {
        return log.durable;
      },
      append: (run, generation, committed, marks) => log.append(run, generation, committed, marks),
      setPromise: (...write) => (log.setPromise === undefined ? never("promises nothing")() : log.setPromise(...write)),
      setCurrentEpoch: never("takes its epoch when it starts"),
      setConfigs: never("has no configuration"),
      setEnsembleId: never("needs no id"),
      beginStage: (...write) =>
        log.beginStage === undefined ? never("receives no history")() : log.beginStage(...write),
      stage: never("receives no history"),
      dropStage: never("receives no history"),
      installHistory: (...write) =>
        log.installHistory === undefined ? never("receives no history")() : log.installHistory(...write),
      read: never("has applied all that its log holds"),
      chainAt: never("compares its history with no other"),
    },
    links: {
      dial: never("has no other server to dial"),
      cancelDial: never("has no other server to dial"),
      send: never("has no other server to send to"),
      refuse: never("has no links"),
      close: never("has no links"),
    },
    snapshots: {
      open: never("sends no state"),
      start: never("sends no state"),
      credit: never("sends no state"),
      end: never("sends no state"),
      receive: never("receives no state"),
      chunk: never("receives no state"),
      abandon: never("receives no state"),
    },
  };
}
