import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newTxnHeader, newTxnOp, OPEN_ACL, OpCode, READ_ONLY_ACL, sliceOf, sliceText, type Zxid } from "@zooid/model";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listBases } from "../archive/archive-base.ts";
import { type ListedFile, listArchive } from "../archive/archive-folder.ts";
import { CHAIN_NONE } from "../log/chain.ts";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { baseOf } from "../testing/archive-pieces.ts";
import { promised } from "../testing/promised-log.ts";
import { settled } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { answerHistory } from "./history-answers.ts";
import { type ChangesQuery, HistoryReader, type PastAnswer, type PastChildrenAnswer } from "./history-reader.ts";

const PATHS = ["/a", "/a/b", "/a/b/c", "/ab", "/d", "/d/é", "/e"];
const ROOT_ID = 1;
/** Moments that are looked at: 60, the first and the last among them. */
const moments = (): readonly Zxid[] =>
  Array.from({ length: 60 }, (_, i) => Z(1, 1 + Math.floor((i * (model.states.length - 2)) / 59)));

interface ModelNode {
  readonly id: number;
  readonly data: string | null;
  readonly version: number;
  readonly aversion: number;
  readonly isReadOnly: boolean;
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
}

/** Random changes of a few paths, and each state that they came to. */
class Model {
  readonly changes: (readonly [zxid: Zxid, op: number, path: string])[] = [];
  readonly states: ReadonlyMap<string, ModelNode>[] = [new Map()];
  readonly #nodes = new Map<string, ModelNode>();
  readonly #children = new Map<string, number>();
  readonly #encoder = new TxnBatchEncoder();
  #nextId = 5;
  #seed = 12345;

