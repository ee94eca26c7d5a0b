import { type Acl, CreateMode as Flags, isSequentialMode, OpCode } from "@zooid/model";
import type { CreateBody } from "../calls/operation.ts";

/** What a node holds; text is taken as UTF-8. Null is kept apart from empty by servers. */
export type Payload = Uint8Array | string | null;

/**
 * An access list for all nodes, or a function that gives one for each. It gets the node's path as the server names it, without a sequence
 * number.
 */
export type AclSource = Acl | ((path: string) => Acl);

/** How long a node lives, and whether its name gets a number. Default `persistent`. */
export type CreateMode =
  | {
      readonly mode?:
        | "persistent"
        | "persistent-sequential"
        | "ephemeral"
        | "ephemeral-sequential"
        /** Goes when its last child has gone. */
        | "container";
      readonly ttlMs?: never;
    }
  | {
      /** Goes when it has had no children and was not written for `ttlMs` milliseconds. */
      readonly mode: "persistent-with-ttl" | "persistent-sequential-with-ttl";
      readonly ttlMs: number;
    };

const FLAGS = {
  persistent: Flags.PERSISTENT,
  "persistent-sequential": Flags.PERSISTENT_SEQUENTIAL,
  ephemeral: Flags.EPHEMERAL,
  "ephemeral-sequential": Flags.EPHEMERAL_SEQUENTIAL,
  container: Flags.CONTAINER,
  "persistent-with-ttl": Flags.PERSISTENT_WITH_TTL,
  "persistent-sequential-with-ttl": Flags.PERSISTENT_SEQUENTIAL_WITH_TTL,
} as const;

/** The request that a create becomes. */
export function createBody(
  data: Payload | undefined,
  { acl, mode = "persistent", ttlMs }: { readonly acl: Acl } & CreateMode,
): { readonly code: number; readonly body: CreateBody } {
  const flags = FLAGS[mode];
  const code =
    mode === "container" ? OpCode.CREATE_CONTAINER : ttlMs === undefined ? OpCode.CREATE2 : OpCode.CREATE_TTL;
  return {
    code,
    body: { data: payloadBytes(data ?? (data === null ? null : NOTHING)), acl, flags, ttlMs },
  };
}

/** Whether the name gets a number. */
export function isSequential({ mode = "persistent" }: CreateMode): boolean {
  return isSequentialMode(FLAGS[mode]);
}

const NOTHING = new Uint8Array(0);

export function payloadBytes(data: Payload): Uint8Array | null {
  return typeof data === "string" ? Buffer.from(data) : data;
}
