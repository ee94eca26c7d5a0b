import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { isLastChunk, openStore, type Store, type StoreOptions } from "../sqlite.ts";
import type { SnapshotSource } from "../state/state-store.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes, runOracle } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { chunksOf, installHistory, receive, sent } from "../testing/transfers.ts";
import { CHUNK_BYTES } from "./snapshot-format.ts";

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

describe("a whole state on the move", () => {
  test("a state of seven chunks becomes another server's state, which continues from there", async () => {
    await using leader = await open("leader");
    await createNodes(leader, 1, 1_000, 1_600);
    await using source = await leader.openSnapshot();
    expect(source).toMatchObject({ position: leader.log.durable.tail, nodeCount: 1_004, sessionCount: 0 });
    const chunks = await chunksOf(source);
    expect(chunks.length).toBeGreaterThan(5);
    expect(new Set(chunks.slice(0, -1).map(({ length }) => length))).toEqual(new Set([CHUNK_BYTES]));
    expect(chunks.map(isLastChunk).indexOf(true)).toBe(chunks.length - 1);

    await using learner = await open("learner");
    await installHistory(learner, source, await receive(learner, source, chunks));
    expect(learner.adoptState().applied).toEqual(source.position);
    expect(loaded(learner)).toEqual(loaded(leader));
    expect(learner.state.applied).toMatchObject({ digestHigh: source.digestHigh, digestLow: source.digestLow });

    await createNodes(learner, 1_001, 1_100);
    await createNodes(leader, 1_001, 1_100);
    await leader.state.flush();
    expect((await learner.state.flush()).applied).toEqual(leader.log.durable.tail);
    expect(loaded(learner)).toEqual(loaded(leader));
    expect(stateFiles("learner").filter((name) => name.endsWith(".db"))).toEqual(["state-2.db"]);
    expect(reports.failures).toEqual([]);
  });

  test("sessions, access lists and all kinds of nodes arrive as they were, also after a restart", async () => {
    await using leader = await open("leader");
    const oracle = new Oracle(7, loaded(leader));
    await runOracle(leader, oracle, 500);
    const { source, chunks } = await sent(leader);
    {
      await using learner = await open("learner");
      await installHistory(learner, source, await receive(learner, source, chunks));
      learner.adoptState();
    }
    await using learner = await open("learner");
    expect(learner.log.durable).toMatchObject({ tail: source.position, floor: source.position, currentEpoch: 3 });
    const { nodes, sessions } = loaded(learner);
    expect(nodes).toEqual(oracle.nodes);
    expect(sessions).toEqual(oracle.sessions);
  });

  test("the state that every server begins with travels too", async () => {
    await using leader = await open("leader");
    const { source, chunks } = await sent(leader);
    expect(source.position).toEqual({ zxid: 0, chain: CHAIN_NONE });
    await using learner = await open("learner");
    await installHistory(learner, source, await receive(learner, source, chunks));
    learner.adoptState();
    expect(loaded(learner)).toEqual(loaded(leader));
  });
});

describe("what is not the whole state that was announced", () => {
  const wrongs: readonly [what: string, place: string, change: (chunks: Uint8Array[]) => Uint8Array[]][] = [
    [
      "a flipped bit in a chunk",
      "chunk 2",
      (chunks) => chunks.map((chunk, i) => (i === 2 ? flipped(chunk, 1000) : chunk)),
    ],
    [
      "a flipped bit in a chunk's number",
      "chunk 2",
      (chunks) => chunks.map((chunk, i) => (i === 2 ? flipped(chunk, 7) : chunk)),
    ],
    ["a chunk cut short", "chunk 2", (chunks) => chunks.map((chunk, i) => (i === 2 ? chunk.subarray(0, 500) : chunk))],
    ["chunks of three bytes", "chunk 0", (chunks) => chunks.map((chunk) => chunk.subarray(0, 3))],
    ["a missing chunk", "chunk 2", (chunks) => chunks.filter((_, i) => i !== 2)],
    ["a chunk that comes twice", "chunk 1", ([first, ...rest]) => [first, first, ...rest] as Uint8Array[]],
    ["a missing end", "chunk 6", (chunks) => chunks.slice(0, -1)],
    ["nothing", "chunk 0", () => []],
    ["a chunk after the last", "chunk 7", (chunks) => [...chunks, chunks[0] as Uint8Array]],
  ];

  describe("when another attempt may begin at once", () => {
    let shared: TemporaryDirectory;
    let learner: Store;
    let whole: { source: SnapshotSource; chunks: Uint8Array[] };
    beforeAll(async () => {
      shared = new TemporaryDirectory();
      const handler = new RecordingHandler();
      await using leader = await openStore({ directory: join(shared.path, "leader"), sid: 1, handler });
      await createNodes(leader, 1, 1_000, 1_600);
      whole = await sent(leader);
      learner = await openStore({ directory: join(shared.path, "learner"), sid: 1, handler });
    });
    afterAll(async () => {
      await learner[Symbol.asyncDispose]();
      shared[Symbol.dispose]();
    });

    test.each(wrongs)("%s is refused and leaves nothing behind", async (_, at, change) => {
      const { source, chunks } = whole;
      expect(chunks).toHaveLength(7);
      await expect(receive(learner, source, change(chunks))).rejects.toMatchObject({
        detail: { code: "SNAPSHOT_REFUSED", place: at },
      });
      const files = readdirSync(join(shared.path, "learner")).filter((file) => file.startsWith("state-"));
      expect(files.filter((name) => !name.startsWith("state-1."))).toEqual([]);
    });

    test("the whole state is received behind all of them", async () => {
      const { stateFile } = await receive(learner, whole.source, whole.chunks);
      expect(stateFile).toBe(`state-${2 + wrongs.length}.db`);
    });
  });

  test("a disk without room for it is reported, and the server lives on", async () => {
    await using leader = await open("leader");
    await createNodes(leader, 1, 1_000, 1_600);
    const { source, chunks } = await sent(leader);
    await using learner = await open("learner", { testBreak: "state-full" });
    await expect(receive(learner, source, chunks)).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(stateFiles("learner")).not.toContain("state-2.db");
    await createNodes(learner, 1, 5);
    expect((await learner.state.flush()).applied.zxid).toBe(Z(1, 5));
    expect(reports.failures).toEqual([]);
  });
});

function flipped(chunk: Uint8Array, at: number): Uint8Array {
  const copy = chunk.slice();
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
