import { Adler32 } from "@zooid/wire/apache";
import { type Door, type DoorShape, sizeOf, wordOf } from "./door.ts";
import { type MeasuredProcess, SUPER_PASSWORD } from "./measured-process.ts";

const HEADERS = { authorization: `digest ${SUPER_PASSWORD}`, "content-type": "application/octet-stream" };
const OPEN_LIST = -1n;
/** About as much as this process can make and send at a time. */
const BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of an entry of a list, and of a node beside its name and data. */
const ENTRY_BYTES = 24;
const NODE_BYTES = 100;
/** Created and changed by transaction 1 at the time 1. */
const STAT = Buffer.concat([long(1n), long(1n), long(1n), long(1n), Buffer.alloc(12), long(0n), long(1n)]);
const KINDS = [
  "deep",
  "wide",
  "long names",
  "lists",
  "entries",
  "sessions",
  "data",
  "twice",
  "orphans",
  "claims",
  "odd names",
];

/**
 * Snapshots to be restored, as an operator would send one that a stranger made: their sums are
 * right, and their trees of all forms.
 */
export function restoreDoor(server: MeasuredProcess): Door {
  return {
    name: "restore",
    // It replaces the whole state, which is loaded in one piece, and ends all connections.
    limitMs: 1000,
    fields: {
      of: { words: KINDS },
      count: { sizes: [0, 10, 100, 1000, 10_000] },
      size: { sizes: [0, 1, 10, 100, 1000, 20_000] },
    },
    seeds: [
      { of: "deep", count: 2000, size: 1 },
      { of: "deep", count: 500, size: 15 },
      { of: "wide", count: 10_000, size: 10 },
      { of: "long names", count: 100, size: 20_000 },
      { of: "lists", count: 10_000, size: 1 },
      { of: "entries", count: 1000, size: 1000 },
      { of: "sessions", count: 10_000, size: 0 },
      { of: "data", count: 10, size: 20_000 },
      { of: "twice", count: 100, size: 1 },
      { of: "orphans", count: 100, size: 1 },
      { of: "claims", count: 1, size: 1 },
      { of: "odd names", count: 100, size: 10 },
    ],
    async send(shape) {
      const bytes = snapshotOf(shape);
      const answer = await fetch(`http://127.0.0.1:${server.adminPort}/commands/restore`, {
        method: "POST",
        headers: HEADERS,
        body: new Uint8Array(bytes),
      });
      await answer.arrayBuffer();
      return { bytes: bytes.length };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** As Apache writes one, see `apache-format.ts`. */
export function snapshotOf(shape: DoorShape): Buffer {
  const [of, count, size] = [wordOf(shape, "of"), sizeOf(shape, "count"), sizeOf(shape, "size")];
  const sessions = of === "sessions" ? count : 0;
  const parts: Buffer[] = [Buffer.from("ZKSN"), int(2), long(-1n), int(sessions)];
  for (let i = 0; i < sessions; i++) parts.push(long(BigInt(i + 1)), int(30_000));
  for (const part of listsOf(of, count, size)) parts.push(part);
  for (const { path, data, list } of nodesOf(of, count, size)) {
    parts.push(buffer(path), data === undefined ? int(-1) : buffer(data), long(list), STAT);
  }
  parts.push(buffer("/"));
  // A length that is not there.
  if (of === "claims") parts.splice(-1, 0, int(0x7fff_fff0));
  return sealed(Buffer.concat(parts));
}

interface Node {
  readonly path: string;
  readonly data?: string;
  readonly list: bigint;
}

function nodesOf(of: string, count: number, size: number): readonly Node[] {
  const root: readonly Node[] = ["", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"].map((path) => ({
    path,
    list: OPEN_LIST,
  }));
  const name = "n".repeat(Math.max(1, size));
  // Data is ten times as long.
  const most = Math.floor(BYTES_MAX / (NODE_BYTES + 10 * size));
  const some = (make: (i: number) => Omit<Node, "list">): readonly Node[] => [
    ...root,
    ...Array.from({ length: Math.min(count, most) }, (_, i) => ({ list: OPEN_LIST, ...make(i) })),
  ];
  switch (of) {
    case "deep": {
      const depth = Math.min(count, Math.floor(Math.sqrt(8_000_000 / (size + 1))));
      return [
        ...root,
        ...Array.from({ length: depth }, (_, i) => ({ path: `/${name}`.repeat(i + 1), list: OPEN_LIST })),
      ];
    }
    case "wide":
      return some((i) => ({ path: `/${i}`, data: "d".repeat(size) }));
    case "long names":
      return some((i) => ({ path: `/${i}${name}` }));
    case "data":
      return some((i) => ({ path: `/${i}`, data: "d".repeat(size * 10) }));
    case "twice":
      return some(() => ({ path: "/a" }));
    case "orphans":
      return some((i) => ({ path: `/missing/${i}` }));
    case "odd names":
      return some((i) => ({ path: `/${i}${["<img src=x>", "\u202e", "..", "__proto__", "\u0001", "//"][i % 6]}` }));
    case "lists":
    case "entries":
      return some((i) => ({ path: `/${i}` })).map((node, i) => ({
        ...node,
        list: BigInt((i % Math.max(1, count)) + 1),
      }));
    default:
      return root;
  }
}

function listsOf(of: string, count: number, size: number): readonly Buffer[] {
  if (of !== "lists" && of !== "entries") return [int(0)];
  const lists = of === "lists" ? count : Math.max(1, size);
  const most = Math.floor(BYTES_MAX / ENTRY_BYTES / Math.max(1, lists));
  const entries = Math.min(most, of === "lists" ? Math.max(1, size) : count);
  const parts = [int(lists)];
  for (let i = 0; i < lists; i++) {
    parts.push(long(BigInt(i + 1)), int(entries));
    for (let n = 0; n < entries; n++) parts.push(int(31), buffer("ip"), buffer(`10.${i & 255}.${n >> 8}.${n & 255}`));
  }
  return parts;
}

function sealed(bytes: Buffer): Buffer {
  const sum = new Adler32();
  sum.add(bytes, 0, bytes.length);
  return Buffer.concat([bytes, long(BigInt(sum.value)), buffer("/")]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function buffer(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([int(bytes.length), bytes]);
}
