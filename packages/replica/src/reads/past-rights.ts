import { type Acl, type ByteSlice, ErrorCode, may, Permission } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import { readRefusal } from "./read-refusal.ts";

type Parts = Pick<GroundParts, "auth" | "tree">;

/**
 * Why a connection may not ask about the past of a path: it needs READ on the node, or where that
 * is gone, ADMIN on the nearest node above that is there. A path without a node says no more.
 *
 * Beside this it needs {@link mightRead}: somebody else may have had a node of that path.
 */
export function pastRefusal(parts: Parts, connection: Connection, path: Readonly<ByteSlice>): ErrorCode {
  const { tree } = parts;
  const { bytes, start, end } = path;
  const node = tree.find(bytes, start, end);
  if (node !== 0) return readRefusal(parts, connection, node, Permission.READ);
  return readRefusal(parts, connection, tree.nearest(bytes, start, end), Permission.ADMIN);
}

/**
 * The paths below another one whose changes a connection may see: those about which it may ask,
 * and whose nodes above it may read, up to the one that it asked about. Names below a node are for
 * those who may read that node.
 *
 * It is of use until the tree changes.
 */
export class PastsBelow {
  readonly #parts: Parts;
  readonly #connection: Connection;
  /** Whether the client reaches a node. */
  readonly #reached = new Map<number, boolean>();

  /** @param above what the client asked about, and may */
  constructor(parts: Parts, connection: Connection, above: Uint8Array) {
    this.#parts = parts;
    this.#connection = connection;
    this.#reached.set(parts.tree.nearest(above, 0, above.length), true);
  }

  has(path: Uint8Array): boolean {
    const { tree } = this.#parts;
    const node = tree.find(path, 0, path.length);
    if (node !== 0) return this.#reaches(node);
    const nearest = tree.nearest(path, 0, path.length);
    const refusal = readRefusal(this.#parts, this.#connection, nearest, Permission.ADMIN);
    return refusal === ErrorCode.OK && this.#reaches(nearest);
  }

  /** Whether the client has ADMIN on a node, or where that is gone, on the nearest one above. */
  administers(path: Uint8Array): boolean {
    const node = this.#parts.tree.nearest(path, 0, path.length);
    return readRefusal(this.#parts, this.#connection, node, Permission.ADMIN) === ErrorCode.OK;
  }

  #reaches(node: number): boolean {
    const { tree } = this.#parts;
    const way: number[] = [];
    let reached: boolean | undefined;
    // A path may have hundreds of nodes.
    for (let at = node; reached === undefined; at = tree.parent(at)) {
      reached = at === 0 ? false : this.#reached.get(at);
      if (reached === undefined) way.push(at);
    }
    for (const at of way.reverse()) {
      reached &&= readRefusal(this.#parts, this.#connection, at, Permission.READ) === ErrorCode.OK;
      this.#reached.set(at, reached);
    }
    return reached;
  }
}

/** Whether a connection might have read a node with that access list; not if it is unknown. */
export function mightRead({ auth }: Pick<Parts, "auth">, connection: Connection, acl: Acl | undefined): boolean {
  return acl !== undefined && may(auth.rules, connection.answeredAs, acl, Permission.READ);
}
