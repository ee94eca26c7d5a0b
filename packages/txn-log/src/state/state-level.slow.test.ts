import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isLogFile, letStateStandAt, openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { runOracle, settled } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { installHistory, receive, sent } from "../testing/transfers.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const TWO_LEVELS = { levels: { lowest: 1, highest: 2 } };
const open = (options: Partial<StoreOptions> = {}, name = "data"): Promise<Store> =>
  openStore({ directory: join(place.path, name), sid: 1, handler: new RecordingHandler(), ...TWO_LEVELS, ...options });

/** Raises the level to 2 behind a few transactions; the log has a mark of it only if asked for. */
async function raise(store: Store, { isMarked = true, isCommitted = true } = {}): Promise<void> {
  const oracle = new Oracle(9, loaded(store));
  await runOracle(store, oracle, 10);
  oracle.raise();
  const { bytes, end } = oracle.encoder.take();
  const marks = isMarked ? { marks: { levelRaise: { level: 2, zxid: oracle.zxid, replaced: 1 } } } : {};
  const committed = isCommitted ? oracle.zxid : Z(1, 10);
  promised(store.log).append({ generation: 1, bytes, start: 0, end, committed, ...marks });
  await settled(store);
  if (!isCommitted) return;
  const { zxid, chain } = store.log.durable.tail;
  store.state.advance({ zxid, chain, digestHigh: 1, digestLow: 1, bytes: end });
  await store.state.flush();
}

const REFUSAL = {
  detail: { code: "UNKNOWN_LEVEL", level: 2, known: { lowest: 1, highest: 1 } },
  message: expect.stringMatching(
    /has feature level 2, and this version knows level 1; a version that knows level 2 is needed: .*; nothing was changed$/,
  ),
};

test("a state has the level that a transaction raised, and another start has it too", async () => {
  {
    await using store = await open();
    expect((await store.state.flush()).level).toBe(1);
    await raise(store);
    expect((await store.state.flush()).level).toBe(2);
  }
  await using store = await open();
  expect(store.state.applied.level).toBe(2);
  expect(store.log.durable.levelRaise).toEqual({ level: 2, zxid: Z(1, 11), replaced: 1 });
});

test("a version that does not know the level is refused, and changes nothing", async () => {
  {
    await using store = await open();
    await raise(store);
  }
  const bootCount = await (async () => {
    await using store = await open();
    return store.log.durable.identity.bootCount;
  })();
  await expect(open({ levels: { lowest: 1, highest: 1 } })).rejects.toMatchObject(REFUSAL);
  await using store = await open();
  expect(store.log.durable.identity.bootCount).toBe(bootCount + 1);
});

test("a version two levels ahead is refused as well", async () => {
  {
    await using store = await open({ levels: { lowest: 2, highest: 3 } });
    // Where nothing is logged there is no level yet.
    await runOracle(store, new Oracle(9, loaded(store)), 1);
  }
  await expect(open({ levels: { lowest: 2, highest: 3 } })).rejects.toThrow(
    "has feature level 1, and this version knows levels 2 to 3; run a version between the two first",
  );
});

test("a raise that is not known to be committed is refused by an earlier version as well", async () => {
  {
    await using store = await open();
    await raise(store, { isCommitted: false });
  }
  await expect(open({ levels: { lowest: 1, highest: 1 } })).rejects.toMatchObject(REFUSAL);
});

test("a log that knows less than the state beside it has the state's level", async () => {
  {
    await using store = await open();
    await raise(store, { isMarked: false });
  }
  await expect(open({ levels: { lowest: 1, highest: 1 } })).rejects.toMatchObject(REFUSAL);
  await using store = await open();
  expect(store.log.durable.levelRaise).toEqual({ level: 2, zxid: 0, replaced: 2 });
});

test("a log that begins again behind the state has the state's level", async () => {
  {
    await using store = await open();
    await raise(store);
  }
  const directory = join(place.path, "data");
  for (const name of readdirSync(directory)) if (isLogFile(name)) rmSync(join(directory, name));
  await using store = await open({ allowAmnesia: true });
  expect(store.log.durable.levelRaise).toEqual({ level: 2, zxid: 0, replaced: 2 });
});

test("a state that is sent has its level with it", async () => {
  await using leader = await open({}, "leader");
  await raise(leader);
  const { source, chunks } = await sent(leader);
  await using learner = await open({}, "learner");
  await installHistory(learner, source, await receive(learner, source, chunks));
  expect(learner.adoptState().level).toBe(2);
});

test("a state of the past has the level in force, and not that of then", async () => {
  const file = join(place.path, "data", "state-1.db");
  const { position, levels } = await (async () => {
    await using store = await open();
    await runOracle(store, new Oracle(9, loaded(store)), 10);
    const { applied, level } = await store.state.flush();
    return { position: applied, levels: [level] };
  })();
  letStateStandAt(file, { position, ensembleId: "", sessions: "keep", level: 2 });
  expect(() => letStateStandAt(file, { position, ensembleId: "", sessions: "keep", level: 1 })).toThrow(
    "the state has feature level 2, and the ensemble 1; raise the level first (zooid-cli upgrade finalize)",
  );
  await using store = await open();
  expect([...levels, store.state.applied.level]).toEqual([1, 2]);
  // It is not that of the tree any more.
  expect(store.state.applied).toMatchObject({ digestHigh: 0, digestLow: 0 });
});
