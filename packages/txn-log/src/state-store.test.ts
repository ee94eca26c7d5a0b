import { statSync } from "node:fs";
import { join } from "node:path";
import {
  type Acl,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  READ_ONLY_ACL,
  STAT_BYTES,
  StatOffset,
  sliceOf,
  sliceText,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/peer";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecordingHandler, Z } from "./append-batches.ts";
import { openStore, type Store, type StoreOptions } from "./sqlite.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";

interface PlainNode {
  parentId: number;
  name: string;
  data: string | null;
  stat: Buffer;
  acl: Acl;
}
interface PlainState {
  readonly nodes: Map<number, PlainNode>;
  readonly sessions: Map<string, { timeoutMs: number; password: string }>;
}

/** The state as a model would keep it: random transactions are applied to it one by one, and encoded. */
class Oracle implements PlainState {
  readonly nodes = new Map<number, PlainNode>();
  readonly sessions = new Map<string, { timeoutMs: number; password: string }>();
  readonly encoder = new TxnBatchEncoder();
  zxid: Zxid = Z(1, 0);
  nextNode = 5;
  #random: number;

  constructor(seed: number, initial: PlainState) {
    this.#random = seed;
    for (const [id, node] of initial.nodes) this.nodes.set(id, { ...node, stat: Buffer.from(node.stat) });
  }

  step(): void {
    const header = newTxnHeader();
    this.zxid = (this.zxid + 1) as Zxid;
    header.zxid = this.zxid;
    header.timeMs = 1_700_000_000_000 + (this.zxid % 1000);
    header.sessionHigh = this.#pick(3) - 1;
    header.sessionLow = -this.#pick(4);
    this.encoder.begin(header);
    for (let ops = 1 + this.#pick(3); ops > 0; ops--) this.#op(header.timeMs, header.sessionHigh, header.sessionLow);
    this.encoder.end();
  }

  #op(timeMs: number, idHigh: number, idLow: number): void {
    const op = newTxnOp();
    const ids = [...this.nodes.keys()];
    const id = ids[this.#pick(ids.length)] ?? 1;
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error("a node is missing");
    const choice = this.#pick(10);
    const text = `data ${this.#pick(1000)}`.repeat(this.#pick(40));
    op.hasData = this.#pick(5) > 0;
    op.data = sliceOf(text);
    const data = op.hasData ? text : null;
    op.acl =
      [OPEN_ACL, READ_ONLY_ACL, [{ perms: 3, scheme: "digest", id: `user-${this.#pick(3)}` }]][this.#pick(3)] ??
      OPEN_ACL;
    if (choice < 4) {
      op.op = OpCode.CREATE;
      op.parent = id;
      op.node = this.nextNode++;
      op.path = sliceOf(`/somewhere/ü-${op.node}`);
      op.ownerHigh = this.#pick(2) * -7;
      op.ownerLow = this.#pick(2) * 9;
      op.parentCversion = node.stat.readInt32BE(StatOffset.cversion) + 1;
      node.stat.writeInt32BE(op.parentCversion, StatOffset.cversion);
      put(node.stat, StatOffset.pzxid, this.zxid);
      const stat = Buffer.alloc(STAT_BYTES);
      for (const at of [StatOffset.czxid, StatOffset.mzxid, StatOffset.pzxid]) put(stat, at, this.zxid);
      for (const at of [StatOffset.ctime, StatOffset.mtime]) put(stat, at, timeMs);
      stat.writeInt32BE(op.ownerHigh, StatOffset.ephemeralOwner);
      stat.writeInt32BE(op.ownerLow, StatOffset.ephemeralOwner + 4);
      stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
      this.nodes.set(op.node, { parentId: id, name: `ü-${op.node}`, data, stat, acl: op.acl });
    } else if (choice < 6 && id > 4 && ![...this.nodes.values()].some(({ parentId }) => parentId === id)) {
      op.op = OpCode.DELETE;
      op.node = id;
      op.parent = node.parentId;
      this.nodes.delete(id);
      const parent = this.nodes.get(node.parentId);
      if (parent !== undefined) put(parent.stat, StatOffset.pzxid, this.zxid);
    } else if (choice < 8) {
      op.op = OpCode.SET_DATA;
      op.node = id;
      op.version = node.stat.readInt32BE(StatOffset.version) + 1;
      node.data = data;
      node.stat.writeInt32BE(op.version, StatOffset.version);
      node.stat.writeInt32BE(data?.length ?? 0, StatOffset.dataLength);
      put(node.stat, StatOffset.mzxid, this.zxid);
      put(node.stat, StatOffset.mtime, timeMs);
    } else if (choice < 9) {
      op.op = OpCode.SET_ACL;
      op.node = id;
      op.version = node.stat.readInt32BE(StatOffset.aversion) + 1;
      node.acl = op.acl;
      node.stat.writeInt32BE(op.version, StatOffset.aversion);
    } else if (this.#pick(2) === 0) {
      op.op = OpCode.CREATE_SESSION;
      op.timeoutMs = 1000 + this.#pick(100);
      op.passwordHash = sliceOf("0123456789abcdef");
      this.sessions.set(`${idHigh},${idLow}`, { timeoutMs: op.timeoutMs, password: "0123456789abcdef" });
    } else {
      op.op = OpCode.CLOSE_SESSION;
      this.sessions.delete(`${idHigh},${idLow}`);
    }
    this.encoder.op(op);
  }

  #pick(count: number): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * count);
  }
}

function put(stat: Buffer, at: number, value: number): void {
  stat.writeInt32BE(zxidHigh(value), at);
  stat.writeInt32BE(zxidLow(value), at + 4);
}

function loaded(store: Store): PlainState {
  const state: PlainState = { nodes: new Map(), sessions: new Map() };
  store.loadState({
    session: ({ idHigh, idLow, timeoutMs, passwordHash }) =>
      state.sessions.set(`${idHigh},${idLow}`, { timeoutMs, password: Buffer.from(passwordHash).toString() }),
    node: ({ id, parentId, name, hasData, data, stat, acl }) =>
      state.nodes.set(id, {
        parentId,
        name: sliceText(name),
        data: hasData ? sliceText(data) : null,
        stat: Buffer.from(stat.bytes.subarray(stat.start, stat.end)),
        acl,
      }),
  });
  return state;
}

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    ...options,
  });

/** Appends `count` random transactions and marks the last. */
async function run(store: Store, oracle: Oracle, count: number): Promise<void> {
  for (let i = 0; i < count; i++) oracle.step();
  const { bytes, end } = oracle.encoder.take();
  store.log.append({ generation: 1, bytes, start: 0, end, committed: oracle.zxid });
  await store.log.setConfigs({});
  const { zxid, chain } = store.log.durable.tail;
  store.state.advance({ zxid, chain, digestHigh: count, digestLow: -count, bytes: end });
}

test("a new state holds what every tree begins with", async () => {
  await using store = await open();
  const { nodes, sessions } = loaded(store);
  expect([...nodes].map(([id, { parentId, name, data }]) => [id, parentId, name, data])).toEqual([
    [1, 0, "", ""],
    [2, 1, "zookeeper", ""],
    [3, 2, "quota", ""],
    [4, 2, "config", ""],
  ]);
  expect(sessions.size).toBe(0);
});

test.each([1, 2, 3])(
  "random transactions folded at random marks give what applying them one by one gives, seed %i",
  async (seed) => {
    let oracle: Oracle;
    {
      await using store = await open();
      oracle = new Oracle(seed, loaded(store));
      for (const count of [1, 200, 3, 50, 400]) {
        await run(store, oracle, count);
        if (count % 2 === 1 || count === 50) await store.state.flush();
      }
      const meta = await store.state.flush();
      expect(meta.applied).toEqual(store.log.durable.tail);
      expect(meta).toMatchObject({ digestHigh: 400, digestLow: -400, nextNodeId: oracle.nextNode });
      expect(store.state.stats()).toMatchObject({ lagBytes: 0, lagMarks: 0, foldedEntries: 654 });
    }
    await using store = await open();
    const state = loaded(store);
    expect(state.nodes).toEqual(oracle.nodes);
    expect(state.sessions).toEqual(oracle.sessions);
  },
);

test("what was not folded is replayed from the log", async () => {
  {
    await using store = await open();
    const oracle = new Oracle(9, loaded(store));
    await run(store, oracle, 10);
    await store.state.flush();
    await run(store, oracle, 5);
  }
  await using store = await open();
  const replayed: Zxid[] = [];
  const { applied } = store.loadState({ session: () => {}, node: () => {} });
  const end = store.replay(applied, (zxid) => replayed.push(zxid));
  expect(replayed).toEqual([11, 12, 13, 14, 15].map((counter) => Z(1, counter)));
  expect(end).toEqual(store.log.durable.tail);
});

test("a mark whose chain is not the log's stops the state", async () => {
  const told = new RecordingHandler();
  await using store = await open({ handler: told });
  const oracle = new Oracle(5, loaded(store));
  for (let i = 0; i < 3; i++) oracle.step();
  const { bytes, end } = oracle.encoder.take();
  store.log.append({ generation: 1, bytes, start: 0, end, committed: oracle.zxid });
  await store.log.setConfigs({});
  const { chain } = (await store.log.read(Z(1, 1), 1)).last;
  store.state.advance({ zxid: Z(1, 3), chain, digestHigh: 0, digestLow: 0, bytes: 1 });
  await expect(store.state.flush()).rejects.toMatchObject({ detail: { code: "DAMAGED" } });
  expect(told.failures).toHaveLength(1);
});

test.each(["node", "count"])("damage to the state file is found when it is loaded: %s", async (what) => {
  {
    await using store = await open();
    await run(store, new Oracle(3, loaded(store)), 50);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", "state-1.db"));
  if (what === "node")
    database.exec(
      "UPDATE nodes SET node = CAST(substr(node, 1, 50) || x'77' || substr(node, 52) AS BLOB) WHERE id = 3",
    );
  else database.exec("DELETE FROM nodes WHERE id = (SELECT max(id) FROM nodes)");
  database.close();
  await using store = await open();
  expect(() => loaded(store)).toThrow(what === "node" ? "the row after 2" : "rows where there were");
});

test("a state of another history than the log is refused", async () => {
  {
    await using store = await open();
    await run(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", "state-1.db"));
  database.exec("UPDATE meta SET chain_low = chain_low + 1");
  database.close();
  await expect(open()).rejects.toMatchObject({ detail: { code: "DAMAGED", place: "table log, row 0x100000005" } });
});

test("a state ahead of the log is amnesia", async () => {
  {
    await using store = await open();
    await run(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", "log.db"));
  database.exec(`DELETE FROM log WHERE zxid > ${Z(1, 3)}`);
  database.close();
  await expect(open()).rejects.toMatchObject({ detail: { code: "LOG_SHORTENED" } });
});

test("a state file that vanished is made anew while the log goes back to the beginning", async () => {
  {
    await using store = await open();
    await run(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const file = join(place.path, "data", "state-1.db");
  const { unlinkSync } = await import("node:fs");
  unlinkSync(file);
  await using store = await open();
  expect(statSync(file).size).toBeGreaterThan(0);
  let replayed = 0;
  store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => replayed++);
  expect(replayed).toBe(5);
});
