import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StoreError } from "@zooid/txn-log";
import { apacheLogEntries } from "@zooid/txn-log/sqlite";
import { OfflineError } from "../offline-error.ts";
import { type ApacheDirectories, type ApacheFile, type ApacheFiles, apacheFiles, folderOf } from "./apache-files.ts";
import { damageIn, decodedEntry, logsBehind } from "./read-apache.ts";

/** Epochs and last transaction of one Apache server's directory, found without loading its tree. */
export interface ApacheVoter {
  readonly directories: ApacheDirectories;
  readonly files: ApacheFiles;
  /** Its number; undefined where the directory has no `myid`. */
  readonly sid: number | undefined;
  /**
   * The content of the file with this name; without that file the epoch of the last transaction, as
   * in Apache's server.
   */
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  /** The last transaction. */
  readonly zxid: bigint;
}

/** The bytes that an entry begins with: session, its counter, zxid, time and type. */
const HEADER_BYTES = 32;
const ZXID_OFFSET = 12;
const EPOCH_TEXT = /^\d{1,10}\s*$/;
const SID_TEXT = /^\s*\d{1,3}\s*$/;
const NOTHING = { acl: () => {}, node: () => {}, rest: () => {} };

/**
 * Finds the last transaction of a directory as Apache's server does before an election: it reads
 * every log after the newest snapshot, and the snapshot itself if the logs end before it.
 *
 * @throws OfflineError and StoreError
 */
export async function findVoter(directories: ApacheDirectories, warn: (text: string) => void): Promise<ApacheVoter> {
  const files = apacheFiles(directories);
  const zxid = await lastZxid(files);
  const folder = folderOf(directories.dataDir);
  const ofLast = Number(BigInt.asUintN(64, zxid) >> 32n);
  const [accepted, current] = ["acceptedEpoch", "currentEpoch"].map((name) => epochIn(join(folder, name)));
  const currentEpoch = current ?? ofLast;
  const acceptedEpoch = accepted ?? currentEpoch;
  if (currentEpoch < ofLast || acceptedEpoch < currentEpoch) {
    warn(
      `${directories.dataDir}: its accepted epoch is ${acceptedEpoch}, its current epoch ${currentEpoch}, and its last transaction ` +
        `${shown(zxid)}: on a stopped server none of these is below the next one; the highest is used`,
    );
  }
  return {
    directories,
    files,
    sid: sidIn(directories.dataDir),
    acceptedEpoch,
    currentEpoch: Math.max(currentEpoch, ofLast),
    zxid,
  };
}

/** The highest epoch that the directory knows of. */
export function epochMaxOf({ acceptedEpoch, currentEpoch }: ApacheVoter): number {
  return Math.max(acceptedEpoch, currentEpoch);
}

/** As in Apache's server, an older snapshot replaces one that is not whole. */
async function lastZxid({ snapshots, logs }: ApacheFiles): Promise<bigint> {
  let damage: StoreError | undefined;
  for (const { path, zxid } of snapshots) {
    const last = lastLogged(logsBehind(logs, zxid));
    if (last >= zxid) return last;
    // A follower that received its leader's snapshot has no log up to it.
    const found = await damageIn(path, NOTHING);
    if (found === undefined) return zxid;
    damage ??= found;
  }
  const last = lastLogged(logs);
  if (last === 0n && damage !== undefined) throw damage;
  return last;
}

function lastLogged(logs: readonly ApacheFile[]): bigint {
  let last = 0n;
  for (const { path } of logs) {
    for (const bytes of apacheLogEntries(path)) {
      const { zxid } = decodedEntry(path, bytes);
      if (zxid > last) last = zxid;
    }
  }
  return last;
}

function epochIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "latin1").slice(0, 100);
  if (EPOCH_TEXT.test(text)) return Number(text);
  throw new OfflineError([`${file} has ${JSON.stringify(text)}, where a decimal epoch was expected`]);
}

function sidIn(dataDir: string): number | undefined {
  const file = join(basename(dataDir) === "version-2" ? dirname(dataDir) : dataDir, "myid");
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "latin1").slice(0, 100);
  return SID_TEXT.test(text) ? Number(text) : undefined;
}

export type Comparison = "one history" | "nothing in common";

/**
 * Compares the transactions that are in the logs of both servers. Servers of one ensemble never
 * have different transactions with one zxid.
 *
 * @throws OfflineError that names the first zxid with two transactions, StoreError
 */
export function compareVoters(taken: ApacheVoter, other: ApacheVoter): Comparison {
  const own = headers(logsBehind(other.files.logs, other.files.snapshots[0]?.zxid));
  let mine = own.next();
  if (mine.done === true) return "nothing in common";
  const theirs = headers(logsBehind(taken.files.logs, mine.value.zxid - 1n));
  let its = theirs.next();
  let found: Comparison = "nothing in common";
  while (mine.done !== true && its.done !== true) {
    if (mine.value.zxid < its.value.zxid) mine = own.next();
    else if (mine.value.zxid > its.value.zxid) its = theirs.next();
    else {
      if (mine.value.header !== its.value.header) {
        throw new OfflineError([
          `${taken.directories.dataDir} and ${other.directories.dataDir} have different transactions at ${shown(mine.value.zxid)}: ` +
            "they are of two ensembles; name the directories of one",
        ]);
      }
      found = "one history";
      mine = own.next();
    }
  }
  own.return();
  theirs.return();
  return found;
}

interface Header {
  readonly zxid: bigint;
  readonly header: string;
}

/** Only headers are compared: the bytes behind one depend on the version of the server. */
function* headers(files: readonly ApacheFile[]): Generator<Header, void, void> {
  for (const { path } of files) {
    for (const bytes of apacheLogEntries(path)) {
      // Throws, as the entry is too short.
      if (bytes.length < HEADER_BYTES) decodedEntry(path, bytes);
      yield {
        zxid: bytes.readBigInt64BE(ZXID_OFFSET),
        header: bytes.subarray(0, HEADER_BYTES).toString("latin1"),
      };
    }
  }
}

function shown(zxid: bigint): string {
  return `0x${BigInt.asUintN(64, zxid).toString(16)}`;
}
