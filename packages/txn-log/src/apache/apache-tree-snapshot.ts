import type { Acl } from "@zooid/model";
import {
  Adler32,
  APACHE_HEADER_BYTES,
  APACHE_MAGIC,
  APACHE_VERSION,
  END_PATH,
  field,
  int,
  long,
} from "@zooid/wire/apache";
import { StoreError } from "../store/store-error.ts";
import type { ApacheTree } from "./apache-tree.ts";

const PIECE_BYTES = 256 * 1024;

/** A node as a snapshot has it. */
export interface SnapshotNode {
  /** The root's is empty. */
  readonly path: Buffer;
  readonly data: Buffer | null;
  /** The place of its access list among those of the content. */
  readonly acl: number;
  /** 60 bytes, in stored form. */
  readonly stat: Buffer;
}

/** The source of an exact snapshot. */
export interface ApacheSnapshotContent {
  readonly sessionCount: number;
  readonly sessions: Iterable<readonly [id: bigint, timeoutMs: number]>;
  /** Each list once. */
  readonly acls: readonly Acl[];
  /** Parents before children. */
  readonly nodes: Iterable<SnapshotNode>;
}

/** An exact snapshot in Apache's form, in pieces of about 256 KiB. */
export function* apacheSnapshot(
  { sessionCount, sessions, acls, nodes }: ApacheSnapshotContent,
  lastZxid: bigint,
): Generator<Buffer, void, undefined> {
  const out = new SealedPieces();
  const head = Buffer.alloc(APACHE_HEADER_BYTES);
  head.writeUInt32BE(APACHE_MAGIC, 0);
  head.writeUInt32BE(APACHE_VERSION, 4);
  head.writeBigInt64BE(-1n, 8);
  out.put(head, int(sessionCount));
  for (const [id, timeoutMs] of sessions) {
    out.put(long(id), int(timeoutMs));
    if (out.length >= PIECE_BYTES) yield out.take();
  }
  out.put(int(acls.length));
  for (const [place, acl] of acls.entries())
    out.put(Buffer.concat([long(keyOf(place)), int(acl.length), ...acl.flatMap(entryOf)]));
  for (const { path, data, acl, stat } of nodes) {
    out.put(field(path), field(data), long(keyOf(acl)), stat);
    if (out.length >= PIECE_BYTES) yield out.take();
  }
  out.put(field(Buffer.from(END_PATH)));
  out.seal();
  out.put(long(lastZxid));
  out.seal();
  yield out.take();
}

/** Keys begin with 1. */
function keyOf(place: number): bigint {
  return BigInt(place + 1);
}

/**
 * Writes a tree as an exact snapshot in Apache's form: sessions, then nodes, parents before
 * children.
 *
 * @param from names the tree in errors
 * @throws StoreError DAMAGED for a node without access list or parent
 */
export function* apacheTreeSnapshot(
  tree: ApacheTree,
  lastZxid: bigint,
  from: string,
): Generator<Buffer, void, undefined> {
  const places = new Map<string, number>();
  const acls: Acl[] = [];
  for (const [path, { acl }] of tree.nodes) {
    if (acl === undefined) throw damaged(from, path, "its access list is missing");
    if (path !== "" && !tree.nodes.has(path.slice(0, path.lastIndexOf("/"))))
      throw damaged(from, path, "it has no parent");
    const text = JSON.stringify(acl);
    if (places.has(text)) continue;
    places.set(text, acls.length);
    acls.push(acl);
  }
  const { sessions } = tree;
  yield* apacheSnapshot({ sessionCount: sessions.size, sessions, acls, nodes: nodesOf(tree, places) }, lastZxid);
}

function* nodesOf(tree: ApacheTree, places: ReadonlyMap<string, number>): Generator<SnapshotNode, void, undefined> {
  // A parent has a smaller depth than its children.
  const byDepth: string[][] = [];
  for (const path of tree.nodes.keys()) {
    const depth = path.split("/").length;
    byDepth[depth] ??= [];
    byDepth[depth].push(path);
  }
  for (const path of byDepth.flat()) {
    const node = tree.nodes.get(path);
    if (node === undefined) continue;
    const acl = places.get(JSON.stringify(node.acl)) ?? 0;
    yield { path: Buffer.from(path), data: node.data, acl, stat: node.stat };
  }
}

function damaged(file: string, path: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place: `the node ${JSON.stringify(path)}`, found });
}

class SealedPieces {
  readonly #sum = new Adler32();
  #pieces: Buffer[] = [];
  length = 0;

  put(...pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      this.#sum.add(piece, 0, piece.length);
      this.#pieces.push(piece);
      this.length += piece.length;
    }
  }

  seal(): void {
    this.put(Buffer.concat([long(BigInt(this.#sum.value)), field(Buffer.from(END_PATH))]));
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.length = 0;
    return bytes;
  }
}

function entryOf({ perms, scheme, id }: Acl[number]): readonly Buffer[] {
  return [int(perms), field(Buffer.from(scheme)), field(Buffer.from(id))];
}
