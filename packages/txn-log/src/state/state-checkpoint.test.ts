import { join } from "node:path";
import { InvariantError, newTxnHeader, newTxnOp, OpCode, sliceOf } from "@zooid/model";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { BatchCursor } from "../log/entry-batch.ts";
import { Z } from "../testing/append-batches.ts";
import { loaded, Oracle, type PlainState } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { ArenaLimits } from "./node-arena.ts";
import { StateCheckpoint } from "./state-checkpoint.ts";
import { createStateFile, loadStateFile, StateFile } from "./state-file.ts";

let place: TemporaryDirectory;
let file: string;
let state: StateFile;
beforeEach(() => {
  place = new TemporaryDirectory();
  file = join(place.path, "state.db");
  createStateFile(file);
  state = new StateFile(file);
});
afterEach(() => {
  state.close();
  place[Symbol.dispose]();
});

const stored = (): PlainState => loaded({ loadState: (sink) => loadStateFile(file, sink) });

function checkpoint(encoder: TxnBatchEncoder, limits?: ArenaLimits): number {
  const checkpointing = new StateCheckpoint(state, new TxnReader(), limits);
  const { bytes, end, last } = encoder.take();
  const batch = new BatchCursor();
  batch.open(bytes, 0, end);
  state.begin();
  checkpointing.begin();
  while (batch.next()) checkpointing.add(batch.zxid, bytes, batch.start, batch.end);
  const count = checkpointing.end();
  checkpointing.release();
  state.commit({ ...state.meta, applied: { zxid: last, chain: CHAIN_NONE }, nextNodeId: checkpointing.nextNodeId });
  return count;
}

const NO_HEADS = { headDataBytes: Number.POSITIVE_INFINITY, headCount: 1 };

test.each([
  ["bytes", { bytes: 2000, knownCount: 1000, newCount: 1000, ...NO_HEADS }],
  ["less than a row", { bytes: 10, knownCount: 1000, newCount: 1000, ...NO_HEADS }],
  ["known nodes", { bytes: 1_000_000, knownCount: 2, newCount: 1000, ...NO_HEADS }],
  ["new nodes", { bytes: 1_000_000, knownCount: 1000, newCount: 3, ...NO_HEADS }],
  ["bytes and keeps heads", { bytes: 2000, knownCount: 1000, newCount: 1000, headDataBytes: 1, headCount: 100 }],
  [
    "known nodes and keeps heads",
    { bytes: 1_000_000, knownCount: 2, newCount: 1000, headDataBytes: 0, headCount: 100 },
  ],
  ["heads", { bytes: 2000, knownCount: 3, newCount: 1000, headDataBytes: 0, headCount: 2 }],
])("a checkpoint that is full of %s on the way gives the same state", (_, limits) => {
  for (const seed of [1, 2, 3, 4]) {
    state.close();
    file = join(place.path, `state-${seed}.db`);
    createStateFile(file);
    state = new StateFile(file);
    const oracle = new Oracle(seed, stored());
    for (let i = 0; i < 300; i++) oracle.step();
    checkpoint(oracle.encoder, limits);
    expect(stored()).toEqual({ nodes: oracle.nodes, sessions: oracle.sessions });
  }
});

test("a node that changes a thousand times is written once", () => {
  const encoder = new TxnBatchEncoder();
  for (let i = 1; i <= 1000; i++) encode(encoder, i, { op: OpCode.SET_DATA, node: 2, version: i });
  expect(checkpoint(encoder)).toBe(1);
});

test.each([
  ["changes a node that does not exist", { op: OpCode.SET_DATA, node: 77 }],
  ["deletes a node that does not exist", { op: OpCode.DELETE, node: 77, parent: 1 }],
  ["creates a node again", { op: OpCode.CREATE, node: 3, parent: 1 }],
  ["creates below a node that does not exist", { op: OpCode.CREATE, node: 5, parent: 77 }],
  ["does something unknown", { op: 4711 }],
])("a transaction that %s is a defect", (_, op) => {
  const encoder = new TxnBatchEncoder();
  encode(encoder, 1, op);
  expect(() => checkpoint(encoder)).toThrow(InvariantError);
});

function encode(encoder: TxnBatchEncoder, counter: number, op: object): void {
  encoder.begin({ ...newTxnHeader(), zxid: Z(1, counter) });
  encoder.op({ ...newTxnOp(), path: sliceOf("/somewhere"), hasData: true, data: sliceOf(`data ${counter}`), ...op });
  encoder.end();
}
