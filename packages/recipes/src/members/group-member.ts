import type { Client, Payload } from "@zooid/client";
import { baseName, joinPath, rules, type Shape, shape } from "@zooid/model";
import { concat, defer, distinctUntilChanged, EMPTY, filter, map, type Observable, of } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { TreeCache } from "../caches/tree-cache.ts";
import type { WaitOptions } from "../leases/deadline.ts";
import { defaultData } from "../nodes/default-data.ts";
import { isSameBytes } from "../nodes/distinct.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { PersistentNode, type PersistentNodeState, type WhenTaken, whenTakenRule } from "./persistent-node.ts";

/** The known members of a group: the data of each, by its id. */
export type Members = ReadonlyMap<string, Uint8Array | null>;

export interface GroupMemberOptions {
  /** Unique among the members. */
  readonly id: string;
  /** Default: the client's `defaultData`, or this machine's address. */
  readonly data?: Payload;
  /** The act where another live session is the member of this id. Default `wait`. */
  readonly whenTaken?: WhenTaken;
}

const SHAPE: Shape<GroupMemberOptions> = shape<GroupMemberOptions>({
  id: rules.name,
  data: rules.payload,
  whenTaken: whenTakenRule,
});

/**
 * A member of a group that observes its members: Curator's GroupMember, on the same znodes,
 * `<path>/<id>`.
 */
export class GroupMember implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #node: PersistentNode;
  readonly #cache: TreeCache;
  #data: Payload;
  #isClosed = false;

  constructor(zk: Client, path: string, options: GroupMemberOptions) {
    checkArguments("GroupMember", zk, path, options, SHAPE, ["id"]);
    const { id, data = defaultData(zk), whenTaken = "wait" } = options;
    this.path = path;
    this.id = id;
    this.#data = data;
    this.#node = new PersistentNode(zk, { path: joinPath(path, id), data, whenTaken });
    this.#cache = new TreeCache(zk, path);
  }

  /** The members, now and after each change. This one is always included. */
  get members$(): Observable<Members> {
    const changes$ = this.#cache.changes$.pipe(filter((change) => this.#isMember(pathOf(change))));
    const members$ = concat(of(undefined), changes$).pipe(map(() => this.members()));
    return defer(() => (this.#isClosed ? EMPTY : members$)).pipe(distinctUntilChanged(isSame));
  }

  /** The known members. @throws RECIPE_CLOSED, or the permanent error that has ended the copy */
  members(): Members {
    const members = new Map<string, Uint8Array | null>([[this.id, payloadBytes(this.#data)]]);
    for (const { path, data } of this.#cache.snapshot().values()) {
      if (this.#isMember(path)) members.set(baseName(path), data);
    }
    return members;
  }

  /**
   * The state of this member's node, now and after each change. Fails with permanent errors, and
   * with NAME_TAKEN.
   */
  get state$(): Observable<PersistentNodeState> {
    return this.#node.state$;
  }

  /** Waits until other clients can see this member, and the initial members are known. */
  async ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    await Promise.all([this.#node.ready(options), this.#cache.ready(options)]);
  }

  /** Changes its data. @throws as {@link PersistentNode.setData} */
  setData(data: Payload): void {
    this.#node.setData(data);
    this.#data = data;
  }

  /** Leaves the group. May be repeated. */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#isClosed = true;
    this.#cache.close();
    await this.#node.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #isMember(path: string): boolean {
    return path.startsWith(`${this.path}/`) && !path.includes("/", this.path.length + 1);
  }
}

function isSame(a: Members, b: Members): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([id, data]) => {
    const other = b.get(id);
    return other !== undefined && isSameBytes(data, other);
  });
}

function pathOf(change: {
  readonly kind: string;
  readonly node?: { path: string };
  readonly before?: { path: string };
}): string {
  return (change.node ?? change.before)?.path ?? "";
}
