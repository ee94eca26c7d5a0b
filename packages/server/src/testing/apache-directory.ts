import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApacheTree, apacheTransaction, apacheTreeSnapshot } from "@zooid/txn-log/sqlite";
import { ApacheType, apacheLog, recordOf, transaction, type Written } from "@zooid/wire/testing/apache-transactions";

/** The content of an Apache server's data directory, for tests. */
export interface DirectoryContent {
  /** The zxid of a snapshot, made of the transactions up to there. */
  readonly snapshot?: bigint;
  readonly transactions?: readonly Written[];
  readonly sid?: number;
  readonly acceptedEpoch?: string;
  readonly currentEpoch?: string;
}

/** Makes the data directory of an Apache server. @returns its path */
export function makeApacheDirectory(
  place: string,
  { snapshot, transactions = [], sid, acceptedEpoch, currentEpoch }: DirectoryContent,
): string {
  const folder = join(place, "version-2");
  mkdirSync(folder, { recursive: true });
  if (snapshot !== undefined) {
    const tree = new ApacheTree();
    tree.addBuiltIn();
    for (const each of transactions) if (each.zxid <= snapshot) tree.apply(apacheTransaction(transaction(each)));
    const bytes = Buffer.concat([...apacheTreeSnapshot(tree, snapshot, place)]);
    writeFileSync(join(folder, `snapshot.${snapshot.toString(16)}`), bytes);
  }
  const logged = transactions.filter(({ zxid }) => snapshot === undefined || zxid > snapshot);
  const [first] = logged;
  if (first !== undefined) {
    writeFileSync(join(folder, `log.${first.zxid.toString(16)}`), apacheLog(logged.map(transaction)));
  }
  if (sid !== undefined) writeFileSync(join(place, "myid"), `${sid}\n`);
  if (acceptedEpoch !== undefined) writeFileSync(join(folder, "acceptedEpoch"), acceptedEpoch);
  if (currentEpoch !== undefined) writeFileSync(join(folder, "currentEpoch"), currentEpoch);
  return place;
}

interface Creating {
  readonly session?: bigint;
  readonly isEphemeral?: boolean;
  readonly parentCversion?: number;
}

/** A transaction of a session that creates a node. */
export function creating(
  zxid: bigint,
  path: string,
  { session = 7n, isEphemeral = false, parentCversion = Number(zxid & 0xffffn) }: Creating = {},
): Written {
  const record = recordOf.create(path, { data: `${zxid}`, isEphemeral, parentCversion });
  return { zxid, session, type: ApacheType.CREATE, record };
}

/** A transaction that opens a session. */
export function opening(zxid: bigint, session: bigint, timeoutMs: number): Written {
  return { zxid, session, type: ApacheType.CREATE_SESSION, record: recordOf.number(timeoutMs) };
}

/**
 * A transaction that ends a session, with the paths of its ephemerals, as versions from 3.6 on
 * write it.
 */
export function closing(zxid: bigint, session: bigint, paths: readonly string[] = []): Written {
  return { zxid, session, type: ApacheType.CLOSE_SESSION, record: recordOf.paths(paths) };
}
