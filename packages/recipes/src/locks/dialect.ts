/**
 * Naming of the nodes in a lock's queue. Our locks wait for nodes of all formats, but other clients
 * do not: Curator ignores kazoo's default locks, and the other way round. So nodes of a shared
 * queue are named in the other client's format.
 */

import type { SessionId } from "@zooid/client";
import { type Rule, wordRule } from "@zooid/model";

/**
 * - `curator`: `_c_<uuid>-lock-<number>`, for Curator, Go's client and the Java recipes of
 *   ZooKeeper itself
 * - `kazoo`: `<uuid>__lock__<number>`, for kazoo
 * - `zookeeper-recipes`: `x-<session>-<uuid>-<number>`, as the Java recipes of ZooKeeper itself,
 *   which wait for it; Curator does not. The UUID is added by us, so that a node whose answer was
 *   lost is found
 */
export type LockDialect = "curator" | "kazoo" | "zookeeper-recipes";

/** The rule for {@link LockDialect}. */
export const DIALECT: Rule = wordRule("curator", "kazoo", "zookeeper-recipes");

/**
 * The parts of a node's name: `protect` as for a client's create, then the marker, then the number.
 */
export interface Naming {
  readonly protect: true | ((guid: string) => string);
  readonly marker: string;
}

export function lockNaming(dialect: LockDialect, session: () => SessionId): Naming {
  switch (dialect) {
    case "curator":
      return { protect: true, marker: "lock-" };
    case "kazoo":
      return { protect: withoutHyphens, marker: "__lock__" };
    case "zookeeper-recipes":
      return { protect: (guid) => `x-${BigInt.asIntN(64, session())}-${withoutHyphens(guid)}`, marker: "-" };
  }
}

/** The formats of readers and writers. */
export type ReadWriteDialect = Exclude<LockDialect, "zookeeper-recipes">;

export const READ_WRITE_NAMING: Readonly<Record<ReadWriteDialect, { readonly read: Naming; readonly write: Naming }>> =
  {
    curator: { read: { protect: true, marker: "__READ__" }, write: { protect: true, marker: "__WRIT__" } },
    kazoo: {
      read: { protect: withoutHyphens, marker: "__rlock__" },
      write: { protect: withoutHyphens, marker: "__lock__" },
    },
  };

function withoutHyphens(guid: string): string {
  return guid.replaceAll("-", "");
}
