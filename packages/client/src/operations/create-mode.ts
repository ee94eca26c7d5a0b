import { type Acl, ArgumentError, CreateMode as Flags, isSequentialMode, misfit, OpCode, rules } from "@zooid/model";
import type { AclInput } from "../auth/acl-checks.ts";
import type { CreateBody } from "../calls/operation.ts";

/** Data of a node; a string is encoded as UTF-8. Servers distinguish null from empty. */
export type Payload = Uint8Array | string | null;

/**
 * An access list for all nodes, or a function that returns one for each. It gets the node's path as
 * the server names it, without a sequence number.
 */
export type AclSource = AclInput | ((path: string) => AclInput);

/** The lifetime of a node, and whether its name gets a sequence number. Default `persistent`. */
export type CreateMode =
  | {
      readonly mode?:
        | "persistent"
        | "persistent-sequential"
        | "ephemeral"
        | "ephemeral-sequential"
        /** Removed by the server after its last child was deleted. */
        | "container";
      readonly ttlMs?: never;
    }
  | {
      /**
       * Removed by the server when it has had no children and no writes for `ttlMs` milliseconds.
       */
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

/** The request of a create. */
export function createBody(
  data: Payload | undefined,
  { acl, mode = "persistent", ttlMs }: { readonly acl: Acl } & CreateMode,
): { readonly code: number; readonly body: CreateBody } {
  if (mode.endsWith("-ttl") !== (ttlMs !== undefined)) {
    const problem =
      ttlMs === undefined ? `mode ${mode} needs ttlMs` : `ttlMs needs mode persistent-with-ttl, found ${mode}`;
    throw new ArgumentError("create", [problem]);
  }
  const flags = FLAGS[mode];
  const code =
    mode === "container" ? OpCode.CREATE_CONTAINER : ttlMs === undefined ? OpCode.CREATE2 : OpCode.CREATE_TTL;
  return {
    code,
    body: { data: payloadBytes(data ?? (data === null ? null : NOTHING), "create"), acl, flags, ttlMs },
  };
}

/** Whether the name gets a sequence number. */
export function isSequential({ mode = "persistent" }: CreateMode): boolean {
  return isSequentialMode(FLAGS[mode]);
}

const NOTHING = new Uint8Array(0);

/**
 * @param op for the error
 * @throws ArgumentError for anything else: values need a codec
 */
export function payloadBytes(data: Payload, op = "data"): Uint8Array | null {
  if (typeof data === "string") return Buffer.from(data);
  if (rules.payload.accepts(data)) return data;
  throw new ArgumentError(op, [`${misfit("data", data, rules.payload)}; encode it, as with json().encode(value)`]);
}
