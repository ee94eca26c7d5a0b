import { join } from "node:path";
import { expect } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler } from "./append-batches.ts";
import { runOracle } from "./state-history.ts";
import { loaded, Oracle } from "./state-oracle.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";

/**
 * Expects that random transactions, checkpointed at random marks, give what applying them one by
 * one gives.
 */
export async function checkpointsAsApplied(seed: number): Promise<void> {
  using place = new TemporaryDirectory();
  const open = (): Promise<Store> =>
    openStore({ directory: join(place.path, "data"), sid: 1, handler: new RecordingHandler(), takeEpoch: true });
  let oracle: Oracle;
  {
    await using store = await open();
    oracle = new Oracle(seed, loaded(store));
    for (const count of [1, 200, 3, 50, 400]) {
      await runOracle(store, oracle, count);
      if (count % 2 === 1 || count === 50) await store.state.flush();
    }
    const meta = await store.state.flush();
    expect(meta.applied).toEqual(store.log.durable.tail);
    expect(meta).toMatchObject({ digestHigh: 654, digestLow: -654, nextNodeId: oracle.nextNode });
    expect(store.state.stats()).toMatchObject({ lagBytes: 0, lagMarks: 0, checkpointedEntries: 654 });
  }
  await using store = await open();
  const state = loaded(store);
  expect(state.nodes).toEqual(oracle.nodes);
  expect(state.sessions).toEqual(oracle.sessions);
}
