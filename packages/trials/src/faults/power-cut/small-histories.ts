/**
 * Short histories, each of one thing that changes several files, on the real store. A process runs
 * them while shim.c records it.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempDisposableSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { composeZxid, type LogPosition, parseMembers, type Zxid } from "@zooid/model";
import type { StoreDirectories } from "@zooid/txn-log/internal/directory/inspect-directory";
import { SPARE_FILE } from "@zooid/txn-log/internal/segments/segment-name";
import type { Oracle } from "@zooid/txn-log/testing/state-oracle";
import { receive, sent } from "@zooid/txn-log/testing/transfers";
import { DynamicFile } from "zooid-server/internal/configuration/dynamic-file";
import { membersInForce } from "./configuration-files.ts";
import { Notes } from "./notes.ts";
import { SID, SmallStore } from "./small-store.ts";

/** Within the folder that is recorded. */
export const DATA = "data";
export const LOG = "log";
export const CONFIGURATION = "conf";
export const FILES_TRACK = "configuration files";

export type SmallHistory = "first-start" | "roll" | "checkpoint" | "snapshot" | "history" | "reconfiguration";

const SMALL_HISTORIES: Readonly<Record<SmallHistory, (root: string, notes: Notes) => Promise<void>>> = {
  /** The first start in an empty directory. */
  "first-start": async (root, notes) => {
    notes.begin();
    await using store = await SmallStore.open(storeDirectories(root), notes);
    await store.append(2);
  },
  /** A segment begins in the spare, which is then made of a segment that was purged. */
  roll: async (root, notes) => {
    await using store = await SmallStore.open(storeDirectories(root), notes);
    const { log } = store.store;
    // Twice: the first segment is no spare's, and so it is not used again.
    for (let purges = 1; purges <= 2; purges++)
      while (log.stats().purgedCount < purges) {
        await store.append(2);
        await store.checkpoint();
      }
    notes.begin();
    const isReused = (): boolean => readdirSync(join(root, DATA)).includes(SPARE_FILE);
    for (const { rollCount } = log.stats(); log.stats().rollCount === rollCount || !isReused(); ) {
      await store.append(2);
      await store.checkpoint();
    }
    await store.append(1);
  },
  /** The state follows the log. */
  checkpoint: async (root, notes) => {
    await using store = await SmallStore.open(storeDirectories(root), notes);
    await store.append(30);
    await store.checkpoint();
    await store.append(20);
    notes.begin();
    await store.checkpoint();
    await store.append(1);
  },
  /** A leader's state takes the place of state and log. */
  snapshot: async (root, notes) => {
    using temporary = mkdtempDisposableSync(join(tmpdir(), "power-cut-leader-"));
    const place = temporary.path;
    await using leader = await SmallStore.open(storeDirectories(place), new Notes(notes));
    await using learner = await SmallStore.open(storeDirectories(root, "snapshot"), notes);
    await learner.append(10);
    await learner.checkpoint();
    await leader.append(40);
    const { source, chunks } = await sent(leader.store);
    notes.begin();
    const snapshot = await receive(learner.store, source, chunks);
    await learner.step((log) => log.setPromise({ epoch: 2, sid: 2, incarnation: 1 }));
    await learner.step((log) => log.beginStage(source.position));
    const { zxid: tail } = source.position;
    await learner.step((log) => log.installHistory({ epoch: 2, tail, committed: tail, snapshot }));
    learner.store.adoptState();
    learner.continueFrom(leader.oracle, 2);
    await learner.append(2);
  },
  /** A leader's history takes the place of what was not committed, and then is added to. */
  history: async (root, notes) => {
    await using store = await SmallStore.open(storeDirectories(root), notes);
    await store.append(8);
    const before = store.oracle.copy();
    const after = store.store.log.durable.tail;
    await store.append(3, { isCommitted: false });
    notes.begin();
    await install(store, { epoch: 2, after, from: before });
    await install(store, { epoch: 3, after: store.store.log.durable.tail, from: store.oracle });
    await store.append(1, { isCommitted: false });
    await store.step((log) => log.cut(composeZxid(3, 2)));
  },
  /** A configuration is logged, comes into force and is written into its files. */
  reconfiguration: async (root, notes) => {
    const file = join(root, CONFIGURATION, "zoo.cfg");
    writeSynced(file, `dataDir=${DATA}\nserver.${SID}=h1:2888:3888;2181\n`);
    const files = new DynamicFile(file, SID);
    const view = (): string => membersInForce(file, (name) => readFileSync(name, "utf8"));
    await notes.step(FILES_TRACK, () => {}, view);
    await using store = await SmallStore.open(storeDirectories(root), notes);
    notes.begin();
    for (const sids of [
      [1, 2],
      [1, 2, 3],
    ]) {
      const lines = sids.map((sid) => `server.${sid}=h${sid}:2888:3888;2181`).join("\n");
      const config = Buffer.from(lines);
      await store.append(1, { lastSeenConfig: config });
      await store.step((log) => log.setConfigs({ committed: config }));
      const members = { ...parseMembers(lines), version: store.oracle.zxid };
      await notes.step(FILES_TRACK, () => files.write(members), view);
    }
  },
};

export const SMALL_HISTORY_NAMES: readonly SmallHistory[] = Object.keys(SMALL_HISTORIES).filter(isSmallHistory);

export function isSmallHistory(name: string): name is SmallHistory {
  return Object.hasOwn(SMALL_HISTORIES, name);
}

/** Makes the folders, which last, then the history in them. */
export async function runSmallHistory(name: SmallHistory, root: string, notes: Notes): Promise<void> {
  for (const folder of [DATA, LOG, CONFIGURATION]) mkdirSync(join(root, folder));
  syncFolder(root);
  await SMALL_HISTORIES[name](root, notes);
}

/**
 * Where the store of a history lies: the log apart from the state where files of both change in one
 * step, so that no sync of the one is the other's.
 */
export function storeDirectories(root: string, name?: SmallHistory): StoreDirectories {
  return { directory: join(root, DATA), logDirectory: join(root, name === "snapshot" ? LOG : DATA) };
}

interface Install {
  readonly epoch: number;
  readonly after: LogPosition;
  /** The state there. */
  readonly from: Oracle;
}

async function install(store: SmallStore, { epoch, after, from }: Install): Promise<void> {
  await store.step((log) => log.setPromise({ epoch, sid: 2, incarnation: 1 }));
  await store.step((log) => log.beginStage(after));
  store.continueFrom(from, epoch);
  const bytes = store.transactions(3);
  await store.step((log) => log.stage(bytes, 0, bytes.length));
  const tail: Zxid = store.oracle.zxid;
  await store.step((log) => log.installHistory({ epoch, tail, committed: after.zxid }));
}

function writeSynced(file: string, text: string): void {
  const descriptor = openSync(file, "w");
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  syncFolder(dirname(file));
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
