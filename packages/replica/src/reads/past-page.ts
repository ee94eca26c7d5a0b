import { shownPastData } from "@zooid/data-tree";
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
/** Such questions for one page: further lists of then count as unknown. */
export const ACL_QUESTIONS_MAX = 32;

/** The question that the page answers. */
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
 * then. A client needs ADMIN on the node to see its requester.
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
  readonly #shown: ShownPastChanges["changes"][number][] = [];
  /** The first change that is not decided on. */
  #next = 0;
  #asked = 0;

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

  /** Decides on further changes, each of which it looks at once. */
  step(parts: Parts, connection: Connection): PageStep {
    const open = new PastsBelow(parts, connection, this.#question.path);
    const { changes } = this.#page;
    for (let change = changes[this.#next]; change !== undefined; change = changes[this.#next]) {
      if (open.has(change.path)) {
        const acl = this.#aclOf(parts, change);
        if (acl === "not-read") return this.#withoutList(parts, open, change.zxid);
        const isReadable = mightRead(parts, connection, acl);
        const { acl: _, ...shown } = change;
        const who = change.who !== "" && open.administers(change.path) ? change.who : "";
        this.#shown.push({
          ...shown,
          isReadable,
          who,
          data: isReadable ? shownPastData(change.path, change.data) : null,
        });
      }
      this.#next++;
    }
    return { kind: "shown", page: { ...this.#page, changes: this.#shown } };
  }

  /** Undefined where it is unknown, or of no use. */
  #aclOf(parts: Parts, change: PastChange): Acl | undefined | "not-read" {
    const key = keyOf(change.path);
    const acl = change.acl ?? this.#lists.get(key) ?? unchangedAcl(parts, change);
    if (acl !== undefined || change.op !== OpCode.SET_DATA || this.#lists.has(key)) return acl;
    return this.#asked < ACL_QUESTIONS_MAX ? "not-read" : undefined;
  }

  /** The page ends here if lists were read for it, else lists are asked for. */
  #withoutList(parts: Parts, open: PastsBelow, zxid: Zxid): PageStep {
    const { changes, gaps } = this.#page;
    const reached = (zxid - 1) as Zxid;
    if (this.#lists.size > 0 && (changes[0]?.zxid ?? zxid) < zxid) {
      const page = {
        begins: this.#page.begins,
        changes: this.#shown.filter((shown) => shown.zxid <= reached),
        gaps: gaps.filter(({ after }) => after < reached),
        reached: laterOf(reached, this.#question.after),
        isLast: false,
      };
      return { kind: "shown", page };
    }
    const nodes = new Map<string, PastPlace>();
    for (let at = this.#next; at < changes.length && nodes.size < ACLS_PER_QUESTION; at++) {
      const change = changes[at];
      if (change === undefined || nodes.has(keyOf(change.path))) continue;
      if (!open.has(change.path) || this.#aclOf(parts, change) !== "not-read") continue;
      nodes.set(keyOf(change.path), { path: change.path, zxid: (change.zxid - 1) as Zxid });
    }
    this.#asked++;
    return { kind: "asks", nodes: [...nodes.values()] };
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
