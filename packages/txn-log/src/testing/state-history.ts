import { counterOf, newTxnHeader, newTxnOp, OpCode, sliceOf } from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import type { Store } from "../sqlite.ts";
import { Z } from "./append-batches.ts";
import { promised } from "./promised-log.ts";
import type { Oracle } from "./state-oracle.ts";

/** Ways for tests to give a store a history. */

/** A write is answered after everything before it was reported. */
export async function settled(store: Store): Promise<void> {
  await promised(store.log).setConfigs({});
}

/** Appends `count` random transactions and marks the last. */
export async function runOracle(store: Store, oracle: Oracle, count: number): Promise<void> {
  for (let i = 0; i < count; i++) oracle.step();
  const { bytes, end } = oracle.encoder.take();
  promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: oracle.zxid });
  await settled(store);
  mark(store, end);
}

/** Appends creates of nodes below the root, numbered as their counters, and marks the last. */
export async function createNodes(store: Store, first: number, last: number, dataBytes = 100): Promise<void> {
  const encoder = new TxnBatchEncoder();
  const header = newTxnHeader();
  const op = newTxnOp();
  op.op = OpCode.CREATE;
  op.parent = 1;
  op.hasData = true;
  op.data = sliceOf("x".repeat(dataBytes));
  header.timeMs = 1_780_000_000_000;
  for (let i = first; i <= last; i++) {
    header.zxid = Z(1, i);
    op.node = 4 + i;
    op.parentCversion = i;
    op.path = sliceOf(`/node-${String(i).padStart(10, "0")}`);
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
    if (i % 5000 !== 0 && i !== last) continue;
    const { bytes, end } = encoder.take();
    promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: header.zxid });
    await settled(store);
    mark(store, end);
  }
}

function mark(store: Store, bytes: number): void {
  const { zxid, chain } = store.log.durable.tail;
  store.state.advance({ zxid, chain, digestHigh: counterOf(zxid), digestLow: -counterOf(zxid), bytes });
}
