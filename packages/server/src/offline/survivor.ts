import { epochOf, formatZxid, type Members, newTxnHeader, ZXID_NONE, type Zxid } from "@zooid/model";
import { type DurableLog, StoreError } from "@zooid/txn-log";
import { readStore, walkClosedLog } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { decodeMembers } from "@zooid/zab";
import { type DataDirectories, storeDirectories } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";

/**
 * The content of a data directory of a stopped member, as far as it can be read without changing
 * it.
 */
export interface Survivor {
  readonly directories: DataDirectories;
  readonly sid: number;
  /** Empty for a server that never was a member. */
  readonly ensembleId: string;
  /** The epoch of the newest leader whose history it has. */
  readonly epoch: number;
  /** The highest epoch that it knows. */
  readonly epochMax: number;
  /**
   * The last transaction that is logged, and when its leader made it; undefined where that cannot
   * be read.
   */
  readonly zxid: Zxid;
  readonly timeMs: number | undefined;
  /** Known to be committed up to here: later ones may be committed or not. */
  readonly committed: Zxid;
  /** How many those are; undefined where they cannot be read. */
  readonly uncommittedCount: number | undefined;
  /** The last configuration that is kept with the data; undefined where files have it. */
  readonly members: Members | undefined;
  /** The damaged or missing part, in a sentence. */
  readonly damage: string | undefined;
}

/**
 * Looks at a data directory that no server has open.
 *
 * @throws StoreError where it is in use or unreadable, OfflineError where it holds no log
 */
export function readSurvivor(directories: DataDirectories): Survivor {
  const places = storeDirectories(directories);
  const { log, applied, shortened, epochMax } = readStore(places);
  if (log === undefined) {
    const lost =
      shortened === undefined
        ? ""
        : ", but other files of one: if its log lies elsewhere (dataLogDir), name that directory, too. If the log is lost, start the server once and stop it: it begins a log behind the state that is left, which recover --force takes";
    throw new OfflineError([`${places.logDirectory} holds no log of a server${lost}`]);
  }
  const { identity, currentEpoch, tail, floor, commitHint } = log;
  const damages = [shortened?.message ?? (log.amnesiac ? LOST_BEFORE : undefined)];
  const read = (after: Zxid): ReturnType<typeof walk> => {
    try {
      return walk(directories, after);
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      damages.push(cause.message);
      return { count: undefined, timeMs: undefined };
    }
  };
  const committed = applied !== undefined && applied.zxid > commitHint ? applied.zxid : commitHint;
  const behind = read(committed);
  const timeMs = behind.timeMs ?? read(floor.zxid).timeMs;
  return {
    directories,
    sid: identity.sid,
    ensembleId: identity.ensembleId,
    epoch: currentEpoch,
    epochMax,
    zxid: tail.zxid,
    timeMs,
    committed,
    uncommittedCount: behind.count,
    members: membersIn(log),
    damage: damages.find((damage) => damage !== undefined),
  };
}

const LOST_BEFORE =
  "the server lost a part of its log before, and was not synchronized since: what it holds may lack acknowledged writes";

/**
 * The newest history first: as an election decides, by the leader's epoch, then by the last
 * transaction.
 */
export function newestFirst(survivors: readonly Survivor[]): readonly Survivor[] {
  return survivors.toSorted((a, b) => b.epoch - a.epoch || b.zxid - a.zxid);
}

function walk(
  directories: DataDirectories,
  after: Zxid,
): { readonly count: number | undefined; readonly timeMs: number | undefined } {
  const reader = new TxnReader();
  const header = newTxnHeader();
  let timeMs: number | undefined;
  const count = walkClosedLog(storeDirectories(directories), after, (_zxid, bytes, start, end) => {
    reader.open(bytes, start, end, header);
    timeMs = header.timeMs;
  });
  return { count, timeMs };
}

/**
 * The newest one that is kept with the data: a change that was not committed is in force once the
 * log is.
 */
export function membersIn({ committedConfig, lastSeenConfig }: DurableLog): Members | undefined {
  const stored = [committedConfig, lastSeenConfig].map((bytes) =>
    bytes === undefined ? undefined : decodeMembers(bytes),
  );
  return stored.reduce((newest, members) => {
    if (newest === undefined || members === undefined) return newest ?? members;
    return members.version > newest.version ? members : newest;
  }, undefined);
}

/** `0x300000007 (epoch 3)` */
export function positionText(zxid: Zxid): string {
  return zxid === ZXID_NONE ? "no transaction" : `${formatZxid(zxid)} (epoch ${epochOf(zxid)})`;
}
