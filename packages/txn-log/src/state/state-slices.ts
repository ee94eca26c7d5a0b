import type { Acl } from "@zooid/model";
import type { LiveCapture, LiveNode } from "./live-tree.ts";
import { encodeRow } from "./node-row.ts";
import { contentOfAcl } from "./state-file.ts";
import type { StateSession } from "./state-store.ts";

/** A part of a tree in memory, as the state thread writes it to a file. */
export interface StateSlice {
  /** Access lists that no slice before had, with their numbers in the rows. */
  readonly acls: readonly (readonly [id: number, content: string])[];
  readonly sessions: readonly StateSession[];
  /** Sealed, in no order. */
  readonly rows: readonly Uint8Array<ArrayBuffer>[];
}

/** The records of one slice take about a millisecond of the event loop. */
const RECORDS_MAX = 128;

/** Cuts a walk over a tree into slices. */
export class StateSlices {
  readonly #capture: LiveCapture;
  readonly #aclIds = new Map<string, number>();
  #hasMore = true;

  constructor(capture: LiveCapture) {
    this.#capture = capture;
  }

  /** Undefined after the last one. */
  next(): StateSlice | undefined {
    if (!this.#hasMore) return undefined;
    const acls: [number, string][] = [];
    const sessions: StateSession[] = [];
    const rows: Uint8Array<ArrayBuffer>[] = [];
    this.#hasMore = this.#capture.next(RECORDS_MAX, {
      session: ({ high, low, timeoutMs, passwordHash }) =>
        void sessions.push({ idHigh: high, idLow: low, timeoutMs, passwordHash }),
      node: (node) => void rows.push(this.#row(node, acls)),
    });
    return { acls, sessions, rows };
  }

  #row(node: Readonly<LiveNode>, acls: [number, string][]): Uint8Array<ArrayBuffer> {
    return encodeRow(node, this.#aclId(node.acl, acls));
  }

  #aclId(acl: Acl, acls: [number, string][]): number {
    const content = contentOfAcl(acl);
    const known = this.#aclIds.get(content);
    if (known !== undefined) return known;
    const id = this.#aclIds.size + 1;
    this.#aclIds.set(content, id);
    acls.push([id, content]);
    return id;
  }
}
