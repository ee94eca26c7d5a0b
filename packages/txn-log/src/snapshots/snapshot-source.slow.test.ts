import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { chunksOf } from "../testing/transfers.ts";

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
const _stateFiles = (name: string): string[] => readdirSync(pathOf(name)).filter((file) => file.startsWith("state-"));

describe("while a state is sent", () => {
  test("writes and commits continue, the state stands still, and no write waits for its lag", async () => {
    await using store = await open("leader", { checkpointBytes: 200_000 });
    await createNodes(store, 1, 800, 1_200);
    await using source = await store.openSnapshot();
    await source.next();
    await createNodes(store, 801, 2_000, 1_200);
    expect(store.log.durable.tail.zxid).toBe(Z(1, 2_000));
    expect(store.state.applied.applied).toEqual(source.position);
    expect(store.state.lagBytes).toBe(0);
    expect(store.state.stats().lagBytes).toBeGreaterThan(1_000_000);
    await chunksOf(source);
    expect((await store.state.flush()).applied).toEqual(store.log.durable.tail);
    expect([store.state.lagBytes, store.state.stats().lagBytes]).toEqual([0, 0]);
    // Nothing was begun that would have had to wait for the reader: all that came up is one
    // checkpoint.
    expect(store.state.stats().checkpointCount).toBe(2);
    expect(reports.failures).toEqual([]);
  });

  test("a receiver that no longer asks for chunks does not hold the state", async () => {
    await using store = await open("leader", { snapshotHoldMs: 1 });
    await createNodes(store, 1, 800, 1_200);
    await using source = await store.openSnapshot();
    await createNodes(store, 801, 801);
    expect((await store.state.flush()).applied.zxid).toBe(Z(1, 801));
    await expect(source.next()).rejects.toMatchObject({ code: "SNAPSHOT_ENDED" });
  });

  test("a store that is closed ends it", async () => {
    const store = await open("leader");
    await createNodes(store, 1, 800, 1_200);
    const source = await store.openSnapshot();
    await store[Symbol.asyncDispose]();
    await expect(source.next()).rejects.toMatchObject({ code: "CLOSED" });
    await expect(store.openSnapshot()).rejects.toMatchObject({ code: "CLOSED" });
    await source[Symbol.asyncDispose]();
  });

  test("a row that is not what was written is not sent", async () => {
    {
      await using store = await open("leader");
      await createNodes(store, 1, 800, 1_200);
      await store.state.flush();
    }
    const { default: Sqlite } = await import("better-sqlite3");
    const database = new Sqlite(join(pathOf("leader"), "state-1.db"));
    database.exec(
      "UPDATE nodes SET node = CAST(substr(node, 1, 50) || x'77' || substr(node, 52) AS BLOB) WHERE id = 400",
    );
    database.close();
    await using store = await open("leader");
    await using source = await store.openSnapshot();
    await expect(chunksOf(source)).rejects.toMatchObject({
      detail: { code: "DAMAGED", place: "table nodes, row 400" },
    });
    await createNodes(store, 801, 802);
    expect((await store.state.flush()).applied.zxid).toBe(Z(1, 802));
  });
});
