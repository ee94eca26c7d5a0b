import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { formatZxid, laterOf, levelOfHistory, OWN_LEVELS, ZXID_NONE, type Zxid } from "@zooid/model/storage";
import { sqliteCode } from "../disk/database.ts";
import { type Chain, formatChain } from "../log/chain.ts";
import { LogReader } from "../log/log-reader.ts";
import type { DurableLog, LogPosition } from "../log/txn-log.ts";
import { refuseOtherMark } from "../segments/format-mark.ts";
import { inspectSegments } from "../segments/segment-directory.ts";
import { FORMAT_MARK_FILE, formatSegmentName, isLogFile } from "../segments/segment-name.ts";
import type { WalMark } from "../segments/wal-scan.ts";
import { inspectStateFile } from "../state/state-file.ts";
import type { StateMeta } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";
import { hasSetAside } from "./set-aside.ts";
import { readWitness, type Witness } from "./witness.ts";

/** The facts of a data directory, found out before anything in it is changed. */
export interface Inspection {
  /** Undefined: nothing was ever promised here. */
  readonly log: DurableLog | undefined;
  /**
   * The state file is there. Without it the state is built from the log, which must then go back to
   * the beginning.
   */
  readonly hasState: boolean;
  /** Where it stands. */
  readonly applied?: LogPosition;
  /** Where the log is lost: the state that is left, which a log begins behind. */
  readonly leftState?: { readonly name: string; readonly ensembleId: string };
  /**
   * The highest feature level of which log and state know, committed or not; 0 where nothing was
   * logged yet.
   */
  readonly level: number;
  /** That of the state; 1 without one. */
  readonly stateLevel: number;
  /** The state names an identity that the log had before. */
  readonly isStateOfBranch?: boolean;
  /** The acked entries that are missing, if any. */
  readonly shortened: StoreError | undefined;
}

export const WITNESS_FILE = "witness";
const STATE_FILE = /^state-\d+\.db$/;
const APACHE_DIRECTORY = "version-2";
/** Apache makes the directory before it writes into it, and others make it for Apache. */
const APACHE_FILE = /^(?:(?:snapshot|log)\..|(?:current|accepted|updating)Epoch$)/;

/** Refuses a directory that belongs to another program, before even a lock is put into it. */
export function refuseForeign(directory: string): void {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const isOurs = names.some((name) => isLogFile(name) || STATE_FILE.test(name));
  if (isOurs || !names.includes(APACHE_DIRECTORY)) return;
  if (!readdirSync(join(directory, APACHE_DIRECTORY)).some((name) => APACHE_FILE.test(name))) return;
  const found = `a ${APACHE_DIRECTORY} directory written by Apache ZooKeeper`;
  const hint =
    "to take the data over: zooid-server import --apache DIR --data NEW (docs/operations.md, From Apache ZooKeeper)";
  throw new StoreError({ code: "FOREIGN", directory, expected: "a directory of Zooid or an empty one", found, hint });
}

/** Where state and log lie; often the same. */
export interface StoreDirectories {
  readonly directory: string;
  readonly logDirectory: string;
}

export interface Owner {
  readonly sid: number;
  readonly ensembleId?: string | undefined;
}

/**
 * Throws the typed error that says why the directory cannot be used.
 *
 * @param owner whose it must be; undefined: anybody's
 */
