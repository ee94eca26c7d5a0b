import { setTimeout as delay } from "node:timers/promises";
import { OPEN_ACL } from "@zooid/model";
import type { ApacheSnapshotParts } from "@zooid/wire/apache";
import { type AdminPlace, appliedZxid, readSnapshot } from "./admin-snapshot.ts";
import { aclText, type NodeState, type Observed, storedState } from "./node-state.ts";
import type { NodeVisitor, OtherReading, OtherSide } from "./sides.ts";

/** Time that a lagging follower gets to come to a transaction. */
const REACH_MS = 10_000;
const REACH_POLL_MS = 100;
/** The key of the open list, which no snapshot has among its lists. */
const OPEN_KEY = -1n;

/** A server whose client port is closed: each reading is its whole state, at one zxid. */
export class FollowerSide implements OtherSide {
  readonly isAtOneZxid = true;
  readonly name: string;
  readonly #place: AdminPlace;
  readonly #keptBytesMax: number;

  /** @param keptBytesMax bytes of data that are kept to be shown */
  constructor(place: AdminPlace, keptBytesMax: number) {
    this.name = place.base.origin;
    this.#place = place;
    this.#keptBytesMax = keptBytesMax;
  }

  readAll(visitor: NodeVisitor): Promise<number> {
    return readSnapshot(this.#place, new StoredNodes((path, state) => visitor.node(path, state())));
  }

  async readSome(paths: ReadonlySet<string>): Promise<OtherReading> {
    const nodes = new Map<string, Observed>();
    let keptBytes = 0;
    const parts = new StoredNodes((path, state, data) => {
      if (!paths.has(path)) return;
      keptBytes += data?.length ?? 0;
      const found = state();
      // The bytes are lent for the call.
      const isKept = data !== null && keptBytes <= this.#keptBytesMax;
      nodes.set(path, isKept ? { ...found, data: { ...found.data, bytes: Uint8Array.from(data) } } : found);
    });
    return { zxid: await readSnapshot(this.#place, parts), nodes };
  }

  async reach(zxid: number): Promise<void> {
    const startMs = performance.now();
    while (performance.now() - startMs < REACH_MS) {
      const applied = await appliedZxid(this.#place);
      if (applied === undefined || applied >= zxid) return;
      await delay(REACH_POLL_MS, undefined, { signal: this.#place.signal });
    }
  }
}

type TakeNode = (path: string, state: () => NodeState, data: Buffer | null) => void;

/** The nodes of a snapshot, with their access lists looked up. */
class StoredNodes implements ApacheSnapshotParts {
  readonly #lists = new Map<bigint, string>([[OPEN_KEY, aclText(OPEN_ACL)]]);
  readonly #take: TakeNode;

  constructor(take: TakeNode) {
    this.#take = take;
  }

  acl: ApacheSnapshotParts["acl"] = (key, acl) => {
    this.#lists.set(key, aclText(acl));
  };

  node: ApacheSnapshotParts["node"] = (path, data, aclKey, stat) => {
    const text = path.length === 0 ? "/" : path.toString();
    // A list that is missing is no list of any server's.
    this.#take(text, () => storedState(data, this.#lists.get(aclKey) ?? "", stat), data);
  };

  rest(): void {
    // Nothing is lent beyond a call.
  }
}
