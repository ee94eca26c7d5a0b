import {
  type Acl,
  CreateMode,
  ErrorCode,
  errorName,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  type Request,
  sliceOf,
  sliceText,
  type TxnOp,
} from "@zooid/model";
import { expect, test } from "vitest";
import { check, create, remove, setAcl, setData, TestTree } from "../testing/tree.ts";
import { TreeState } from "../tree-state.ts";
import type { Excess } from "./excess.ts";
import { PendingChanges } from "./pending-changes.ts";
import { PrepareParts } from "./prepare-parts.ts";
import { TxnPreparer } from "./prepare-txn.ts";

const READ_ONLY: Acl = [{ perms: 1, scheme: "world", id: "anyone" }];
const WRITE_ONLY: Acl = [{ perms: 2, scheme: "world", id: "anyone" }];
const NOBODY: Acl = [{ perms: 31, scheme: "digest", id: "someone:secret" }];
const NO_ACL: Acl = [];

/**
 * `/open` with a child, `/closed` without permissions for clients with a child, an ephemeral, a
 * node at version 1.
 */
function furnished(): TestTree {
  const test = new TestTree();
  test.proposeSession(1, 1);
  for (const request of [
    create("/open"),
    create("/open/child"),
    create("/closed"),
    create("/closed/child"),
    setAcl("/closed", NOBODY),
    setAcl("/closed/child", NOBODY),
    create("/ephemeral", { flags: 1 }),
    create("/changed"),
    setData("/changed", "x"),
    create("/container", { op: OpCode.CREATE_CONTAINER }),
  ]) {
    expect(test.commit(request)).toBe(ErrorCode.OK);
  }
  return test;
}

const cases: [string, Request, keyof typeof ErrorCode][] = [
  ["a create without a path", { ...create("/x"), hasPath: false }, "MARSHALLING_ERROR"],
  ["flags that name no mode come before a bad path", create("x", { flags: 7 }), "BAD_ARGUMENTS"],
  ["a TTL of 0", create("/x", { op: OpCode.CREATE_TTL, flags: 5, ttlMs: 0 }), "BAD_ARGUMENTS"],
  ["a TTL of 2^40", create("/x", { op: OpCode.CREATE_TTL, flags: 5, ttlMs: 2 ** 40 }), "BAD_ARGUMENTS"],
  ["a TTL mode without TTL", create("/x", { flags: 5 }), "BAD_ARGUMENTS"],
  ["a TTL without TTL mode", create("/x", { op: OpCode.CREATE_TTL, ttlMs: 5 }), "BAD_ARGUMENTS"],
  ["createTTL without either", create("/x", { op: OpCode.CREATE_TTL }), "BAD_ARGUMENTS"],
  ["a path without slash comes before a bad ACL", create("x", { acl: NO_ACL }), "BAD_ARGUMENTS"],
  ["a path with NUL comes before a bad ACL", create("/x\0", { acl: NO_ACL }), "BAD_ARGUMENTS"],
  ["a bad ACL comes before a missing parent", create("/missing/x", { acl: NO_ACL }), "INVALID_ACL"],
  ["a null ACL", create("/x", { acl: undefined }), "INVALID_ACL"],
  ["a missing parent comes before a malformed name", create("/missing/x/"), "NO_NODE"],
  ["a relative path's parent is missing", create("a/b"), "NO_NODE"],
  ["a refused parent comes before a malformed name", create("/closed/.."), "NO_AUTH"],
  ["a refused parent comes before an existing node", create("/closed/child"), "NO_AUTH"],
  ["a malformed name", create("/open/.."), "BAD_ARGUMENTS"],
  ["a trailing slash", create("/open/"), "BAD_ARGUMENTS"],
  ["two slashes", create("//"), "BAD_ARGUMENTS"],
  ["an existing node", create("/open/child"), "NODE_EXISTS"],
  ["the root", create("/"), "NODE_EXISTS"],
  ["a child of an ephemeral", create("/ephemeral/x"), "NO_CHILDREN_FOR_EPHEMERALS"],
  ["a malformed name below an ephemeral", create("/ephemeral/."), "BAD_ARGUMENTS"],
  ["a trailing slash of a sequential node", create("/open/", { flags: 2 }), "OK"],
  ["a container below a container", create("/container/x", { op: OpCode.CREATE_CONTAINER }), "OK"],

  ["delete: no path", { ...remove("/x"), hasPath: false }, "MARSHALLING_ERROR"],
  ["delete: no slash", remove("x"), "BAD_ARGUMENTS"],
  ["delete: NUL", remove("/x\0"), "BAD_ARGUMENTS"],
  ["delete: the root", remove("/"), "BAD_ARGUMENTS"],
  ["delete: a reserved node", remove("/zookeeper/config"), "BAD_ARGUMENTS"],
  ["delete: no parent", remove("/missing/x"), "NO_NODE"],
  ["delete: a refused parent comes before a missing node", remove("/closed/missing"), "NO_AUTH"],
  ["delete: no node", remove("/missing"), "NO_NODE"],
  ["delete: a malformed name is a missing node", remove("/open/"), "NO_NODE"],
  ["delete: the version comes before children", remove("/open", 5), "BAD_VERSION"],
  ["delete: children", remove("/open", 0), "NOT_EMPTY"],
  ["delete: what the node's own ACL says is no matter", remove("/closed"), "NOT_EMPTY"],
  ["delete: an old version", remove("/changed", 0), "BAD_VERSION"],
  ["delete: the right version", remove("/changed", 1), "OK"],

  ["setData: malformed comes before missing", setData("/missing/", "x"), "BAD_ARGUMENTS"],
  ["setData: missing", setData("/missing", "x"), "NO_NODE"],
  ["setData: refused comes before a wrong version", setData("/closed", "x", 9), "NO_AUTH"],
  ["setData: a wrong version", setData("/changed", "x", 0), "BAD_VERSION"],
  ["setData: the root", setData("/", "x", 0), "OK"],

  ["setAcl: malformed comes before a bad ACL", setAcl("x", NO_ACL), "BAD_ARGUMENTS"],
  ["setAcl: a bad ACL comes before a missing node", setAcl("/missing", NO_ACL), "INVALID_ACL"],
  ["setAcl: missing", setAcl("/missing", OPEN_ACL), "NO_NODE"],
  ["setAcl: refused comes before a wrong version", setAcl("/closed", OPEN_ACL, 9), "NO_AUTH"],
  ["setAcl: a wrong aversion", setAcl("/changed", OPEN_ACL, 1), "BAD_VERSION"],
  ["setAcl: the right aversion", setAcl("/changed", OPEN_ACL, 0), "OK"],

  ["check: malformed", check("x"), "BAD_ARGUMENTS"],
  ["check: missing", check("/missing"), "NO_NODE"],
  ["check: refused comes before a wrong version", check("/closed", 9), "NO_AUTH"],
  ["check: a wrong version", check("/changed", 0), "BAD_VERSION"],
  ["check: the right version", check("/changed", 1), "OK"],
];

