import { type ByteSlice, ErrorCode, sliceText } from "@zooid/model";
import { QUOTA_TEXT_BYTES_MAX } from "../quotas/quotas.ts";
import type { TreeState } from "../tree-state.ts";
import type { PrepareContext } from "./prepare-context.ts";

/**
 * How much a write may add: by quotas, and by the limits of the tree. A write above a limit is
 * reported to the context.
 */
export class WriteLimits {
  readonly #state: TreeState;

  constructor(state: TreeState) {
    this.#state = state;
  }

  isLongQuotaText(path: Readonly<ByteSlice>, length: number, { overQuota }: Readonly<PrepareContext>): boolean {
    if (length <= QUOTA_TEXT_BYTES_MAX || !this.#state.quotas.isQuotaText(path)) return false;
    overQuota({ kind: "quota-text", sizeBytes: length, bytesMax: QUOTA_TEXT_BYTES_MAX });
    return true;
  }

  judgeQuota(
    path: Readonly<ByteSlice>,
    nodes: number,
    bytes: number,
    { isQuotaEnforced, overQuota }: Readonly<PrepareContext>,
  ): ErrorCode {
    if (!isQuotaEnforced) return ErrorCode.OK;
    const excesses = this.#state.quotas.judge(path, nodes, bytes);
    if (excesses === undefined) return ErrorCode.MARSHALLING_ERROR;
    for (const excess of excesses) {
      overQuota(excess, excess.isHard ? path : undefined);
      if (excess.isHard) return ErrorCode.QUOTA_EXCEEDED;
    }
    return ErrorCode.OK;
  }

  /** A create that would make the listing of its parent too long. */
  reportListing(
    bytes: Uint8Array,
    start: number,
    parentEnd: number,
    listedBytes: number,
    { childrenBytesMax = 0, overQuota }: Readonly<PrepareContext>,
  ): void {
    const path = sliceText({ bytes, start, end: parentEnd });
    overQuota({ kind: "children-bytes", path, bytes: listedBytes, bytesMax: childrenBytesMax });
  }

  /**
   * As with quotas, proposed writes do not count; they have a limit of their own. A write that
   * shrinks the tree is always allowed.
   */
  hasRoom(growthBytes: number, { heldBytesMax, mayAdd, overQuota }: Readonly<PrepareContext>): boolean {
    if (growthBytes <= 0) return true;
    if (this.#state.store.isNearlyFull) {
      overQuota({ kind: "tree-pages" });
      return false;
    }
    const { heldBytes } = this.#state;
    if (heldBytes + growthBytes <= heldBytesMax) {
      if (mayAdd === undefined || mayAdd(growthBytes, heldBytes)) return true;
      overQuota({ kind: "client-share", heldBytes, heldBytesMax });
      return false;
    }
    overQuota({ kind: "tree-bytes", heldBytes, heldBytesMax });
    return false;
  }
}
