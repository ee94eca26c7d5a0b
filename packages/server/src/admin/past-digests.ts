import type { Zxid } from "@zooid/model";
import type { AdminView } from "./admin-view.ts";

/**
 * Digests of the tree at round zxids, oldest first. They are equal on all servers, so a difference
 * shows when it began.
 */
export function digestHistory({ driver }: AdminView): readonly { readonly zxid: Zxid; readonly digest: bigint }[] {
  return driver.replica.digests.kept.map(({ zxid, digestHigh, digestLow }) => ({
    zxid,
    digest: (BigInt(digestHigh) << 32n) | BigInt(digestLow >>> 0),
  }));
}