test.each(cases)("%s", (_, request, expected) => {
  const test = furnished();
  const digest = test.digest();
  const code = test.propose(request);
  expect(errorName(code)).toBe(expected);
  if (code !== ErrorCode.OK) expect(test.tree.pendingCount).toBe(0);
  test.applyAll();
  expect(test.digest() === digest).toBe(code !== ErrorCode.OK || request.op === OpCode.CHECK);
});

test("a node is created at a path of at most 16 KiB and 1024 names", () => {
  const test = new TestTree();
  const { OK, BAD_ARGUMENTS, NO_NODE } = ErrorCode;
  expect(test.commit(create(`/${"n".repeat(16 * 1024)}`))).toBe(BAD_ARGUMENTS);
  expect(test.commit(create(`/${"n".repeat(16 * 1024 - 1)}`, { flags: CreateMode.PERSISTENT_SEQUENTIAL }))).toBe(OK);
  for (let depth = 1; depth <= 1024; depth++) expect(test.propose(create("/a".repeat(depth)))).toBe(OK);
  test.applyAll();
  expect(test.commit(create("/a".repeat(1025)))).toBe(BAD_ARGUMENTS);
  expect(test.commit(remove("/a".repeat(1025)))).toBe(NO_NODE);
  expect(test.commit(setData("/a".repeat(1024), "x"))).toBe(OK);
});

test("TTL nodes are unimplemented while they are not enabled, whatever else is wrong", () => {
  const test = new TestTree();
  const context = { ...test.context, isTtlEnabled: false };
  Object.assign(test, { context });
  expect(test.propose(create("x", { op: OpCode.CREATE_TTL, flags: 5, ttlMs: 0 }))).toBe(ErrorCode.UNIMPLEMENTED);
});

