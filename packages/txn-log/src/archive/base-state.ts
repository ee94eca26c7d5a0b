import type { Acl } from "@zooid/model/storage";
import { SnapshotDecoder, type SnapshotParts } from "../snapshots/snapshot-decoder.ts";
import { isWhole, newStateNode, RowOffset, viewNode } from "../state/node-row.ts";
import {
  SNAPSHOT_CHUNK_BYTES,
  type StateMeta,
  type StateNode,
  type StateSession,
  type StateSink,
} from "../state/state-store.ts";
import { damaged } from "./archive-format.ts";

/**
 * Hands over what a base has as the load of a state file does: sessions first, then nodes by
 * ascending id, each row checked.
 */
export class BaseStateReader {
  readonly #decoder: SnapshotDecoder;

  /** @param place of the base, for errors */
  constructor(place: string, sink: StateSink) {
    this.#decoder = new SnapshotDecoder(new StateParts(place, sink));
  }

  /** Takes the next part. @throws StoreError where it is none, or damaged */
  add(part: Buffer): void {
    for (let at = 0; at < part.length; at += SNAPSHOT_CHUNK_BYTES)
      this.#decoder.add(part.subarray(at, Math.min(part.length, at + SNAPSHOT_CHUNK_BYTES)));
  }

  /**
   * After the last part.
   *
   * @throws StoreError where it was not all
   */
  end(): Pick<StateMeta, "nextNodeId" | "level"> {
    return this.#decoder.end();
  }
}

/** An access list as rows of a base and of a state file name it. */
export function parseAclContent(content: string): Acl {
  const entries = JSON.parse(content) as [number, string, string][];
  return entries.map(([perms, scheme, id]) => ({ perms, scheme, id }));
}

class StateParts implements SnapshotParts {
  readonly #place: string;
  readonly #sink: StateSink;
  readonly #acls: Acl[] = [];
  readonly #node: StateNode = newStateNode();

  constructor(place: string, sink: StateSink) {
    this.#place = place;
    this.#sink = sink;
  }

  header(): void {}

  session(session: Readonly<StateSession>): void {
    this.#sink.session({ ...session, passwordHash: Uint8Array.from(session.passwordHash) });
  }

  acl(_id: number, content: string): void {
    this.#acls.push(parseAclContent(content));
  }

  node(row: Buffer): void {
    const id = row.readDoubleBE(RowOffset.id);
    if (!isWhole(row)) throw damaged(this.#place, `the node ${id}`, "another sum");
    const node = this.#node;
    const acl = this.#acls[viewNode(row, node) - 1];
    if (acl === undefined) throw damaged(this.#place, `the node ${id}`, "an access list that is not there");
    node.acl = acl;
    this.#sink.node(node);
  }

  rest(): void {}
}
