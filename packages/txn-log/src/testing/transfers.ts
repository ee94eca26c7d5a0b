import { ZXID_NONE } from "@zooid/model";
import type { Store } from "../sqlite.ts";
import type { ReceivedSnapshot, SnapshotSource } from "../state/state-store.ts";
import { promised } from "./promised-log.ts";

/** The chunks of a source until it ends. */
export async function chunksOf(source: SnapshotSource): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = await source.next();
    if (chunk === undefined) return chunks;
    chunks.push(chunk);
  }
}

/** The state of a store, as it would travel. */
export async function sent(store: Store): Promise<{ source: SnapshotSource; chunks: Uint8Array[] }> {
  const source = await store.openSnapshot();
  const chunks = await chunksOf(source);
  await source[Symbol.asyncDispose]();
  return { source, chunks };
}

/** Gives a store the chunks of a state. */
export async function receive(
  store: Store,
  source: SnapshotSource,
  chunks: readonly Uint8Array[],
): Promise<ReceivedSnapshot> {
  const receiver = await store.receiveSnapshot(source.position, source.epochs);
  await Promise.all(chunks.map((chunk) => receiver.add(chunk)));
  return receiver.finish();
}

/** Becomes a holder of an epoch whose history is that state. */
export async function installHistory(
  store: Store,
  source: SnapshotSource,
  snapshot: ReceivedSnapshot,
  epoch = 3,
): Promise<void> {
  await promised(store.log).setPromise({ epoch, sid: 2, incarnation: 1 });
  await promised(store.log).beginStage(source.position);
  await promised(store.log).installHistory({ epoch, tail: source.position.zxid, committed: ZXID_NONE, snapshot });
}
