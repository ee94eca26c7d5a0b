import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ApacheTree, apacheTreeSnapshot } from "@zooid/txn-log/sqlite";

const NODES_PER_FOLDER = 1000;
const DATA_BYTES = 100;
const STAT_BYTES = 60;
const OPEN_KEY = -1n;
/** The zxid of the last transaction and its seal, which servers before 3.9 do not know. */
const TAIL_BYTES = 21;
const ZXID = 1n;

/** Writes a snapshot of Apache's with this number of nodes, which every version loads. */
export async function writeLargeSnapshot(file: string, nodeCount: number): Promise<void> {
  const tree = new ApacheTree();
  tree.addBuiltIn();
  const stat = Buffer.alloc(STAT_BYTES);
  for (const at of [0, 8, 52]) stat.writeBigInt64BE(ZXID, at);
  const data = Buffer.alloc(DATA_BYTES, "x");
  const add = (path: string): void => tree.node(Buffer.from(path), data, OPEN_KEY, stat);
  add("/bulk");
  for (let i = 0; i < nodeCount; i++) {
    const folder = `/bulk/f${Math.floor(i / NODES_PER_FOLDER)}`;
    if (i % NODES_PER_FOLDER === 0) add(folder);
    add(`${folder}/n${i}`);
  }
  // The tail comes with the last piece.
  let last: Buffer = Buffer.alloc(0);
  await pipeline(async function* () {
    for (const piece of apacheTreeSnapshot(tree, ZXID, file)) {
      yield last;
      last = piece;
    }
    yield last.subarray(0, -TAIL_BYTES);
  }, createWriteStream(file));
}
