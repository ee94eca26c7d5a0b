/**
 * What the nodes of a line are called. Everybody's stand in one line and are waited for, but not everybody sees ours: Curator takes kazoo's default
 * locks for nobody, and they Curator's. So a line that others share is written as they write it.
 */
import type { SessionId } from "@zooid/client";

/**
 * - `curator`: `_c_<uuid>-lock-<number>`, which Curator, Go's client and the Java recipes of ZooKeeper itself wait for
 * - `kazoo`: `<uuid>__lock__<number>`, which kazoo waits for
 * - `zookeeper-recipes`: `x-<session>-<uuid>-<number>`, as the Java recipes of ZooKeeper itself, which wait for it; Curator does not. The UUID is
 *   ours, so that a node whose answer was lost is found again
 */
export type LockDialect = "curator" | "kazoo" | "zookeeper-recipes";

/** How a node's name is made: `protect` is what a client's create takes, the marker stands between that and the number. */
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

/** Of readers and writers. */
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
