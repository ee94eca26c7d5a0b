import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { counterOf, ZXID_NONE, type Zxid } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Chain } from "../log/chain.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import type { SnapshotSource } from "../state/state-store.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { createNodes, runOracle, settled } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { chunksOf, installHistory, receive, sent } from "../testing/transfers.ts";
import { CHUNK_BYTES } from "./snapshot-format.ts";

// What `snapshot-transfers.test.ts` leaves out, for it opens many stores or writes much.

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const pathOf = (name: string): string => join(place.path, name);
const open = (name: string, options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({ directory: pathOf(name), sid: 1, handler: new RecordingHandler(), ...options });
const stateFiles = (name: string): string[] => readdirSync(pathOf(name)).filter((file) => file.startsWith("state-"));

const NOTHING = { session: () => {}, node: () => {} };

describe("a whole state on the move", () => {
  test.each([1, 2, 3])("equal states give equal bytes, however they were checkpointed, seed %i", async (seed) => {
    await using often = await open("often");
    await using seldom = await open("seldom");
    const oracles = [often, seldom].map((store) => new Oracle(seed, loaded(store)));
    for (const count of [1, 20, 3, 150, 26]) {
      await runOracle(often, oracles[0] as Oracle, count);
      await often.state.flush();
    }
    await runOracle(seldom, oracles[1] as Oracle, 100);
    const half = await sent(seldom);
    await runOracle(seldom, oracles[1] as Oracle, 100);
    // A third server got the first half as a state and checkpointed the second half onto it.
    await using joined = await open("joined");
    await installHistory(joined, half.source, await receive(joined, half.source, half.chunks), 1);
    joined.adoptState();
    const rest = await promised(seldom.log).read(half.source.position.zxid, 1 << 24);
    promised(joined.log).append({
      generation: 1,
      bytes: rest.bytes,
      start: 0,
      end: rest.bytes.length,
      committed: ZXID_NONE,
    });
    await settled(joined);
    const { zxid, chain } = joined.log.durable.tail;
    // The digest is the tree's to compute; here it is that of the other stores.
    joined.state.advance({ zxid, chain, digestHigh: counterOf(zxid), digestLow: -counterOf(zxid), bytes: 1 });

    const [first, ...others] = await Promise.all([often, seldom, joined].map(sent));
    for (const other of others)
      expect(Buffer.concat(other.chunks).equals(Buffer.concat(first?.chunks ?? []))).toBe(true);
    expect(first?.chunks.length).toBeGreaterThan(0);
  });

  test("a node larger than chunks travels in pieces", async () => {
    await using leader = await open("leader");
    await createNodes(leader, 1, 3, 1_000_000);
    const { source, chunks } = await sent(leader);
    expect(Math.max(...chunks.map(({ length }) => length))).toBe(CHUNK_BYTES);
    await using learner = await open("learner");
    await installHistory(learner, source, await receive(learner, source, chunks));
    learner.adoptState();
    expect(loaded(learner)).toEqual(loaded(leader));
  });
});

describe("while a state is sent", () => {
  test("lag on top of what a transfer excused is counted", async () => {
    await using store = await open("leader");
    await createNodes(store, 1, 5_000);
    const source = await store.openSnapshot();
    await createNodes(store, 5_001, 5_100);
    const excused = store.state.stats().lagBytes;
    await source[Symbol.asyncDispose]();
    await createNodes(store, 5_101, 5_200);
    expect(store.state.lagBytes).toBe(store.state.stats().lagBytes - excused);
    await store.state.flush();
    expect(store.state.lagBytes).toBe(0);
  });

  test("the log keeps what comes after it until the source is disposed", async () => {
    await using store = await open("leader", { logKeepBytes: 100_000 });
    await createNodes(store, 1, 2_000);
    const source = await store.openSnapshot();
    await chunksOf(source);
    let next = 2_001;
    for (; next < 12_000; next += 1_000) await createNodes(store, next, next + 999);
    await store.state.flush();
    // Each of these takes some entries along that are no longer needed.
    for (const last = next + 60; next < last; next++) await createNodes(store, next, next);
    const { position } = source;
    expect(store.log.durable.floor.zxid).toBeLessThanOrEqual(position.zxid);
    expect((await promised(store.log).read(position.zxid, 1)).after).toEqual(position);
    await source[Symbol.asyncDispose]();
    for (; store.log.durable.floor.zxid <= position.zxid; next++) await createNodes(store, next, next);
    await expect(promised(store.log).read(position.zxid, 1)).rejects.toMatchObject({ code: "below-floor" });
  });

  test("a second one shares the position, one that comes when much was marked waits and gets a newer one", async () => {
    await using store = await open("leader", { checkpointBytes: 100_000 });
    await createNodes(store, 1, 5_000);
    const first = await store.openSnapshot();
    await createNodes(store, 5_001, 5_100);
    const second = await store.openSnapshot();
    expect(second.position).toEqual(first.position);
    await createNodes(store, 5_101, 6_000);
    let hasThird = false;
    const waiting = store.openSnapshot().finally(() => {
      hasThird = true;
    });
    const chunks = await chunksOf(first);
    expect(Buffer.concat(await chunksOf(second)).equals(Buffer.concat(chunks))).toBe(true);
    expect(hasThird).toBe(false);
    const third = await waiting;
    expect(third.position.zxid).toBe(Z(1, 6_000));
    for (const source of [first, second, third]) await source[Symbol.asyncDispose]();
  });
});

describe("what is not the whole state that was announced", () => {
  test("another position, epoch table or ensemble is refused", async () => {
    await using leader = await open("leader", { ensembleId: "red" });
    await createNodes(leader, 1, 10);
    const { source, chunks } = await sent(leader);
    const { zxid, chain } = source.position;
    const others: [Pick<SnapshotSource, "position" | "epochs">, Partial<StoreOptions>][] = [
      [{ ...source, position: { zxid: (zxid - 1) as Zxid, chain }, epochs: source.epochs }, {}],
      [{ ...source, position: { zxid, chain: (chain ^ 1n) as Chain }, epochs: source.epochs }, {}],
      [{ ...source, position: source.position, epochs: [{ epoch: 1, first: 1, last: 11 }] }, {}],
      [source, { ensembleId: "blue" }],
    ];
    for (const [i, [{ position, epochs }, options]] of others.entries()) {
      await using learner = await open(`learner-${i}`, options);
      const receiver = await learner.receiveSnapshot(position, epochs);
      await expect(receiver.add(chunks[0] as Uint8Array)).rejects.toMatchObject({ code: "SNAPSHOT_REFUSED" });
      expect(stateFiles(`learner-${i}`)).not.toContain("state-2.db");
    }
  });
});

test("a learner that is killed at any step has the old state or the new one, whole", async () => {
  await using leader = await open("leader");
  await createNodes(leader, 1, 4_000);
  const { source, chunks } = await sent(leader);
  const copy = (name: string): void => cpSync(pathOf("learner"), pathOf(name), { recursive: true });
  {
    await using learner = await open("learner");
    await createNodes(learner, 1, 7);
    await learner.state.flush();
    const receiver = await learner.receiveSnapshot(source.position);
    await receiver.add(chunks[0] as Uint8Array);
    copy("amid chunks");
    for (const chunk of chunks.slice(1)) await receiver.add(chunk);
    copy("before the end");
    const snapshot = await receiver.finish();
    copy("before the install");
    await installHistory(learner, source, snapshot);
    copy("before adoption");
    learner.adoptState();
    await learner.state.flush();
    copy("after adoption");
  }
  for (const name of ["amid chunks", "before the end", "before the install"]) {
    await using learner = await open(name);
    expect([name, stateFiles(name)]).toEqual([name, expect.arrayContaining(["state-1.db"])]);
    expect([name, stateFiles(name).some((file) => file.startsWith("state-2"))]).toEqual([name, false]);
    expect([name, learner.loadState(NOTHING).applied.zxid]).toEqual([name, Z(1, 7)]);
    expect([name, learner.log.durable.currentEpoch]).toEqual([name, 0]);
  }
  for (const name of ["before adoption", "after adoption"]) {
    await using learner = await open(name);
    expect([name, stateFiles(name).some((file) => file.startsWith("state-1"))]).toEqual([name, false]);
    expect([name, learner.log.durable.stateFile, learner.log.durable.currentEpoch]).toEqual([name, "state-2.db", 3]);
    expect(loaded(learner)).toEqual(loaded(leader));
  }
});
