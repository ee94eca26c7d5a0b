import { formatZxid, WatchEventType, type Zxid } from "@zooid/model";
import { Violation } from "../invariants/violation.ts";
import type { NodeVersions } from "./node-versions.ts";
import { isBelow } from "./tree.ts";
import type { ModelWatches, WatchKind, WatchLists } from "./watches.ts";

type OneShot = "data" | "exist" | "child";

const { NODE_CREATED, NODE_DELETED, NODE_DATA_CHANGED, NODE_CHILDREN_CHANGED } = WatchEventType;
const TYPES: Readonly<Record<OneShot, readonly WatchEventType[]>> = {
  data: [NODE_DELETED, NODE_DATA_CHANGED],
  exist: [NODE_CREATED],
  child: [NODE_DELETED, NODE_CHILDREN_CHANGED],
};

/**
 * A client's watches while its new server restores them, which may take several turns with
 * transactions between them. So each watch either gets the event that it missed, or is armed, at
 * a zxid that is not known; what must hold is known when the request is answered (C8).
 */
export class RestoringWatches {
  readonly #lists: WatchLists;
  /** One-shot watches that fired meanwhile. */
  readonly #fired = new Set<string>();

  constructor(lists: WatchLists) {
    this.#lists = lists;
  }

  /**
   * An event that is not due otherwise.
   *
   * @param zxid below 0 for a change that was missed
   * @returns whether a watch that is being restored may fire it
   */
  fires(zxid: number, type: WatchEventType, path: string): boolean {
    const kinds = oneShots.filter((kind) => this.#lists[kind].includes(path) && TYPES[kind].includes(type));
    if (zxid >= 0) {
      // One event for all watches of a connection.
      for (const kind of kinds) this.#fired.add(`${kind} ${path}`);
      return kinds.length > 0 || this.#hasPersistent(type, path);
    }
    const kind = kinds.find((each) => !this.#fired.has(`missed ${each} ${path}`));
    if (kind === undefined) return false;
    this.#fired.add(`missed ${kind} ${path}`).add(`${kind} ${path}`);
    return true;
  }

  /** The request is answered: watches that have not fired are armed. */
  answered(name: string, past: NodeVersions, zxid: number, watches: ModelWatches): void {
    for (const kind of oneShots) {
      for (const path of this.#lists[kind]) {
        const hasFired = this.#fired.has(`${kind} ${path}`);
        const hasMissed = this.#hasMissed(kind, path, past, zxid);
        // A node may have been created and deleted again.
        if (hasMissed !== hasFired && (hasMissed || kind !== "exist")) {
          const where = `${name}'s ${kind} watch of ${path}, restored at ${formatZxid(zxid as Zxid)},`;
          throw new Violation("C8", `${where} ${hasFired ? "has fired and missed nothing" : "missed a change"}`);
        }
        if (!hasFired) watches.addKind(kind === "child" ? "child" : "data", path);
      }
    }
    for (const kind of ["persistent", "recursive"] as const) {
      for (const path of this.#lists[kind]) watches.addKind(kind, path);
    }
  }

  /**
   * The connection ended before the answer. @returns the watches that the client still waits for
   */
  unanswered(): readonly (readonly [WatchKind, string])[] {
    const { persistent, recursive } = this.#lists;
    const kept = oneShots.flatMap((kind) =>
      this.#lists[kind]
        .filter((path) => !this.#fired.has(`${kind} ${path}`))
        .map((path) => [kind === "child" ? "child" : "data", path] as const),
    );
    return [
      ...kept,
      ...persistent.map((path) => ["persistent", path] as const),
      ...recursive.map((path) => ["recursive", path] as const),
    ];
  }

  #hasPersistent(type: WatchEventType, path: string): boolean {
    const { persistent, recursive } = this.#lists;
    if (persistent.includes(path)) return true;
    return type !== NODE_CHILDREN_CHANGED && recursive.some((each) => each === path || isBelow(path, each));
  }

  #hasMissed(kind: OneShot, path: string, past: NodeVersions, zxid: number): boolean {
    const node = past.nodeAt(path, zxid);
    if (kind === "exist") return node !== undefined;
    if (node === undefined) return true;
    return (kind === "child" ? node.stat.pzxid : node.stat.mzxid) > this.#lists.relativeZxid;
  }
}

const oneShots = ["data", "exist", "child"] as const;
