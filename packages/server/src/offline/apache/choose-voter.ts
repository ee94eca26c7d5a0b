import { counted } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { OfflineError } from "../offline-error.ts";
import type { ApacheDirectories } from "./apache-files.ts";
import { type ApacheVoter, compareVoters, epochMaxOf, findVoter } from "./apache-voter.ts";
import { type ApacheState, readApache } from "./read-apache.ts";

/** The content of the directories of an Apache ensemble's servers. */
export interface ApacheEnsemble {
  /** In the order in which they were named. */
  readonly voters: readonly ApacheVoter[];
  /** The one whose state is taken. */
  readonly taken: ApacheVoter;
  readonly state: ApacheState;
  /** The highest epoch that one of them has accepted. */
  readonly epochMax: number;
}

const LEAVE_OUT =
  "leave its directory out only if the others are those of a majority of the voters, which has every acknowledged write";

/**
 * Reads the directories of one ensemble's servers, and takes the state of the server that they
 * would elect: the one with the highest current epoch and, among those, the latest transaction.
 *
 * @throws OfflineError and StoreError
 */
export async function readEnsemble(
  places: readonly ApacheDirectories[],
  warn: (text: string) => void,
): Promise<ApacheEnsemble> {
  const isOne = places.length === 1;
  const voters: ApacheVoter[] = [];
  for (const place of places) voters.push(await explained(isOne, () => findVoter(place, warn)));
  checkNumbers(voters);
  const newestFirst = [...voters].sort((a, b) => (isNewer(a, b) ? -1 : isNewer(b, a) ? 1 : 0));
  const [newest, ...others] = newestFirst;
  if (newest === undefined) throw new OfflineError(["no directory is named"]);
  for (const other of others) {
    if (compareVoters(newest, other) === "one history") continue;
    warn(
      `${newest.directories.dataDir} and ${other.directories.dataDir} have no transaction in common: ` +
        "whether they are of one ensemble is unknown",
    );
  }
  const [taken, state] = await newestWhole(newestFirst, warn);
  warnOfMissing(voters, state, warn);
  const epochMax = Math.max(...voters.map(epochMaxOf));
  return { voters, taken, state, epochMax };
}

function isNewer(one: ApacheVoter, other: ApacheVoter): boolean {
  if (one.currentEpoch !== other.currentEpoch) return one.currentEpoch > other.currentEpoch;
  return one.zxid > other.zxid;
}

/** If the newest directory is damaged, another one with the same last transaction will do. */
async function newestWhole(
  newestFirst: readonly ApacheVoter[],
  warn: (text: string) => void,
): Promise<readonly [ApacheVoter, ApacheState]> {
  const [newest] = newestFirst;
  let damage: unknown;
  for (const voter of newestFirst) {
    if (newest === undefined || isNewer(newest, voter)) break;
    try {
      return [voter, await readApache(voter.directories, warn)];
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof OfflineError)) throw error;
      if (damage !== undefined) continue;
      damage = error;
      if (newestFirst.length > 1)
        warn(`${error.message}; another directory with the same last transaction is taken, if there is one`);
    }
  }
  throw damage;
}

function checkNumbers(voters: readonly ApacheVoter[]): void {
  voters.forEach((voter, i) => {
    const same = voters.find((other, at) => at < i && other.sid !== undefined && other.sid === voter.sid);
    if (same === undefined) return;
    throw new OfflineError([
      `${same.directories.dataDir} and ${voter.directories.dataDir} are both of server ${voter.sid}, by their myid: name the directory of each server once`,
    ]);
  });
}

/** A minority of the voters may lack what the others have acknowledged. */
function warnOfMissing(voters: readonly ApacheVoter[], { tree }: ApacheState, warn: (text: string) => void): void {
  const listed = votersIn(tree.nodes.get("/zookeeper/config")?.data?.toString() ?? "");
  const needed = Math.floor(listed.length / 2) + 1;
  const read = voters.filter(({ sid }) => sid === undefined || listed.includes(sid)).length;
  if (listed.length === 0 || read >= needed) return;
  warn(
    `/zookeeper/config lists ${counted(listed.length, "voter")}, but only the directories of ${read} are named: ` +
      `those of a majority, ${needed}, have every acknowledged write`,
  );
}

/** The numbers of the voters in a configuration as Apache's servers write it. */
function votersIn(config: string): readonly number[] {
  return config
    .split("\n")
    .map((line) => /^server\.(\d{1,3})=(?!.*:observer)/.exec(line)?.[1])
    .filter((sid) => sid !== undefined)
    .map(Number);
}

/** A damaged directory among several stops the import: it may have writes that the others lack. */
async function explained<T>(isOne: boolean, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (cause) {
    if (isOne || !(cause instanceof StoreError) || cause.detail.code !== "DAMAGED") throw cause;
    throw new StoreError({ ...cause.detail, hint: LEAVE_OUT }, { cause });
  }
}
