// Run by `npm run bench -w packages/data-tree -- [nodes]`: a million nodes of 100 bytes by default,
// under a thousand parents.
import { emptySlice, sliceOf } from "@zooid/model";
import { ROOT } from "./node-row.ts";
import { NodeStore } from "./node-store.ts";

const COUNT = Number(process.argv[2] ?? 1_000_000);
const PARENTS = Math.max(1, Math.floor(COUNT / 1000));

function residentMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
}

/** Runs and prints the mean and the longest single call. */
function measure(name: string, count: number, run: (i: number) => void): void {
  const before = performance.now();
  let slowest = 0;
  for (let i = 0; i < count; ) {
    const from = performance.now();
    run(i++);
    const took = performance.now() - from;
    if (took > slowest) slowest = took;
  }
  const mean = ((performance.now() - before) * 1e6) / count;
  console.log(`${name.padEnd(28)} ${mean.toFixed(0).padStart(6)} ns each, slowest ${slowest.toFixed(2)} ms`);
}

const path = Buffer.from("/p-00000000/n-0000000000");
function setDigits(at: number, width: number, value: number): void {
  for (let i = at + width - 1; i >= at; i--, value = Math.floor(value / 10)) path[i] = 0x30 + (value % 10);
}

const base = residentMiB();
const store = new NodeStore({ k0: 0x1234_5678, k1: 7 });
store.createRoot(1);
const parents: number[] = [];
for (let i = 0; i < PARENTS; i++) {
  const { bytes, start, end } = sliceOf(`p-${String(i).padStart(8, "0")}`);
  parents.push(store.create(ROOT, bytes, start, end, i + 2));
}
const data = Buffer.alloc(100, "x");

measure("clock alone", COUNT, () => {});
measure("create", COUNT, (i) => {
  setDigits(14, 10, i);
  const node = store.create(parents[i % PARENTS], path, 12, 24, PARENTS + i + 2);
  store.setData(node, data, 0, 100);
});
const used = residentMiB() - base;
console.log(
  `${store.count} nodes: ${used.toFixed(0)} MiB resident, ${((used * 2 ** 20) / store.count).toFixed(1)} bytes a node`,
);

let found = 0;
measure("find by path, scattered", COUNT, (i) => {
  const n = (i * 7919) % COUNT;
  setDigits(3, 8, n % PARENTS);
  setDigits(14, 10, n);
  if (store.find(path, 0, 24) !== 0) found++;
});
if (found !== COUNT) throw new Error(`found ${found} of ${COUNT}`);

const name = emptySlice();
let listed = 0;
const from = performance.now();
for (const parent of parents) {
  for (let child = store.firstChild(parent); child !== 0; child = store.nextSibling(child)) {
    store.name(child, name);
    listed += name.end - name.start;
  }
}
console.log(
  `list                         ${(((performance.now() - from) * 1e6) / COUNT).toFixed(0).padStart(6)} ns a child`,
);
if (listed !== COUNT * 12) throw new Error(`listed ${listed} bytes of names`);

measure("setData, same size", COUNT, (i) => {
  setDigits(3, 8, i % PARENTS);
  setDigits(14, 10, i);
  store.setData(store.find(path, 0, 24), data, 0, 100);
});
measure("delete nine of ten", COUNT, (i) => {
  if (i % 10 === 0) return;
  setDigits(3, 8, i % PARENTS);
  setDigits(14, 10, i);
  store.remove(store.find(path, 0, 24));
});
const sparse = store.pageBytes;
let slices = 0;
measure("compact, slices of 100", COUNT, () => {
  if (store.compact(100) > 0) slices++;
});
console.log(
  `${slices} slices: ${(sparse / 2 ** 20).toFixed(0)} MiB of pages became ${(store.pageBytes / 2 ** 20).toFixed(0)}`,
);