test("permissions are those of the pending state", () => {
  const test = new TestTree();
  test.propose(create("/a", { acl: READ_ONLY }));
  expect(test.propose(setData("/a", "x"))).toBe(ErrorCode.NO_AUTH);
  expect(test.propose(create("/a/b"))).toBe(ErrorCode.NO_AUTH);
  expect(test.propose(check("/a", 0))).toBe(ErrorCode.OK);
  test.propose(create("/b"));
  test.propose(setAcl("/b", WRITE_ONLY));
  expect(test.propose(check("/b", 0))).toBe(ErrorCode.NO_AUTH);
  expect(test.propose(setData("/b", "x"))).toBe(ErrorCode.OK);
});

test("two writes with versions 0 and 1 are prepared before either is applied", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  expect(test.propose(setData("/a", "one", 0))).toBe(ErrorCode.OK);
  expect(test.propose(setData("/a", "two", 1))).toBe(ErrorCode.OK);
  expect(test.propose(setData("/a", "three", 1))).toBe(ErrorCode.BAD_VERSION);
  expect(test.data("/a")).toBe("");
  test.applyAll();
  expect(test.data("/a")).toBe("two");
  expect(test.stat("/a").version).toBe(2);
  expect(test.tree.pendingCount).toBe(0);
});

test("a record in flight outlives the transactions before its newest", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  test.propose(setData("/a", "one", 0));
  test.propose(setData("/a", "two", 1));
  test.applyNext();
  expect(test.tree.pendingCount).toBe(1);
  expect(test.propose(setData("/a", "three", 2))).toBe(ErrorCode.OK);
  test.applyAll();
  expect(test.tree.pendingCount).toBe(0);
});

test("a version wraps around in 32 bits", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  const records = [...test.tree.snapshot()];
  const record = records[records.length - 1];
  if (record.kind !== "node") throw new Error("the last record is the newest node");
  new DataView(record.stat.buffer).setInt32(32, 0x7fff_ffff);
  test.tree.loadSnapshot(records);
  expect(test.commit(setData("/a", "x", 0x7fff_ffff))).toBe(ErrorCode.OK);
  expect(test.stat("/a").version).toBe(-0x8000_0000);
});

test("sequence numbers count creates of every kind and never deletes", () => {
  const test = new TestTree();
  test.commit(create("/q"));
  test.propose(create("/q/a"));
  test.propose(create("/q/s-", { flags: 2 }));
  test.propose(remove("/q/a"));
  test.propose(create("/q/", { flags: 2 }));
  test.propose(create("/q/a"));
  test.propose(create("/missing/s-", { flags: 2 }));
  test.applyAll();
  test.commit(create("/q/s-", { flags: 2 }));
  expect(test.children("/q")).toEqual(["0000000002", "a", "s-0000000001", "s-0000000004"]);
});

test("past 2^31 - 1 the numbers in flight wrap while the applied counter stays", () => {
  const test = new TestTree();
  test.commit(create("/q"));
  const records = [...test.tree.snapshot()];
  const record = records[records.length - 1];
  if (record.kind !== "node") throw new Error("the last record is the newest node");
  new DataView(record.stat.buffer).setInt32(36, 0x7fff_fffe);
  test.tree.loadSnapshot(records);
  test.propose(create("/q/s", { flags: 2 }));
  test.propose(create("/q/s", { flags: 2 }));
  test.propose(create("/q/s", { flags: 2 }));
  test.applyAll();
  expect(test.children("/q")).toEqual(["s-2147483648", "s2147483646", "s2147483647"]);
  expect(test.propose(create("/q/s", { flags: 2 }))).toBe(ErrorCode.NODE_EXISTS);
  expect(test.stat("/q").numChildren).toBe(3);
});

test("node ids count up, also across creates that are in flight", () => {
  const test = new TestTree();
  test.propose(create("/a"));
  test.propose(create("/b"));
  test.applyAll();
  test.commit(remove("/b"));
  test.commit(create("/b"));
  const ids = test.history.flatMap((txn) => txn.ops).filter((op) => op.op === OpCode.CREATE);
  expect(ids.map((op) => op.node)).toEqual([5, 6, 7]);
});

test("an op says nothing of the requests that it was filled for before", () => {
  const test = new TestTree();
  const op = newTxnOp();
  test.tree.prepareCreateSession(1000, sliceOf("hash"), test.context, op);
  const acl = [{ perms: 31, scheme: "world", id: "anyone" }];
  for (const request of [
    create("/a", { data: "x", flags: 1, acl }),
    setData("/a", "y"),
    setAcl("/a", acl),
    remove("/a"),
  ]) {
    expect(test.tree.prepare(request, test.context, op)).toBe(ErrorCode.OK);
    const fresh = newTxnOp();
    const said = Object.keys(op).filter(
      (key) => JSON.stringify(fieldOf(op, key)) !== JSON.stringify(fieldOf(fresh, key)),
    );
    expect(said.sort()).toEqual(FIELDS[request.op]);
  }
});

