// Run by `npm run bench -w packages/data-tree`: what a write costs the tree, prepared, applied and
// finished, with 500 in flight.
import {
  type ConnectionRef,
  composeZxid,
  newRequest,
  newTxnHeader,
  newTxnOp,
  OPEN_ACL,
  OpCode,
  setSlice,
  sliceOf,
  WatchMode,
  WatchTableKind,
} from "@zooid/model";
import { DataTree } from "./data-tree.ts";
import type { PrepareContext } from "./prepare/prepare-context.ts";

const COUNT = 400_000;
const IN_FLIGHT = 500;
const NODES = 10_000;

const tree = new DataTree({ hashKey: { k0: 1, k1: 7 } });
const context: PrepareContext = {
  sessionHigh: 1,
  sessionLow: 1,
  identities: [],
  rules: { skipAcl: false, schemes: new Map() },
  zxid: composeZxid(1, 0),
  timeMs: 1,
  fixAcl: (acl) => acl,
  isTtlEnabled: false,
  isQuotaEnforced: false,
  heldBytesMax: Number.POSITIVE_INFINITY,
  overQuota: () => {},
};
const header = newTxnHeader();
const ops = Array.from({ length: IN_FLIGHT }, newTxnOp);
const request = newRequest();
request.hasPath = true;
request.hasData = true;
request.acl = OPEN_ACL;
let prepared = 0;
let applied = 0;

function prepare(): void {
  context.zxid = composeZxid(1, ++prepared);
  const op = ops[prepared % IN_FLIGHT];
  const code = tree.prepare(request, context, op);
  if (code !== 0) throw new Error(`refused with ${code}`);
  // The scratch of a sequential name does not outlive the next prepare.
  if (op.path.bytes !== request.path.bytes)
    setSlice(op.path, Buffer.from(op.path.bytes.subarray(0, op.path.end)), 0, op.path.end);
}

function apply(): void {
  header.zxid = composeZxid(1, ++applied);
  tree.apply(header, ops[applied % IN_FLIGHT], undefined);
  tree.finish(header);
}

function measure(name: string, count: number, fill: (i: number) => void): void {
  for (let round = 0; round < 2; round++) {
    const from = performance.now();
    for (let i = 0; i < count; i++) {
      fill(i);
      prepare();
      if (prepared - applied === IN_FLIGHT - 1) apply();
    }
    while (applied < prepared) apply();
    const each = ((performance.now() - from) * 1000) / count;
    if (round === 1) console.log(`${name.padEnd(36)} ${each.toFixed(2).padStart(6)} µs`);
  }
}

request.op = OpCode.CREATE;
request.path = sliceOf("/bench");
prepare();
apply();
const paths = Array.from({ length: NODES }, (_, i) => sliceOf(`/bench/n-${String(i).padStart(10, "0")}`));
for (const path of paths) {
  request.path = path;
  prepare();
  apply();
}

request.op = OpCode.SET_DATA;
for (const size of [100, 1024]) {
  request.data = sliceOf("x".repeat(size));
  measure(`setData of ${size} bytes`, COUNT, (i) => {
    request.path = paths[(i * 7919) % NODES];
  });
}

request.op = OpCode.CREATE;
request.flags = 2;
request.data = sliceOf("x".repeat(100));
request.path = sliceOf("/bench/s-");
measure("sequential create of 100 bytes", COUNT, () => {});

request.flags = 0;
const churn = Array.from({ length: IN_FLIGHT * 2 }, (_, i) => sliceOf(`/bench/churn-${i}`));
measure("create and delete, half each", COUNT, (i) => {
  request.op = i % 2 === 0 ? OpCode.CREATE : OpCode.DELETE;
  request.path = churn[(i >> 1) % churn.length];
});

const { watches } = tree;
const sink = { mayRead: () => true, event: () => {} };
let from = performance.now();
const WATCHES = 1_000_000;
const rss = process.memoryUsage().rss;
for (let i = 0; i < WATCHES; i++) {
  const { bytes, start, end } = paths[i % NODES];
  watches.arm(WatchTableKind.DATA, bytes, start, end, (i % 997) as ConnectionRef, WatchMode.STANDARD);
}
console.log(
  `arm one of ${watches.watchCount} watches            ${(((performance.now() - from) * 1000) / WATCHES).toFixed(2)} µs`,
);
console.log(
  `bytes a watch                        ${((process.memoryUsage().rss - rss) / watches.watchCount).toFixed(0)}`,
);
from = performance.now();
const before = watches.watchCount;
for (const path of paths) watches.trigger(3, path, OPEN_ACL, context.zxid, sink);
console.log(`fire one watch                       ${(((performance.now() - from) * 1000) / before).toFixed(2)} µs`);
