import {
  type Acl,
  laterOf,
  OpCode,
  type PastChange,
  type PastChanges,
  type PastPlace,
  StatOffset,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import type { ShownPastChanges } from "../tools.ts";
import { mightRead, PastsBelow } from "./past-rights.ts";

type Parts = Pick<GroundParts, "auth" | "tree">;

/** Nodes whose access lists one question to the history asks for. */
export const ACLS_PER_QUESTION = 32;

/** What the page answers. */
interface Question {
  readonly path: Uint8Array;
  readonly after: Zxid;
}

export type PageStep =
  | { readonly kind: "shown"; readonly page: ShownPastChanges }
  /** The access lists of these nodes are needed first. */
  | { readonly kind: "asks"; readonly nodes: readonly PastPlace[] };

/**
 * A page of changes, as its client may see it. A change is left out where the client may not ask
 * about its node, or one above, now, and its data are where the client might not have read the node
 * then.
 *
 * The access list of then is in the page, is that of the node as it is where that was never
 * changed, or is asked for, of some nodes at a time. A page whose lists are not all known ends
 * before the first change that lacks its list, but has one transaction at least.
 */
export class PastPage {
  readonly #page: PastChanges;
  readonly #question: Question;
  /** By path: the list before the first change of the page. */
  readonly #lists = new Map<string, Acl | undefined>();

  constructor(page: PastChanges, question: Question) {
    this.#page = page;
    this.#question = question;
  }

  /** Takes the answer about the first of the nodes that were asked for. */
  add(nodes: readonly PastPlace[], acls: readonly (Acl | undefined)[]): void {
    for (const [place, acl] of acls.entries()) {
      const path = nodes[place]?.path;
      if (path !== undefined) this.#lists.set(keyOf(path), acl);
    }
  }

  step(parts: Parts, connection: Connection): PageStep {
    const changes: ShownPastChanges["changes"][number][] = [];
    const open = new PastsBelow(parts, connection, this.#question.path);
    const missing = new Map<string, PastPlace>();
    let lacking: Zxid | undefined;
    for (const { acl: known, ...change } of this.#page.changes) {
      const { path } = change;
      const key = keyOf(path);
      if (!open.has(path)) continue;
      const acl = known ?? this.#lists.get(key) ?? unchangedAcl(parts, change);
      if (acl === undefined && change.op === OpCode.SET_DATA && !this.#lists.has(key)) {
        lacking ??= change.zxid;
        if (missing.size < ACLS_PER_QUESTION && !missing.has(key))
          missing.set(key, { path, zxid: (change.zxid - 1) as Zxid });
        continue;
      }
      const isReadable = mightRead(parts, connection, acl);
      changes.push({ ...change, isReadable, data: isReadable ? change.data : null });
    }
    if (lacking === undefined) return { kind: "shown", page: { ...this.#page, changes } };
    const reached = (lacking - 1) as Zxid;
    const isBegun = this.#lists.size > 0 && this.#page.changes.some(({ zxid }) => zxid <= reached);
    if (!isBegun) return { kind: "asks", nodes: [...missing.values()] };
    return { kind: "shown", page: this.#endedAt(reached, changes) };
  }

  #endedAt(reached: Zxid, changes: ShownPastChanges["changes"]): ShownPastChanges {
    return {
      begins: this.#page.begins,
      changes: changes.filter(({ zxid }) => zxid <= reached),
      gaps: this.#page.gaps.filter(({ after }) => after < reached),
      reached: laterOf(reached, this.#question.after),
      isLast: false,
    };
  }
}

/** The list of a node that is there since before a change, and never got another one. */
function unchangedAcl({ tree }: Parts, { path, zxid }: Pick<PastChange, "path" | "zxid">): Acl | undefined {
  const node = tree.find(path, 0, path.length);
  if (node === 0) return undefined;
  const { acl, statStart, statView } = tree.view(node);
  const czxid = Number(statView.getBigInt64(statStart + StatOffset.czxid));
  return czxid <= zxid && statView.getInt32(statStart + StatOffset.aversion) === 0 ? acl : undefined;
}

function keyOf(path: Uint8Array): string {
  return Buffer.from(path.buffer, path.byteOffset, path.length).toString("latin1");
}
