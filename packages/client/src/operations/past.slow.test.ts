import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ARCHIVE_START, fileBehind } from "@zooid/txn-log/testing/archive-pieces";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, connect, type HistoryItem, json, type Zxid } from "../index.ts";

let folder = "";
let server: ZooidServer;
let plain: ZooidServer;
let zk: Client;
/** The zxids of three writes of `/app/a`. */
const zxids: Zxid[] = [];

function start(): Promise<ZooidServer> {
  return startServer({ port: 0, dataDir: join(folder, "data"), history: { retainMs: 3_600_000 } });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-past-"));
  {
    await using first = await start();
    await using writer = await connect(first.connectString);
    await writer.create("/app");
    await writer.create("/app/a", "0");
    zxids.push((await writer.get("/app/a")).stat.czxid);
    zxids.push((await writer.set("/app/a", "1")).mzxid);
    await writer.create("/app/b", null);
    await writer.delete("/app/b");
  }
  {
    // A session alone.
    await using between = await start();
    await using _client = await connect(between.connectString);
  }
  {
    await using second = await start();
    await using writer = await connect(second.connectString);
    zxids.push((await writer.set("/app/a", "2")).mzxid);
  }
  // A stop writes the file of what was committed.
  server = await start();
  plain = await startServer({ port: 0 });
  zk = await connect(`${server.connectString}/app`);
});
afterAll(async () => {
  await zk.close();
  await Promise.all([server.stop(), plain.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

function zxidAt(place: number): Zxid {
  return zxids[place] ?? expect.unreachable("it was written");
}

async function all(items: AsyncIterable<HistoryItem>): Promise<HistoryItem[]> {
  const found: HistoryItem[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function shown(items: readonly HistoryItem[]): readonly unknown[] {
  return items.map((item) => (item.kind === "gap" ? item : [item.op, item.zxid, text(item.data), item.version]));
}

function text(data: Uint8Array | null): string | null {
  return data === null ? null : Buffer.from(data).toString();
}

test("a node of the past has the data and versions that it had, in a chroot too", async () => {
  const { data, version, czxid, mzxid, ctimeMs } = await zk.get("/a", { at: zxidAt(1) });
  expect([text(data), version, czxid, mzxid]).toEqual(["1", 1, zxidAt(0), zxidAt(1)]);
  expect(ctimeMs).toBeGreaterThan(1_700_000_000_000);
  await expect(zk.get("/a", { at: (zxidAt(0) - 1) as Zxid })).rejects.toMatchObject({ code: "NO_NODE", path: "/a" });
  const later = zk.get("/a", { at: (zxidAt(0) + 2 ** 40) as Zxid });
  await expect(later).rejects.toMatchObject({ code: "HISTORY_GONE", reach: { first: 1, last: expect.any(Number) } });
  await expect(later).rejects.toThrow(/HISTORY_GONE\); it begins at 0x1 and ends at 0x\w+/);
});

test("the children of a node of the past are those that it had", async () => {
  const { names } = await zk.children("/", { at: zxidAt(1) });
  expect(names).toEqual(["a"]);
  const made = await all(zk.history("/b"));
  const [create] = made.flatMap((item) => (item.kind === "change" ? [item.zxid] : []));
  expect((await zk.children("/", { at: create ?? zxidAt(0) })).names.toSorted()).toEqual(["a", "b"]);
  expect((await zk.children("/", { at: zxidAt(2) })).names).toEqual(["a"]);
  await expect(zk.children("/b", { at: zxidAt(1) })).rejects.toMatchObject({ code: "NO_NODE", op: "children" });
  const watched = { at: zxidAt(1), watch: true } as { at: Zxid };
  await expect(zk.children("/", watched)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test.each([
  ["a watch", { watch: true }],
  ["a codec", { codec: json() }],
  ["a sync", { sync: true }],
])("a node of the past is not read with %s", async (_, more) => {
  const options = { at: zxids[0] as Zxid, ...more } as { at: Zxid };
  await expect(zk.get("/app/a", options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("a time stands for the last transaction that was not stamped later", async () => {
  const items = await all(zk.history("/a"));
  const [made, set, again] = items.map((item) => (item.kind === "change" ? item.timeMs : 0));
  if (made === undefined || set === undefined || again === undefined) expect.unreachable("it was made and set");
  const valueAt = async (ms: number): Promise<string | null> => text((await zk.get("/a", { at: new Date(ms) })).data);
  expect([await valueAt(set), await valueAt(again)]).toEqual(["1", "2"]);
  expect((await zk.children("/", { at: new Date(again) })).names).toEqual(["a"]);
});

test.each([
  [
    "before the history",
    new Date(1),
    "before",
    /HISTORY_GONE\); the history begins after 0x0, at .*, and so later than 1970-01-01T00:00:00.001Z$/,
  ],
  [
    "behind the history",
    new Date("2999-01-01"),
    "behind",
    /HISTORY_GONE\); the history ends at 0x\w+, at .*, and so earlier than 2999-01-01/,
  ],
])("a time %s is refused with what there is", async (_, at, kind, sentence) => {
  for (const asked of [zk.get("/a", { at }), zk.children("/", { at })]) {
    await expect(asked).rejects.toMatchObject({ code: "HISTORY_GONE", timeFault: { kind, askedMs: at.getTime() } });
    await expect(asked).rejects.toThrow(sentence);
  }
});

test("a time across which a clock went back, and one in a gap, are refused with the transactions", async () => {
  const dataDir = join(folder, "skewed");
  const firstMs = Date.now() - 60_000;
  const times = (...each: readonly number[]): readonly number[] => each.map((ms) => firstMs + ms);
  const archive = join(dataDir, "archive");
  const gap = fileBehind(archive, ARCHIVE_START, times(0, 1000, 2000, 500, 1500, 3000));
  fileBehind(archive, { ...gap, zxid: (gap.zxid + 4) as Zxid }, times(5000));
  await using skewed = await startServer({ port: 0, dataDir, history: { retainMs: 3_600_000 } });
  await using client = await connect(skewed.connectString);
  const refused = [
    [1000, "BAD_ARGUMENTS", { kind: "twice", first: 0x100000002, last: 0x100000004 }],
    [4000, "HISTORY_GONE", { kind: "gap", after: 0x100000006, end: 0x10000000a }],
  ] as const;
  for (const [ms, code, fault] of refused) {
    const at = new Date(firstMs + ms);
    for (const asked of [client.get("/1", { at }), client.children("/", { at })])
      await expect(asked).rejects.toMatchObject({ code, timeFault: { ...fault, askedMs: at.getTime() } });
  }
  expect((await client.get("/1", { at: new Date(firstMs) })).czxid).toBe(0x100000001);
});

test("the changes of a node come in order, whatever the size of a page", async () => {
  const changes = [
    ["CREATE2", zxidAt(0), "0", 0],
    ["SET_DATA", zxidAt(1), "1", 1],
    ["SET_DATA", zxidAt(2), "2", 2],
  ];
  expect(shown(await all(zk.history("/a")))).toEqual(changes);
  for (const pageSize of [1, 2]) expect(shown(await all(zk.history("/a", { pageSize })))).toEqual(changes);
  expect(shown(await all(zk.history("/a", { after: zxidAt(0) })))).toEqual(changes.slice(1));
});

test("a node that is gone has its changes", async () => {
  expect((await all(zk.history("/b"))).map((item) => (item.kind === "gap" ? item : item.op))).toEqual([
    "CREATE2",
    "DELETE",
  ]);
});

test("the changes of a subtree name their nodes, in the client's chroot", async () => {
  const found = await all(zk.history("/", { recursive: true, pageSize: 2 }));
  expect(found.map((item) => (item.kind === "gap" ? item : [item.path, item.op]))).toEqual([
    ["/", "CREATE2"],
    ["/a", "CREATE2"],
    ["/a", "SET_DATA"],
    ["/b", "CREATE2"],
    ["/b", "DELETE"],
    ["/a", "SET_DATA"],
  ]);
  const below = await all(zk.history("/a", { recursive: true }));
  expect(shown(below)).toEqual(shown(await all(zk.history("/a"))));
});

/** Asks while some files of the history are away: the first ones, or one behind the first. */
async function without(begin: number, end: number, ask: (gone: readonly string[]) => Promise<void>): Promise<void> {
  const files = join(folder, "data/archive/log");
  const gone = readdirSync(files).toSorted().slice(begin, end);
  const saved = gone.map((name) => readFileSync(join(files, name)));
  for (const name of gone) rmSync(join(files, name));
  try {
    await ask(gone);
  } finally {
    for (const [i, name] of gone.entries()) writeFileSync(join(files, name), saved[i] ?? "");
  }
}

function rangeOf(name = ""): { readonly after: Zxid; readonly end: Zxid } {
  const [after = Number.NaN, end = Number.NaN] = name.split("-").map((part) => Number.parseInt(part, 16));
  return { after: after as Zxid, end: end as Zxid };
}

test("what the history lacks comes as a gap", async () => {
  await without(1, 2, async ([middle]) => {
    const { after, end } = rangeOf(middle);
    expect(shown(await all(zk.history("/a", { after: zxidAt(1) })))).toEqual([
      { kind: "gap", after, end },
      ["SET_DATA", zxidAt(2), "2", 2],
    ]);
  });
});

test("where the history begins later than behind the asked transaction it is refused with the first one", async () => {
  await without(0, 1, async ([first]) => {
    const { end } = rangeOf(first);
    const gone = { code: "HISTORY_GONE", op: "history", path: "/a", reach: { first: end + 1 } };
    await expect(all(zk.history("/a", { after: 1 as Zxid }))).rejects.toMatchObject(gone);
    // The access list of that time is in the file that is gone; the node's was never set.
    const last = ["SET_DATA", zxidAt(2), "2", 2];
    expect(shown(await all(zk.history("/a")))).toEqual([last]);
    expect(shown(await all(zk.history("/a", { after: end })))).toEqual([last]);
  });
});

test("a server without a history is not asked, and keeps the connection", async () => {
  await using other = await connect(plain.connectString);
  await expect(other.get("/", { at: 1 as Zxid })).rejects.toMatchObject({ code: "UNIMPLEMENTED", op: "get" });
  await expect(all(other.history("/"))).rejects.toMatchObject({ code: "UNIMPLEMENTED", op: "history" });
  expect(other.metrics.connectionCount).toBe(1);
});
