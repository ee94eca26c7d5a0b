import type { Zxid } from "@zooid/model";
import type { AdminView } from "./admin-view.ts";

/** What the tree's digest was at round zxids, oldest first: equal on every server, so a difference shows when it began. */
export function digestHistory({ driver }: AdminView): readonly { readonly zxid: Zxid; readonly digest: bigint }[] {
  return driver.replica.digests.kept.map(({ zxid, digestHigh, digestLow }) => ({
    zxid,
    digest: (BigInt(digestHigh) << 32n) | BigInt(digestLow >>> 0),
  }));
}
