import type { SessionId, Stat } from "@zooid/model";
import type { AclInput } from "../auth/acl-checks.ts";
import type { CallOptions } from "../calls/call.ts";
import type { Children, Created, NodeData } from "../calls/operation.ts";
import type { CreateMode, Payload } from "./create-mode.ts";
import type { DeleteOptions, ReadOptions, VersionOptions } from "./node-options.ts";

/** A create of one request. */
export type SingleCreateOptions = CallOptions & { readonly acl?: AclInput } & CreateMode;
/** A delete of one request. */
export type SingleDeleteOptions = VersionOptions & { readonly missingOk?: boolean };

/**
 * The requests that compound operations are made of: ancestors, protected and idempotent writes,
 * whole trees. Each method but the last is one request, and none of them uses a compound operation.
 */
export interface NodeOperations {
  /** The path under which all paths lie; `/` for none. */
  readonly root: string;
  /** 0n while there is no session. */
  readonly sessionId: SessionId;
  create(path: string, data: Payload | undefined, options: SingleCreateOptions): Promise<Created>;
  set(path: string, data: Payload, options: VersionOptions): Promise<Stat>;
  delete(path: string, options: SingleDeleteOptions): Promise<void>;
  getOrNull(path: string, options: ReadOptions): Promise<NodeData | null>;
  exists(path: string, options: CallOptions): Promise<Stat | null>;
  children(path: string, options: ReadOptions): Promise<Children>;
  /** Continues until a server has answered: see {@link DeleteOptions.guaranteed}. */
  deleteGuaranteed(path: string, options: DeleteOptions): Promise<void>;
}
