import type { Client, Payload } from "@zooid/client";
import { baseName, joinPath } from "@zooid/model";
import { concat, defer, filter, map, type Observable, of } from "rxjs";
import { TreeCache } from "../caches/tree-cache.ts";
import { defaultData } from "../nodes/default-data.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { PersistentNode } from "./persistent-node.ts";

/** What is known of a group: what each member says of itself, by its id. */
export type Members = ReadonlyMap<string, Uint8Array | null>;

/** One of a group that know of each other: Curator's GroupMember, on the same znodes, `<path>/<id>`. */
export class GroupMember implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #node: PersistentNode;
  readonly #cache: TreeCache;
  #data: Payload;

  constructor(
    zk: Client,
    path: string,
    { id, data = defaultData(zk) }: { readonly id: string; readonly data?: Payload },
  ) {
    this.path = path;
    this.id = id;
    this.#data = data;
    this.#node = new PersistentNode(zk, { path: joinPath(path, id), data });
    this.#cache = new TreeCache(zk, path);
  }

  /** Who is there, now and whenever somebody comes or goes or has something else to say. This one always is. */
  get members$(): Observable<Members> {
    const changes$ = this.#cache.changes$.pipe(filter((change) => this.#isMember(pathOf(change))));
    return defer(() => concat(of(this.members()), changes$.pipe(map(() => this.members()))));
  }

  /** Who is there at present, as far as is known. */
  members(): Members {
    const members = new Map<string, Uint8Array | null>([[this.id, payloadBytes(this.#data)]]);
    for (const { path, data } of this.#cache.snapshot().values()) {
      if (this.#isMember(path)) members.set(baseName(path), data);
    }
    return members;
  }

  /** Waits until it is a member that others can see, and sees them. */
  async ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    await Promise.all([this.#node.ready(options), this.#cache.ready(options)]);
  }

  /** Says something else of itself. */
  setData(data: Payload): void {
    this.#data = data;
    this.#node.setData(data);
  }

  /** Leaves the group. Twice is harmless. */
  async close(): Promise<void> {
    this.#cache.close();
    await this.#node.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #isMember(path: string): boolean {
    return path.startsWith(`${this.path}/`) && !path.includes("/", this.path.length + 1);
  }
}

function pathOf(change: {
  readonly kind: string;
  readonly node?: { path: string };
  readonly before?: { path: string };
}): string {
  return (change.node ?? change.before)?.path ?? "";
}
