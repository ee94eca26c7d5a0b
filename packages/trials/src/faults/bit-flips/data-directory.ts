/** A data directory with every kind of file, and what must be found in it again. */

import { createHash } from "node:crypto";
import { openStore, type Store } from "@zooid/txn-log/sqlite";
import { promised } from "@zooid/txn-log/testing/promised-log";
import { runOracle } from "@zooid/txn-log/testing/state-history";
import { loaded, Oracle } from "@zooid/txn-log/testing/state-oracle";

/**
 * The last commit of the directory: a flip in it looks like a tear, so each kind is a case of its
 * own.
 */
export const LAST_COMMITS = ["entries", "promise", "current-epoch", "ensemble-id", "configuration"] as const;
export type LastCommit = (typeof LAST_COMMITS)[number];

/** The content of an open store. Two starts of an undamaged directory give equal ones. */
export interface Contents {
  readonly tail: string;
  readonly promise: string;
  readonly facts: string;
  readonly entries: string;
  readonly state: string;
}

/** The reports of a store while it is open. */
export interface Reports {
  readonly failed: (error: Error) => void;
  readonly warned: (text: string) => void;
}

const SEGMENT_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const EPOCH = 3;

/** Makes the directory and closes it. @returns the history, which {@link writeOn} continues */
export async function makeDirectory(directory: string, lastCommit: LastCommit, seed: number): Promise<Oracle> {
  await using store = await openStore({
    directory,
    sid: 1,
    segmentBytes: SEGMENT_BYTES,
    logKeepBytes: 3 * SEGMENT_BYTES,
    handler: newHandler(),
  });
  const log = promised(store.log);
  await log.setPromise({ epoch: EPOCH, sid: 2, incarnation: 7 });
  await log.setCurrentEpoch(EPOCH - 1);
  await log.setConfigs({ committed: Uint8Array.of(1, 2), lastSeen: Uint8Array.of(3, 4) });
  const oracle = new Oracle(seed, loaded(store));
  for (let batch = 0; batch < 60; batch++) {
    await runOracle(store, oracle, 16);
    if (batch % 8 === 7) await store.state.flush();
  }
  await store.state.flush();
  // Behind the state, so that a start replays.
  for (let batch = 0; batch < 12; batch++) await runOracle(store, oracle, 16);
  if (lastCommit === "promise") await log.setPromise({ epoch: EPOCH + 1, sid: 3, incarnation: 2 });
  if (lastCommit === "current-epoch") await log.setCurrentEpoch(EPOCH);
  if (lastCommit === "ensemble-id") await log.setEnsembleId("colony");
  if (lastCommit === "configuration") await log.setConfigs({ lastSeen: Uint8Array.of(9, 9, 9) });
  return oracle;
}

/** Opens a directory as the next start would, and reads all of it. */
export async function open(directory: string, reports: Reports): Promise<Store> {
  return await openStore({ directory, sid: 1, handler: newHandler(reports), checkpointMs: 3_600_000 });
}

export async function read(store: Store): Promise<Contents> {
  const { tail, promise, currentEpoch, epochs, floor, identity, committedConfig, lastSeenConfig, amnesiac } =
    store.log.durable;
  const state = createHash("sha1");
  const meta = store.loadState({
    session: ({ idHigh, idLow, timeoutMs, passwordHash }) => {
      state.update(`session ${idHigh} ${idLow} ${timeoutMs} `).update(passwordHash);
    },
    node: ({ id, parentId, name, hasData, data, stat, acl }) => {
      state.update(`node ${id} ${parentId} ${hasData} ${JSON.stringify(acl)} ${data.end - data.start} `);
      for (const { bytes, start, end } of [name, data, stat]) state.update(bytes.subarray(start, end));
    },
  });
  const { applied, digestHigh, digestLow, nextNodeId } = meta;
  state.update(`meta ${applied.zxid} ${applied.chain} ${digestHigh} ${digestLow} ${nextNodeId} ${meta.ensembleId}`);
  const replayed = store.replay(applied, () => {});
  const entries = createHash("sha1");
  let at = floor.zxid;
  for (;;) {
    const run = await promised(store.log).read(at, READ_BYTES);
    if (run.count === 0) break;
    entries.update(run.bytes);
    at = run.last.zxid;
  }
  return {
    tail: `${tail.zxid} ${tail.chain}, replayed to ${replayed.zxid}, read to ${at}`,
    promise: JSON.stringify(promise),
    facts: JSON.stringify([
      [currentEpoch, epochs, floor.zxid, String(floor.chain), identity.ensembleId, identity.sid, amnesiac],
      [committedConfig, lastSeenConfig].map((bytes) => Buffer.from(bytes ?? []).toString("hex")),
    ]),
    entries: entries.digest("hex"),
    state: state.digest("hex"),
  };
}

/** Appends to an open store, and checkpoints what it appended. */
export async function writeOn(store: Store, oracle: Oracle): Promise<void> {
  for (let batch = 0; batch < 4; batch++) await runOracle(store, oracle, 16);
  await store.state.flush();
}

function newHandler(reports?: Reports): Parameters<typeof openStore>[0]["handler"] {
  const ignore = (): void => {};
  const raise = (error: Error): void => {
    throw error;
  };
  return { appended: ignore, roomChanged: ignore, failed: raise, warned: ignore, ...reports };
}
