import type { AccessRules, Acl, ByteSlice, Identity, Zxid } from "@zooid/model";
import type { Excess } from "./excess.ts";

/**
 * The inputs of a request's checks, beside the tree. One structure that the caller fills again for
 * each request.
 */
export interface PrepareContext {
  sessionHigh: number;
  sessionLow: number;
  /**
   * The session is one that no transaction created, so none would remove what it owns: it may have
   * no ephemerals.
   */
  isLocal?: boolean;
  identities: readonly Identity[];
  readonly rules: AccessRules;
  /** The zxid and the time of the transaction that the request becomes. */
  zxid: Zxid;
  timeMs: number;
  /**
   * The list to store for the list that a client sent (null: undefined), or undefined to refuse it
   * as invalid.
   */
  readonly fixAcl: (acl: Acl | undefined, identities: readonly Identity[]) => Acl | undefined;
  /** Whether TTL nodes may be made. */
  readonly isTtlEnabled: boolean;
  /** Whether hard quotas refuse writes, and soft ones are reported. */
  isQuotaEnforced: boolean;
  /**
   * Maximum memory that all clients together make the tree hold, see {@link DataTree.heldBytes}.
   */
  heldBytesMax: number;
  /**
   * Maximum bytes of the names of one node's children in a listing, each with its length; absent:
   * no limit.
   */
  childrenBytesMax?: number;
  /** Whether the client may add `growthBytes` to a tree that holds `heldBytes`; absent: it may. */
  readonly mayAdd?: (growthBytes: number, heldBytes: number) => boolean;
  /**
   * A write would go beyond a quota, or beyond what the tree may hold. `refused`: its path, for a
   * hard quota.
   */
  readonly overQuota: (excess: Excess, refused?: Readonly<ByteSlice>) => void;
}

/** Maximum part of a session's end in one transaction; one ephemeral at least. */
export interface CloseLimits {
  readonly opCountMax: number;
  /** Bytes of the ephemerals' paths. */
  readonly pathBytesMax: number;
}
