import type { Zxid } from "@zooid/model";
import type { AclInput } from "../auth/acl-checks.ts";
import type { CallOptions } from "../calls/call.ts";
import type { CreateMode } from "./create-mode.ts";

/**
 * The kind of ancestors that a create adds: persistent nodes, or containers, which go when their
 * last child has gone.
 */
export type ParentMode = "persistent" | "container";

export interface ReadOptions extends CallOptions {
  /**
   * First brings the server up to date with its leader, so that the read sees every write that was
   * answered before.
   */
  readonly sync?: boolean;
}

export interface HistoryOptions extends CallOptions {
  /** The transaction to begin behind. Default: where the history begins. */
  readonly after?: Zxid;
  /** Whether the changes of all nodes below count too. Default false. */
  readonly recursive?: boolean;
  /** Most changes in one request, 1 to 1000. Default 200. */
  readonly pageSize?: number;
}

export interface VersionOptions extends CallOptions {
  /** The version that the node must have, else BAD_VERSION. Default -1: any. */
  readonly version?: number;
}

export interface IdempotentOptions {
  /**
   * Repeats the request when the connection was lost before the answer came. A refusal that may be
   * caused by the first attempt is checked: a node with the same data at the version that the write
   * would have made counts as success. So does, after a lost answer, a node to delete that does not
   * exist.
   */
  readonly idempotent?: boolean;
}

export type CreateOptions = CallOptions & {
  /** Default: the client's. */
  readonly acl?: AclInput;
  /** Creates missing ancestors: without data, with the client's access list. Default: NO_NODE. */
  readonly parents?: ParentMode;
  /**
   * Puts `_c_`, a UUID and a hyphen before the name, as Curator does, so that a lost answer leaves
   * no doubt: the create is repeated if it did not happen, and undone if its caller gave up. An
   * ephemeral that an ended session left behind is not mistaken for this one.
   *
   * A function makes another prefix of a UUID, for the naming of other clients; no other node's
   * name may begin like that.
   */
  readonly protect?: boolean | ((guid: string) => string);
  /** As {@link IdempotentOptions}; not for sequential nodes, which need `protect`. */
  readonly idempotent?: boolean;
  /**
   * Whether a node that exists already counts as created: it is left as it is, and its Stat is
   * returned. Not for sequential and protected nodes, whose names are new.
   */
  readonly existsOk?: boolean;
} & CreateMode;

export type EnsureOptions = CallOptions & {
  /** The mode of the nodes that are created. Default `persistent`. */
  readonly mode?: ParentMode;
  /** The access list of the node, not of its ancestors. Default: the client's. */
  readonly acl?: AclInput;
};

export type SetOptions = VersionOptions & IdempotentOptions;

export type PutOptions = CallOptions & {
  /** The access list of a node that is created. Default: the client's. */
  readonly acl?: AclInput;
  /** Creates missing ancestors. Default: NO_NODE. */
  readonly parents?: ParentMode;
};

/** Options of `update` of typed nodes. */
export interface UpdateOptions extends CallOptions {
  /** For a node that is created: its access list and missing ancestors. */
  readonly create?: Pick<PutOptions, "acl" | "parents">;
}

export interface DeleteOptions extends VersionOptions, IdempotentOptions {
  /** Whether a node that does not exist counts as deleted. */
  readonly missingOk?: boolean;
  /**
   * Continues over lost connections, and also after the caller has given up, until a server has
   * answered: with `session` until the session ends, which removes an ephemeral anyway; else until
   * the client is closed. Give a `version` where another client may reuse the name.
   */
  readonly guaranteed?: boolean | "session";
}

export interface DeleteTreeOptions extends CallOptions {
  /** Maximum number of requests in flight. Default 200. */
  readonly batch?: number;
  /** Keeps the node itself and deletes its descendants. */
  readonly childrenOnly?: boolean;
  /**
   * In one transaction. PACKET_TOO_LARGE for a tree of more than some ten thousand nodes. Default
   * false.
   */
  readonly atomic?: boolean;
}

export interface ChildPagesOptions extends ReadOptions {
  /** The facts of each child beside its name: none, its Stat, or data and Stat. Default `stats`. */
  readonly detail?: "names" | "stats" | "data";
  /** Largest number of children on a page, at most 1000. Default 1000. */
  readonly pageSize?: number;
  /** Begins behind this name, which need not exist. Default: with the first child. */
  readonly after?: string;
}
