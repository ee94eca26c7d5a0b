import type { Client, Zxid } from "@zooid/client";
import { baseName } from "@zooid/model";
import { concatMap, type Observable } from "rxjs";
import { type CacheChange, type CachedNode, TreeCache } from "./tree-cache.ts";

export interface ClusterMember {
  readonly id: string;
  /** What it says of itself. */
  readonly data: Uint8Array | null;
  /** Of its joining: a member that has left and joined again has a greater one. */
  readonly czxid: Zxid;
}

export type ClusterEvent =
  | ({ readonly type: "join" } & ClusterMember)
  | ({ readonly type: "update" } & ClusterMember)
  /** With what it last said. */
  | ({ readonly type: "leave" } & ClusterMember);

/** Who joins and leaves a group, seen from outside: the nodes below a path, such as {@link GroupMember} makes. */
export class ClusterMonitor implements Disposable {
  readonly path: string;
  readonly #cache: TreeCache;

  constructor(zk: Client, path: string) {
    this.path = path;
    this.#cache = new TreeCache(zk, path);
  }

  /** Those who are there join first; then whatever happens. */
  get events$(): Observable<ClusterEvent> {
    return this.#cache.changes$.pipe(concatMap((change) => this.#eventsOf(change)));
  }

  /** Waits until all who were there at the beginning are known. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#cache.ready(options);
  }

  /** Who is there, by id, as far as is known. */
  members(): ReadonlyMap<string, ClusterMember> {
    const members = [...this.#cache.snapshot().values()].filter(({ path }) => this.#isMember(path)).map(memberOf);
    return new Map(members.map((member) => [member.id, member]));
  }

  /** Looks no more. Twice is harmless. */
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
    if (now.czxid === before.czxid) return [{ type: "update", ...now }];
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