  step(): Zxid {
    const header = newTxnHeader();
    header.zxid = Z(1, this.states.length);
    header.timeMs = 1000 * this.states.length;
    this.#encoder.begin(header);
    for (let left = 1 + this.#pick(3); left > 0; left--) this.#op(header.zxid);
    this.#encoder.end();
    this.states.push(new Map(this.#nodes));
    return header.zxid;
  }

  take(): { readonly bytes: Uint8Array; readonly end: number } {
    return this.#encoder.take();
  }

  #op(zxid: Zxid): void {
    const path = PATHS[this.#pick(PATHS.length)] ?? "/a";
    const parent = path.slice(0, path.lastIndexOf("/"));
    const known = this.#nodes.get(path);
    const parentId = parent === "" ? ROOT_ID : this.#nodes.get(parent)?.id;
    if (parentId === undefined) return;
    const op = newTxnOp();
    op.path = sliceOf(path);
    op.parent = parentId;
    op.node = known?.id ?? this.#nextId;
    op.hasData = this.#pick(5) > 0;
    const data = op.hasData ? `${zxid}`.repeat(1 + this.#pick(20)) : null;
    op.data = sliceOf(data ?? "");
    op.acl = this.#pick(2) === 0 ? OPEN_ACL : READ_ONLY_ACL;
    const isReadOnly = op.acl === READ_ONLY_ACL;
    if (known === undefined) {
      op.op = OpCode.CREATE;
      op.parentCversion = (this.#children.get(parent) ?? 0) + 1;
      this.#children.set(parent, op.parentCversion);
      const node = { id: this.#nextId++, data, isReadOnly, version: 0, aversion: 0, czxid: zxid, mzxid: zxid };
      this.#nodes.set(path, node);
    } else if (this.#pick(4) === 0) {
      if ([...this.#nodes.keys()].some((other) => other.startsWith(`${path}/`))) return;
      op.op = OpCode.DELETE;
      this.#nodes.delete(path);
    } else if (this.#pick(3) === 0) {
      op.op = OpCode.SET_ACL;
      op.version = known.aversion + 1;
      this.#nodes.set(path, { ...known, isReadOnly, aversion: op.version });
    } else {
      op.op = OpCode.SET_DATA;
      op.version = known.version + 1;
      this.#nodes.set(path, { ...known, data, version: op.version, mzxid: zxid });
    }
    this.changes.push([zxid, op.op, path]);
    this.#encoder.op(op);
  }

  #pick(count: number): number {
    this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) & 0x7fffffff;
    return (this.#seed >> 8) % count;
  }
}

let place: TemporaryDirectory;
const model = new Model();
const archive = (): string => join(place.path, "archive");
const logFolder = (): string => join(archive(), "log");
const reader = (): HistoryReader => new HistoryReader(archive(), new TxnReader());

beforeAll(async () => {
  place = new TemporaryDirectory();
  await using store = await openStore({
    directory: place.path,
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    archive: {
      folder: archive(),
      retainMs: 2 ** 52,
      fileBytes: 48 * 1024,
      fileMs: 2 ** 30,
      baseEveryMs: 0,
      noted: () => {},
    },
  });
  // A file asks for a base, unless one is being taken: each of some files gets one behind it.
  for (let fileCount = 0; fileCount < 6; fileCount++) {
    const from = lastZxid();
    for (let i = 0; i < 5; i++) await append(store, 50);
    await store.archive?.flush();
    while ((newestBase() ?? 0) <= from) {
      await append(store, 1);
      await store.archive?.flush();
    }
  }
});
afterAll(() => place[Symbol.dispose]());

function newestBase(): Zxid | undefined {
  return listBases(join(archive(), "base")).at(-1)?.zxid;
}

function lastZxid(): Zxid {
  return Z(1, model.states.length - 1);
}

async function append(store: Store, count: number): Promise<void> {
  let zxid = Z(1, 0);
  for (let i = 0; i < count; i++) zxid = model.step();
  const { bytes, end } = model.take();
  promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: zxid });
  await settled(store);
  const { chain } = store.log.durable.tail;
  store.state.advance({ zxid, chain, digestHigh: 0, digestLow: 0, bytes: end });
}

function query(path: string, more: Partial<ChangesQuery> = {}): ChangesQuery {
  return { path: Buffer.from(path), scope: "node", after: Z(0, 0), blocksMax: 1e9, countMax: 1e9, ...more };
}

type Change = Model["changes"][number];

function changesOf(wanted: ChangesQuery): {
  readonly changes: Change[];
  readonly reached: Zxid;
  readonly isLast: boolean;
} {
  const changes: Change[] = [];
  const page = reader().changes(wanted, ({ zxid }, { op, path }) => changes.push([zxid, op, sliceText(path)]));
  return { changes, reached: page.reached, isLast: page.isLast };
}

function expectedOf(path: string, isSubtree = false): Change[] {
  return model.changes.filter(([, , at]) => at === path || (isSubtree && (path === "/" || at.startsWith(`${path}/`))));
}

/** The answer as the model has it. */
function expectedAt(path: string, at: Zxid): unknown {
  const node = model.states[at - Z(1, 0)]?.get(path);
  if (node === undefined) return { kind: "no-node" };
  const { data, version, aversion, czxid, mzxid, isReadOnly } = node;
  return {
    kind: "node",
    data,
    version,
    aversion,
    czxid,
    mzxid,
    acl: isReadOnly ? READ_ONLY_ACL : OPEN_ACL,
    mtimeMs: timeOf(mzxid),
    ctimeMs: timeOf(czxid),
  };
}

function shown(answer: PastAnswer): unknown {
  if (answer.kind !== "node") return answer;
  const { data, version, aversion, czxid, mzxid, acl, mtimeMs, ctimeMs } = answer.node;
  return {
    kind: "node",
    data: data === null ? null : String(data),
    version,
    aversion,
    czxid,
    mzxid,
    acl,
    mtimeMs,
    ctimeMs,
  };
}

function timeOf(zxid: Zxid): number {
  return 1000 * (zxid - Z(1, 0));
}

test("the history is in several files and bases", () => {
  expect(listArchive(logFolder()).length).toBeGreaterThan(3);
  expect(reader().range()).toEqual({ after: Z(0, 0), end: lastZxid() });
  expect(reader().reach()).toEqual({ first: 1, last: lastZxid() });
});

describe("changes", () => {
  test.each(PATHS)("of %s are those that it had, in their order", (path) => {
    expect(expectedOf(path).length).toBeGreaterThan(10);
    expect(changesOf(query(path)).changes).toEqual(expectedOf(path));
  });

  test.each(["/", "/a", "/a/b", "/d"])("of the nodes below %s are found too", (path) => {
    expect(changesOf(query(path, { scope: "subtree" })).changes).toEqual(expectedOf(path, true));
  });

  test.each([
    ["node", { countMax: 7 }],
    ["node", { blocksMax: 1 }],
    ["node", { blocksMax: 3, countMax: 2 }],
    ["subtree", { blocksMax: 1 }],
    ["subtree", { countMax: 100 }],
  ] as const)("of a %s in pages of %o come once each", (scope, limits) => {
    const found: Change[] = [];
    let after = Z(0, 0);
    for (let pages = 0; ; pages++) {
      expect(pages).toBeLessThan(2000);
      const { changes, reached, isLast } = changesOf(query("/a", { scope, after, ...limits }));
      // The last transaction may have three.
      if ("countMax" in limits) expect(changes.length).toBeLessThan(limits.countMax + 3);
      found.push(...changes);
      if (isLast) break;
      expect(reached).toBeGreaterThan(after);
      after = reached;
    }
    expect(found).toEqual(expectedOf("/a", scope === "subtree"));
  });

  test("are those between two transactions, where these are named", () => {
    for (const [after, through] of [
      [10, 11],
      [100, 400],
      [700, 700],
      [1499, 1500],
    ] as const) {
      const wanted = query("/", { scope: "subtree", after: Z(1, after), through: Z(1, through) });
      const { changes, reached, isLast } = changesOf(wanted);
      expect(changes).toEqual(model.changes.filter(([zxid]) => zxid > Z(1, after) && zxid <= Z(1, through)));
      expect([reached, isLast]).toEqual([Z(1, through), true]);
    }
  });

  test("of a path that was never there are none", () => {
    expect(changesOf(query("/other"))).toEqual({ changes: [], reached: lastZxid(), isLast: true });
  });
});

test("a time stands for the last transaction that was not stamped later", () => {
  const last = model.states.length - 1;
  for (const counter of [1, 2, 299, 300, last]) {
    const zxid = { kind: "zxid", zxid: Z(1, counter), unread: [] };
    expect(reader().placeOf(1000 * counter)).toEqual(zxid);
    if (counter < last) expect(reader().placeOf(1000 * counter + 999)).toEqual(zxid);
  }
  expect([999, 1e9].map((ms) => reader().placeOf(ms).kind)).toEqual(["before", "behind"]);
});

describe("a node of the past", () => {
  test.each(PATHS)("%s is what it was after any transaction", (path) => {
    for (const at of moments())
      expect(shown(reader().nodeAt(Buffer.from(path), at)), `${at}`).toEqual(expectedAt(path, at));
  });

  test("comes from a base where the files have no change of it", () => {
    expect(reader().nodeAt(Buffer.from("/zookeeper/quota"), Z(1, 700))).toMatchObject({
      kind: "node",
      node: { version: 0 },
    });
    expect(reader().nodeAt(Buffer.from("/other"), Z(1, 700))).toEqual({ kind: "no-node" });
  });

  test("is unknown behind the last transaction", () => {
    expect(reader().nodeAt(Buffer.from("/a"), (lastZxid() + 1) as Zxid)).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("no whole state at 0x1"),
    });
  });
});

/** The children of the root are those of the model, and the built-in node. */
function expectedChildren(path: string, at: Zxid): unknown {
  const state = model.states[at - Z(1, 0)] ?? new Map();
  if (path !== "/" && !state.has(path)) return { kind: "no-node" };
  const prefix = path === "/" ? path : `${path}/`;
  const names = [...state.keys()]
    .filter((other) => other.startsWith(prefix) && !other.slice(prefix.length).includes("/"))
    .map((other) => other.slice(prefix.length));
  return { kind: "children", names: (path === "/" ? [...names, "zookeeper"] : names).toSorted() };
}

function shownChildren(answer: PastChildrenAnswer): unknown {
  return answer.kind === "children" ? { kind: answer.kind, names: answer.names.toSorted() } : answer;
}

test("the access lists of many nodes are those that they had, from files and from one base", () => {
  for (const at of moments().slice(20)) {
    const paths = ["/zookeeper/quota", ...PATHS, "/zookeeper", "/none"];
    const acls = reader().aclsAt(paths.map((path) => ({ path: Buffer.from(path), zxid: at })));
    expect(acls).toHaveLength(paths.length);
    for (const [i, path] of PATHS.entries()) {
      const node = model.states[at - Z(1, 0)]?.get(path);
      const expected = node === undefined ? undefined : node.isReadOnly ? READ_ONLY_ACL : OPEN_ACL;
      expect(acls[i + 1], `${path} ${at}`).toEqual(expected);
    }
    expect([acls[0], acls.at(-2), acls.at(-1)]).toEqual([OPEN_ACL, OPEN_ACL, undefined]);
  }
});

describe("the children of a node of the past", () => {
  const limits = MANY;

  test.each(["/", ...PATHS])("of %s are those that it had after any transaction", (path) => {
    const firstBase = listBases(join(archive(), "base"))[0]?.zxid ?? Z(1, 0);
    for (const at of moments().filter((zxid) => path !== "/" || zxid >= firstBase)) {
      const found = reader().childrenAt(Buffer.from(path), at, limits);
      expect(shownChildren(found), `${at}`).toEqual(expectedChildren(path, at));
      if (found.kind === "children" && path !== "/")
        expect(shown({ kind: "node", node: found.node })).toEqual(expectedAt(path, at));
    }
  });

  test("of a node whose create is too many blocks back come from a base", () => {
    const at = lastZxid();
    for (const path of ["/", ...PATHS]) {
      const found = reader().childrenAt(Buffer.from(path), at, { ...limits, blocksMax: 1 });
      if (found.kind !== "too-large") expect(shownChildren(found)).toEqual(expectedChildren(path, at));
    }
    // The newest base has the last transaction, or one of the newest file.
    expect(reader().childrenAt(Buffer.from("/"), at, { ...limits, blocksMax: 1 }).kind).toBe("children");
    const early = Z(1, 60);
    expect(reader().childrenAt(Buffer.from("/"), early, { ...limits, blocksMax: 0 }).kind).toBe("too-large");
  });

  test("with more bytes of names than are allowed are refused", () => {
    const at = moments().find((zxid) => model.states[zxid - Z(1, 0)]?.has("/a/b")) ?? expect.unreachable("it is set");
    expect(reader().childrenAt(Buffer.from("/a"), at, { ...limits, namesBytesMax: 1 }).kind).toBe("children");
    expect(reader().childrenAt(Buffer.from("/a"), at, { ...limits, namesBytesMax: 0 }).kind).toBe("too-large");
    expect(reader().childrenAt(Buffer.from("/"), lastZxid(), { ...limits, namesBytesMax: 8 }).kind).toBe("too-large");
  });
});

const MANY = { blocksMax: 1e9, namesBytesMax: 1e9 };

/** Either an answer or a refusal that names the damage. */
function expectOrNamed(read: () => unknown, answer: unknown, damage: string): void {
  let found: unknown;
  try {
    found = read();
  } catch (error) {
    expect(String(error)).toContain(damage);
    return;
  }
  expect(found).toEqual(answer);
}

describe("where files are gone", () => {
  let copy: TemporaryDirectory;
  beforeAll(() => {
    copy = new TemporaryDirectory();
  });
  afterAll(() => copy[Symbol.dispose]());

  function withFiles(keep: (place: number, count: number) => boolean): HistoryReader {
    const files = listArchive(logFolder());
    const removed = files
      .filter((_, i) => !keep(i, files.length))
      .map(({ file }) => [file, readFileSync(file)] as const);
    for (const [file] of removed) rmSync(file);
    restore = () => {
      for (const [file, bytes] of removed) writeFileSync(file, bytes);
    };
    return reader();
  }
  let restore = (): void => {};

  test("nodes come from bases and later files, and earlier moments are unknown", () => {
    const first = withFiles((i) => i > 1);
    try {
      const { after } = first.range() ?? expect.unreachable("there are files");
      const base =
        listBases(join(archive(), "base")).find(({ zxid }) => zxid >= after)?.zxid ??
        expect.unreachable("there is one");
      for (const path of PATHS) {
        for (const at of moments().filter((zxid) => zxid >= base)) {
          expect(shown(first.nodeAt(Buffer.from(path), at))).toEqual(expectedAt(path, at));
        }
      }
      expect(first.nodeAt(Buffer.from("/a"), (after - 1) as Zxid)).toMatchObject({ kind: "unknown" });
      expect(first.reach()).toEqual({ first: base, last: lastZxid() });
      const page = first.changes(query("/a"), () => {});
      expect(page.gaps).toEqual([{ after: Z(0, 0), end: after }]);
    } finally {
      restore();
    }
  });

  test("a gap is named, and what was before it is not taken for what was behind it", () => {
    const files = listArchive(logFolder());
    // Some files have one transaction.
    const place = files.findIndex(({ after, end }, i) => i > 0 && end - after >= 250);
    const gone = files[place] ?? expect.unreachable("there are large ones");
    const gapped = withFiles((i) => i !== place);
    try {
      const page = gapped.changes(query("/a", { scope: "subtree" }), () => {});
      expect(page.gaps).toEqual([{ after: gone.after, end: gone.end }]);
      for (const path of PATHS) {
        const at = (gone.end + 1) as Zxid;
        const answer = gapped.nodeAt(Buffer.from(path), at);
        if (answer.kind !== "unknown") expect(shown(answer)).toEqual(expectedAt(path, at));
        expect(gapped.nodeAt(Buffer.from(path), (gone.end - 100) as Zxid).kind).toBe("unknown");
      }
    } finally {
      restore();
    }
  });

  test("access lists are read from one base, and those that need another one are left", () => {
    const files = listArchive(logFolder());
    const place = files.findIndex(({ after, end }, i) => i > 1 && end - after >= 250);
    const gone = files[place] ?? expect.unreachable("there are large ones");
    const gapped = withFiles((i) => i !== place);
    try {
      const quota = Buffer.from("/zookeeper/quota");
      const nodes = [gone.after, lastZxid(), gone.after].map((zxid) => ({ path: quota, zxid }));
      expect(gapped.aclsAt(nodes)).toEqual([OPEN_ACL]);
      expect(gapped.aclsAt(nodes.slice(1, 2))).toEqual([OPEN_ACL]);
    } finally {
      restore();
    }
  });

  describe.each<[place: string, byteOf: (bytes: Buffer) => number, sentence: string]>([
    ["its first block", () => 20, "is damaged at block 0"],
    ["its footer", (bytes: Buffer) => bytes.length - 40, "is damaged at the footer"],
  ])("with a file damaged at %s", (_, byteOf, sentence) => {
    let file: ListedFile;
    let bytes: Buffer;
    beforeEach(() => {
      const files = listArchive(logFolder());
      file = files.findLast(({ after, end }) => end - after >= 250 && end < lastZxid()) ?? expect.unreachable();
      bytes = readFileSync(file.file);
      const damaged = Buffer.from(bytes);
      const at = byteOf(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(file.file, damaged);
    });
    afterEach(() => writeFileSync(file.file, bytes));

    test("the page before it has all changes up to there, and the next one names it", () => {
      const wanted = query("/", { scope: "subtree" });
      const page = changesOf(wanted);
      expect([page.reached, page.isLast]).toEqual([file.after, false]);
      expect(page.changes).toEqual(model.changes.filter(([zxid]) => zxid <= file.after));
      expect(() => changesOf({ ...wanted, after: file.after })).toThrow(`${file.file} ${sentence}`);
      const behind = changesOf({ ...wanted, after: file.end });
      expect(behind.changes).toEqual(model.changes.filter(([zxid]) => zxid > file.end));
    });

    test("nodes of moments that need it name it, and those that do not are what they were", () => {
      const newest = listBases(join(archive(), "base")).findLast(({ zxid }) => zxid >= file.end)?.zxid;
      if (newest === undefined) expect.unreachable("there is a base behind it");
      for (const path of PATHS) {
        for (const at of moments()) {
          const node = () => reader().nodeAt(Buffer.from(path), at);
          const children = () => shownChildren(reader().childrenAt(Buffer.from(path), at, MANY));
          if (at <= file.after || at >= newest) {
            expect(shown(node()), `${path} at ${at}`).toEqual(expectedAt(path, at));
            expect(children(), `${path} at ${at}`).toEqual(expectedChildren(path, at));
          } else {
            expectOrNamed(() => shown(node()), expectedAt(path, at), `${file.file} is damaged`);
            expectOrNamed(children, expectedChildren(path, at), `${file.file} is damaged`);
          }
        }
      }
    });
  });

  test("a base that is damaged is replaced by another one", () => {
    const quota = Buffer.from("/zookeeper/quota");
    const bases = listBases(join(archive(), "base"));
    const files = bases.slice(0, -1).map(({ folder }) => join(folder, "0000"));
    const kept = files.map((file) => readFileSync(file));
    const whole = reader().nodeAt(quota, lastZxid());
    try {
      for (const file of files) writeFileSync(file, "other");
      expect(reader().nodeAt(quota, lastZxid())).toEqual(whole);
      const [first] = files;
      expect(() => reader().nodeAt(quota, (bases[0]?.zxid ?? 0) as Zxid)).toThrow(`${first} is damaged`);
    } finally {
      for (const [i, file] of files.entries()) writeFileSync(file, kept[i] ?? "");
    }
  });

  test("there is no range without files", () => {
    expect(new HistoryReader(copy.path, new TxnReader()).range()).toBeUndefined();
    expect(readdirSync(copy.path)).toEqual([]);
  });

  test("where a purge left no file but a base, the history begins where the log does", async () => {
    const base = { zxid: Z(1, 9), chain: CHAIN_NONE };
    await baseOf(copy.path, base, 1);
    const left = new HistoryReader(copy.path, new TxnReader());
    const changes = (after: Zxid, floor: Zxid) => {
      const query = { kind: "changes", path: Buffer.from("/"), scope: "subtree", after, countMax: 9 } as const;
      return answerHistory(left, query, undefined, floor);
    };
    const page = { kind: "changes", changes: [], gaps: [], isLast: true };
    expect(changes(Z(0, 0), Z(1, 8))).toEqual({ ...page, begins: Z(1, 8), reached: Z(1, 8) });
    expect(changes(Z(1, 8), Z(1, 8))).toEqual({ ...page, begins: Z(1, 8), reached: Z(1, 8) });
    const reach = { first: base.zxid, last: base.zxid };
    expect(changes(Z(1, 7), Z(1, 8))).toEqual({ kind: "unknown", reach });
    // A base from before the log begins is of no use, and a new log has nothing yet.
    for (const floor of [Z(1, 10), Z(0, 0)])
      expect(changes(Z(0, 0), floor)).toEqual({ kind: "unknown", reach: undefined });
    const node = { kind: "node", path: Buffer.from("/a"), at: { zxid: Z(1, 12) } } as const;
    expect(answerHistory(left, node, undefined, Z(1, 9))).toEqual({ kind: "unknown", reach });
  });
});
