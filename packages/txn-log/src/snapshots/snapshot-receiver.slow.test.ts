import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import type { SnapshotSource } from "../state/state-store.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes } from "../testing/state-history.ts";
import { loaded } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { chunksOf, installHistory, receive, sent } from "../testing/transfers.ts";

let place: TemporaryDirectory;
let reports: RecordingHandler;
beforeEach(() => {
  place = new TemporaryDirectory();
  reports = new RecordingHandler();
});
afterEach(() => place[Symbol.dispose]());

const pathOf = (name: string): string => join(place.path, name);
const open = (name: string, options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({ directory: pathOf(name), sid: 1, handler: reports, ...options });
const stateFiles = (name: string): string[] => readdirSync(pathOf(name)).filter((file) => file.startsWith("state-"));

describe("a learner", () => {
  let shared: TemporaryDirectory;
  let leader: Store;
  let source: SnapshotSource;
  let chunks: Uint8Array[];
  beforeAll(async () => {
    shared = new TemporaryDirectory();
    leader = await openStore({ directory: join(shared.path, "leader"), sid: 1, handler: new RecordingHandler() });
    await createNodes(leader, 1, 600, 1_400);
    ({ source, chunks } = await sent(leader));
  });
  afterAll(async () => {
    await leader[Symbol.asyncDispose]();
    shared[Symbol.dispose]();
  });

  test("checkpoints nothing into the old state while it receives, and never what the install took away", async () => {
    await using learner = await open("learner", { checkpointBytes: 1 });
    const receiver = await learner.receiveSnapshot(source.position);
    await createNodes(learner, 1, 100);
    for (const chunk of chunks) await receiver.add(chunk);
    const snapshot = await receiver.finish();
    expect(snapshot.epochs).toEqual(source.epochs);
    await installHistory(learner, source, snapshot);
    learner.adoptState();
    expect((await learner.state.flush()).applied).toEqual(source.position);
    expect(learner.state.stats().checkpointCount).toBe(0);
    expect(reports.failures).toEqual([]);
  });

  test("continues with the old state when it gives up", async () => {
    await using learner = await open("learner");
    const receiver = await learner.receiveSnapshot(source.position);
    await receiver.add(chunks[0] as Uint8Array);
    await expect(learner.receiveSnapshot(source.position)).rejects.toMatchObject({ code: "DEFECT" });
    await createNodes(learner, 1, 10);
    await receiver.abandon();
    await receiver.abandon();
    expect(stateFiles("learner")).not.toContain("state-2.db");
    expect((await learner.state.flush()).applied.zxid).toBe(Z(1, 10));
  });

  test("cannot give up a state that the log names", async () => {
    await using learner = await open("learner");
    const receiver = await learner.receiveSnapshot(source.position);
    for (const chunk of chunks) await receiver.add(chunk);
    const snapshot = await receiver.finish();
    const installing = installHistory(learner, source, snapshot);
    await installing;
    await receiver.abandon();
    learner.adoptState();
    expect(loaded(learner)).toEqual(loaded(leader));
  });

  test("ends what it sends of a state that is no longer its own", async () => {
    await using learner = await open("learner");
    await createNodes(learner, 1, 4_000);
    await using stale = await learner.openSnapshot();
    await installHistory(learner, source, await receive(learner, source, chunks));
    learner.adoptState();
    await expect(chunksOf(stale)).rejects.toMatchObject({ code: "SNAPSHOT_ENDED" });
    expect((await learner.state.flush()).applied).toEqual(source.position);
  });

  test("and its leader leave no thread behind", async () => {
    const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    // A port that was closed is gone with one of the loop's next turns.
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    const before = ports();
    {
      await using leader = await open("leader");
      await createNodes(leader, 1, 100);
      const { source, chunks } = await sent(leader);
      await using learner = await open("learner");
      await installHistory(learner, source, await receive(learner, source, chunks));
      learner.adoptState();
      await leader.openSnapshot();
      await learner.receiveSnapshot(source.position);
    }
    // Ports that an earlier test closed may go meanwhile. One that stays ends the test by its
    // timeout.
    while (ports() > before) await turn();
  });

  test("gets a file that only its owner reads", async () => {
    await using learner = await open("learner");
    const { stateFile } = await receive(learner, source, chunks);
    expect(statSync(join(pathOf("learner"), stateFile)).mode & 0o777).toBe(0o600);
  });
});
