import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { isLogFile, openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { StoreError } from "../store/store-error.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { createNodes } from "../testing/state-history.ts";
import { loaded } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

let place: TemporaryDirectory;
let directory: string;
let reports: RecordingHandler;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  reports = new RecordingHandler();
});
afterEach(() => place[Symbol.dispose]());

const SEGMENT_BYTES = 64 * 1024;
const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({
    directory,
    sid: 1,
    handler: reports,
    segmentBytes: SEGMENT_BYTES,
    logKeepBytes: SEGMENT_BYTES,
    allowAmnesia: true,
    ...options,
  });

let long: TemporaryDirectory | undefined;
afterAll(() => long?.[Symbol.dispose]());

/**
 * Some hundred nodes, of which the log has purged the first: written once, and copied for each
 * test.
 */
async function makeLong(): Promise<void> {
  if (long === undefined) {
    long = new TemporaryDirectory();
    await using store = await open({ directory: join(long.path, "data") });
    for (let batch = 0; batch < 20; batch++) {
      await createNodes(store, batch * 20 + 1, (batch + 1) * 20, 300);
      await store.state.flush();
    }
    expect(store.log.durable.floor.zxid).toBeGreaterThan(0);
  }
  cpSync(join(long.path, "data"), directory, { recursive: true });
}

async function makeShort(): Promise<void> {
  await using store = await open();
  await createNodes(store, 1, 20, 300);
  await store.state.flush();
}

function flip(name: string, at: (size: number) => number): void {
  const bytes = readFileSync(join(directory, name));
  const place = Math.floor(at(bytes.length));
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(join(directory, name), bytes);
}

/** The damage that a start finds, at any step. */
async function damageOf(options: Partial<StoreOptions> = {}): Promise<StoreError> {
  try {
    await using store = await open(options);
    store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => {});
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error("nothing is damaged");
}

const folders = (): string[] => readdirSync(join(directory, "damaged")).map((name) => join(directory, "damaged", name));

test("a damaged state is made again by a log that goes back to its beginning, and nothing is forgotten", async () => {
  await makeShort();
  const before = await (async () => {
    await using store = await open();
    return { nodes: loaded(store), tail: store.log.durable.tail };
  })();
  flip("state-1.db", (size) => size - 500);
  const setAside = await damageOf();
  expect(setAside.code).toBe("DAMAGED");
  await using store = await open({ setAside });
  expect(store.log.durable).toMatchObject({ amnesiac: false, tail: before.tail });
  await createNodes(store, 21, 21);
  await store.state.flush();
  expect(loaded(store).nodes.size).toBe(before.nodes.nodes.size + 1);
  expect(folders().flatMap((folder) => readdirSync(folder))).toContain("state-1.db");
});

test("a damaged state that the log cannot make again makes an amnesiac", async () => {
  await makeLong();
  flip("state-1.db", (size) => size - 500);
  const setAside = await damageOf();
  await using store = await open({ setAside });
  expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: 0 } });
  expect(loaded(store).nodes.size).toBe(4);
});

test("a damaged sealed segment makes an amnesiac, whose files lie together in one folder", async () => {
  {
    await using store = await open({ logKeepBytes: 2 ** 30, checkpointBytes: 2 ** 30 });
    for (let batch = 0; batch < 20; batch++) await createNodes(store, batch * 20 + 1, (batch + 1) * 20, 300);
  }
  const [wal = ""] = readdirSync(directory).filter((name) => /^log-.*-wal$/.test(name));
  flip(wal, (size) => size / 2);
  const before = readdirSync(directory).filter((name) => isLogFile(name) || name.startsWith("state-"));
  const setAside = await damageOf();
  await using store = await open({ setAside });
  expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: 0 } });
  expect(folders()).toHaveLength(1);
  const kept = before.filter((name) => !name.endsWith("-shm") && !name.startsWith("spare"));
  expect(folders().flatMap((folder) => readdirSync(folder))).toEqual(expect.arrayContaining(kept));
});

test("amnesia is not forgotten with the witness, nor by a start that a crash ends after the move", async () => {
  await makeLong();
  flip("state-1.db", (size) => size - 500);
  const setAside = await damageOf();
  {
    await using _store = await open({ setAside });
  }
  for (const name of readdirSync(directory)) {
    if (name !== "damaged") rmSync(join(directory, name), { recursive: true });
  }
  await expect(open({ allowAmnesia: false })).rejects.toMatchObject({ code: "LOG_SHORTENED" });
  await using store = await open();
  expect(store.log.durable.amnesiac).toBe(true);
});

test("a move that a crash ended anywhere leaves damage, and never an older log", async () => {
  await makeLong();
  flip("state-1.db", (size) => size - 500);
  const setAside = await damageOf();
  {
    await using _store = await open({ setAside });
  }
  const [folder = ""] = folders();
  const newest = newestSegment(folder);
  // All but the newest segment is gone.
  for (const name of readdirSync(directory)) {
    if (name !== "damaged" && name !== "witness") rmSync(join(directory, name), { recursive: true });
  }
  for (const suffix of ["", "-wal"]) {
    writeFileSync(join(directory, newest + suffix), readFileSync(join(folder, newest + suffix)));
  }
  const again = await damageOf();
  expect(again.code).toBe("DAMAGED");
  await using store = await open({ setAside: again });
  expect(store.log.durable.amnesiac).toBe(true);
  expect(existsSync(join(directory, newest))).toBe(false);
});

test("without permission for amnesia nothing is forgotten", async () => {
  await makeLong();
  flip("state-1.db", (size) => size - 500);
  const setAside = await damageOf({ allowAmnesia: false });
  await expect(open({ setAside, allowAmnesia: false })).rejects.toMatchObject({ code: "LOG_SHORTENED" });
  expect(statSync(join(directory, "witness")).size).toBe(64);
});
