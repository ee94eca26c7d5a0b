import type { Client, Zxid } from "@zooid/client";
import { baseName } from "@zooid/model";
import { concatMap, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { isSameBytes } from "../nodes/distinct.ts";
import { type CacheChange, type CachedNode, TreeCache } from "./tree-cache.ts";

export interface ClusterMember {
  readonly id: string;
  /** The member's data. */
  readonly data: Uint8Array | null;
  /** The zxid of its joining: a member that has left and joined again has a greater one. */
  readonly czxid: Zxid;
}

export type ClusterEvent =
  | ({ readonly type: "join" } & ClusterMember)
  /** With its new data, which differ from those before. */
  | ({ readonly type: "update" } & ClusterMember)
  /** With its last data. */
  | ({ readonly type: "leave" } & ClusterMember);

/**
 * Observes the members of a group from outside: the children of a path, such as {@link GroupMember}
 * creates.
 */
export class ClusterMonitor implements Disposable {
  readonly path: string;
  readonly #cache: TreeCache;

  constructor(zk: Client, path: string) {
    checkArguments("ClusterMonitor", zk, path);
    this.path = path;
    this.#cache = new TreeCache(zk, path);
  }

  /** Existing members join first; then further changes. */
  get events$(): Observable<ClusterEvent> {
    return this.#cache.changes$.pipe(concatMap((change) => this.#eventsOf(change)));
  }

  /** Waits until all initial members are known. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#cache.ready(options);
  }

  /**
   * The known members, by id. @throws RECIPE_CLOSED, or the permanent error that has ended the copy
   */
  members(): ReadonlyMap<string, ClusterMember> {
    const members = [...this.#cache.snapshot().values()].filter(({ path }) => this.#isMember(path)).map(memberOf);
    return new Map(members.map((member) => [member.id, member]));
  }

  /** Stops observing. May be repeated. */
  close(): void {
    this.#cache.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #eventsOf(change: CacheChange): readonly ClusterEvent[] {
    const { path } = change.kind === "deleted" ? change.before : change.node;
    if (!this.#isMember(path)) return [];
    if (change.kind === "created") return [{ type: "join", ...memberOf(change.node) }];
    const before = memberOf(change.before);
    if (change.kind === "deleted") return [{ type: "leave", ...before }];
    const now = memberOf(change.node);
    if (now.czxid === before.czxid) return isSameBytes(now.data, before.data) ? [] : [{ type: "update", ...now }];
    return [
      { type: "leave", ...before },
      { type: "join", ...now },
    ];
  }

  #isMember(path: string): boolean {
    return path.lastIndexOf("/") === this.path.length;
  }
}

function memberOf({ path, data, stat }: CachedNode): ClusterMember {
  return { id: baseName(path), data, czxid: stat.czxid };
}