const FIELDS: Record<number, string[]> = {
  [OpCode.CREATE]: [
    "acl",
    "data",
    "hasData",
    "node",
    "op",
    "ownerHigh",
    "ownerLow",
    "parent",
    "parentCversion",
    "path",
  ],
  [OpCode.SET_DATA]: ["data", "hasData", "node", "op", "path", "version"],
  [OpCode.SET_ACL]: ["acl", "node", "op", "path", "version"],
  [OpCode.DELETE]: ["node", "op", "parent", "path"],
};

/** Slices by what they show; an ACL by its identity, as the encoder recognizes the open one. */
function fieldOf(op: TxnOp, key: string): unknown {
  const value: unknown = Object.entries(op).find(([name]) => name === key)?.[1];
  if (key === "path" || key === "data" || key === "passwordHash") return sliceText(op[key]);
  return key === "acl" ? op.acl === OPEN_ACL : value;
}

test("a leader that steps down forgets what it proposed", () => {
  const test = new TestTree();
  test.propose(create("/a"));
  test.tree.discardPending();
  expect(test.tree.pendingCount).toBe(0);
  expect(test.propose(create("/a"))).toBe(ErrorCode.OK);
  expect(test.queue.map((txn) => txn.ops[0].node)).toEqual([5, 5]);
});

test("the first character may be anywhere in the request's buffer", () => {
  const test = new TestTree();
  const request = create("/q");
  const bytes = new Uint8Array([1, 2, 3, ...request.path.bytes, 4]);
  expect(test.commit({ ...request, path: { bytes, start: 3, end: 5 } })).toBe(ErrorCode.OK);
  expect(test.propose({ ...create("/q/-", { flags: 2 }) })).toBe(ErrorCode.OK);
  expect(test.queue.map((txn) => sliceText(txn.ops[0].path))).toEqual(["/q/-0000000000"]);
});

test("a tree that holds as much as it may refuses what adds to it, and takes what does not", () => {
  const test = furnished();
  for (const data of ["x".repeat(10_000), "y"]) test.commit(setData("/open/child", data));
  Object.assign(test.context, { heldBytesMax: test.tree.heldBytes + 50 });
  const long: Acl = [{ perms: 31, scheme: "digest", id: "x".repeat(100) }];
  for (const grown of [create("/more"), setData("/open", "x".repeat(51)), setAcl("/open", long)]) {
    expect(test.commit(grown)).toBe(ErrorCode.QUOTA_EXCEEDED);
  }
  expect(test.overQuota).toEqual(Array(3).fill(expect.objectContaining({ kind: "tree-bytes" })));
  expect(test.commit(setData("/open", "x".repeat(50)))).toBe(ErrorCode.OK);
  expect(test.tree.heldBytes).toBe(test.context.heldBytesMax);
  // Beyond it already, as after a start with a lower limit.
  Object.assign(test.context, { heldBytesMax: 100 });
  for (const other of [setData("/open", "y".repeat(50)), setData("/open", "y"), remove("/open/child")]) {
    expect(test.commit(other)).toBe(ErrorCode.OK);
  }
  expect(test.commit(create("/open/child", { acl: OPEN_ACL }))).toBe(ErrorCode.QUOTA_EXCEEDED);
});

test("a tree with as many pages as it may have refuses what adds to it", () => {
  const { context } = new TestTree();
  const refusals: Excess[] = [];
  Object.assign(context, { overQuota: (excess: Excess) => refusals.push(excess) });
  const codes = [131_073, 131_074].map((pageCountMax) => {
    const state = new TreeState({ k0: 1, k1: 2 }, pageCountMax);
    state.createInitialNodes();
    const parts = new PrepareParts(state, new PendingChanges({ k0: 1, k1: 2 }));
    return new TxnPreparer(parts).prepare(create("/a"), context, newTxnOp());
  });
  expect(codes).toEqual([ErrorCode.QUOTA_EXCEEDED, ErrorCode.OK]);
  expect(refusals).toEqual([{ kind: "tree-pages" }]);
});

test("what a tree holds is known again after it was loaded", () => {
  const test = furnished();
  const loaded = new TestTree().tree;
  loaded.loadSnapshot(test.tree.snapshot());
  expect(loaded.heldBytes).toBe(test.tree.heldBytes);
});