export function inspectDirectory(directories: StoreDirectories, owner?: Owner): Inspection {
  const file = join(directories.logDirectory, FORMAT_MARK_FILE);
  try {
    return inspect(directories, owner);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const code = sqliteCode(cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (code?.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_ERROR") {
      throw new StoreError({ code: "DAMAGED", file, place: "a page", found: reason }, { cause });
    }
    throw new StoreError({ code: "UNREADABLE", file, reason }, { cause });
  }
}

/** The log found in a directory. */
interface FoundLog {
  readonly log: DurableLog;
  /** The file that defines the log. */
  readonly file: string;
  /** An acknowledged write that SQLite hides. */
  readonly wal: WalMark;
  readonly damage: StoreError | undefined;
  readonly chainAt: (zxid: Zxid) => Chain | undefined;
}

function inspect({ directory, logDirectory }: StoreDirectories, owner: Owner | undefined): Inspection {
  const witness = readWitness(join(logDirectory, WITNESS_FILE));
  const foundLog = findLog(logDirectory);
  const states = readdirSync(directory).filter((name) => STATE_FILE.test(name));
  if (foundLog === undefined) {
    const file = join(logDirectory, FORMAT_MARK_FILE);
    // A damaged witness, too, was written by a log.
    const hasWitness = existsSync(join(logDirectory, WITNESS_FILE));
    const lost = hasWitness || states.length > 0 || hasSetAside(logDirectory);
    const isElsewhere = directory !== logDirectory && existsSync(join(directory, FORMAT_MARK_FILE));
    const found = isElsewhere ? `none there, but one in ${directory}` : "none";
    const missing = { log: undefined, shortened: lost ? shortened(file, "a log", found) : undefined };
    const left = newestState(directory, states);
    if (left === undefined) return { ...missing, hasState: false, level: 0, stateLevel: 1 };
    const { name, meta } = left;
    const leftState = { name, ensembleId: meta.ensembleId };
    const { applied, level } = meta;
    return { ...missing, hasState: true, applied, leftState, level, stateLevel: level };
  }
  const { log, file, damage } = foundLog;
  if (owner !== undefined) refuseStranger(logDirectory, log, owner);
  const state = inspectStateOf(log, directory);
  if (state === undefined) {
    if (log.floor.zxid === 0) {
      const levels = { level: levelOfHistory(log.levelRaise, log.tail.zxid), stateLevel: 1 };
      return { log, hasState: false, ...levels, shortened: damage ?? shortenedOf(foundLog, witness) };
    }
    const place = `the state at ${formatZxid(log.floor.zxid)} or later`;
    throw new StoreError({
      code: "DAMAGED",
      file: join(directory, log.stateFile),
      place,
      found: "the file is missing",
    });
  }
  const { applied, level: stateLevel } = state;
  const newest = Math.max(stateLevel, log.levelRaise.level);
  const level = levelOfHistory({ ...log.levelRaise, level: newest }, laterOf(applied.zxid, log.tail.zxid));
  const levels = { level, stateLevel };
  if (applied.zxid < log.floor.zxid) {
    const place = `the entries after ${formatZxid(applied.zxid)}, where the state stands`;
    throw new StoreError({ code: "DAMAGED", file, place, found: `the log begins after ${formatZxid(log.floor.zxid)}` });
  }
  const isStateOfBranch = isOfBranch(state, log);
  const hasIds = state.ensembleId !== "" && log.identity.ensembleId !== "";
  if (hasIds && state.ensembleId !== log.identity.ensembleId && !isStateOfBranch) {
    const expected = `ensemble ${log.identity.ensembleId}`;
    throw new StoreError({ code: "FOREIGN", directory, expected, found: `a state of ${state.ensembleId}` });
  }
  if (applied.zxid > log.tail.zxid) {
    const lost = shortened(file, entriesUpTo(applied.zxid), entriesUpTo(log.tail.zxid));
    return { log, hasState: true, ...levels, isStateOfBranch, applied, shortened: damage ?? lost };
  }
  refuseSplit(foundLog, applied);
  const lost = damage ?? shortenedOf(foundLog, witness);
  return { log, hasState: true, ...levels, isStateOfBranch, applied, shortened: lost };
}

/**
 * The state of a log. Its format is raised before that of the log: the log then names the level.
 */
function inspectStateOf({ stateFile, levelRaise }: DurableLog, directory: string): StateMeta | undefined {
  try {
    return inspectStateFile(join(directory, stateFile));
  } catch (cause) {
    const { level } = levelRaise;
    const isNewer = cause instanceof StoreError && cause.code === "NEWER_FORMAT" && level > OWN_LEVELS.highest;
    if (!isNewer) throw cause;
    throw new StoreError({ code: "UNKNOWN_LEVEL", directory, level, known: OWN_LEVELS }, { cause });
  }
}

/**
 * The state that holds the most, of those that can be read and hold anything. Without it the log
 * would be of no use where its disk was only not mounted: it begins behind the state.
 */
function newestState(directory: string, names: readonly string[]): { name: string; meta: StateMeta } | undefined {
  let newest: { name: string; meta: StateMeta } | undefined;
  for (const name of names) {
    let meta: StateMeta | undefined;
    try {
      meta = inspectStateFile(join(directory, name));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    if (meta !== undefined && meta.applied.zxid > (newest?.meta.applied.zxid ?? 0)) newest = { name, meta };
  }
  return newest;
}

/** Whether a state was made of what the log has in common with an earlier identity of its own. */
function isOfBranch({ ensembleId, applied }: StateMeta, { identity, branches }: DurableLog): boolean {
  return (
    ensembleId !== identity.ensembleId &&
    branches.some((branch) => branch.ensembleId === ensembleId && applied.zxid <= branch.at.zxid)
  );
}

/** The entries that the log lacks, by the witness. */
function shortenedOf({ log, file, wal }: FoundLog, witness: Witness | undefined): StoreError | undefined {
  if (witness === undefined) return undefined;
  if (witness.zxid > log.tail.zxid) return shortened(file, entriesUpTo(witness.zxid), entriesUpTo(log.tail.zxid));
  if (witness.promise > log.promise.epoch) {
    return shortened(file, `a promise of epoch ${witness.promise}`, `of epoch ${log.promise.epoch}`);
  }
  if (witness.bootCount > log.identity.bootCount) {
    return shortened(file, `start ${witness.bootCount}`, `start ${log.identity.bootCount}`);
  }
  if (witness.currentEpoch > log.currentEpoch) {
    return shortened(file, `current epoch ${witness.currentEpoch}`, `epoch ${log.currentEpoch}`);
  }
  if (witness.wal.salt === wal.salt && witness.wal.frameCount > wal.frameCount) {
    return shortened(file, `a write-ahead log of ${witness.wal.frameCount} frames`, `${wal.frameCount} frames`);
  }
  return undefined;
}

/**
 * Whether the log goes back to the first entry ever, and nothing is known to be wrong with it.
 * Never throws.
 */
export function isLogComplete(logDirectory: string): boolean {
  try {
    const found = findLog(logDirectory);
    return found !== undefined && found.damage === undefined && found.log.floor.zxid === ZXID_NONE;
  } catch {
    return false;
  }
}

function findLog(directory: string): FoundLog | undefined {
  refuseOtherMark(directory);
  const { newest } = inspectSegments(directory);
  if (newest === undefined) return undefined;
  const { log, name, damage } = newest;
  const chainAt = (zxid: Zxid): Chain | undefined => {
    using reader = LogReader.ofClosed(directory, name.sequence);
    return reader.chainAt(zxid);
  };
  return { log, file: join(directory, formatSegmentName(name)), wal: newest.scan, damage, chainAt };
}

function refuseStranger(directory: string, log: DurableLog, owner: Owner): void {
  const { sid, ensembleId } = log.identity;
  if (sid !== owner.sid) {
    const hint =
      "the file myid, or the data directory, is that of another server; a member that alone is its ensemble needs standaloneEnabled=false";
    throw new StoreError({ code: "FOREIGN", directory, expected: `server ${owner.sid}`, found: `server ${sid}`, hint });
  }
  if (owner.ensembleId === undefined || ensembleId === "" || ensembleId === owner.ensembleId) return;
  throw new StoreError({
    code: "FOREIGN",
    directory,
    expected: `ensemble ${owner.ensembleId}`,
    found: `ensemble ${ensembleId}`,
  });
}

/** Log and state must be of one history. */
function refuseSplit({ log, file, chainAt }: FoundLog, applied: LogPosition): void {
  const chain = applied.zxid === log.floor.zxid ? log.floor.chain : chainAt(applied.zxid);
  if (chain === applied.chain) return;
  const found = chain === undefined ? "no such entry" : `chain ${formatChain(chain)}, where the state has another`;
  throw new StoreError({ code: "DAMAGED", file, place: `table log, row ${formatZxid(applied.zxid)}`, found });
}

function entriesUpTo(zxid: Zxid): string {
  return `entries up to ${formatZxid(zxid)}`;
}

function shortened(file: string, expected: string, found: string): StoreError {
  return new StoreError({ code: "LOG_SHORTENED", file, expected, found });
}
